"""Eigenfunctions at new rows, single precision with an error bound, and labels.

It imports solvers, cuts, the discretization, affinities and what is below them.
"""
