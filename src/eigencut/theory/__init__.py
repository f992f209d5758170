"""What the paper says: errors, bounds, the cost of discretization, excess risk and its curves.

Imports the rooms below it: extension, solvers, affinities.
"""
