"""The relaxed cut ``L u = lambda M u``: components, dense and sparse eigensolvers.

It imports graphs and what is below them, and affinities only as what knows which vertices are near.
"""
