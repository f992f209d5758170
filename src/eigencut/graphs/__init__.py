"""The weighted graph that is cut; affinities make it.

- ``base``: the contract (``Graph``), sparse graphs, outliers, components too small to be clusters
- ``complete``: complete graphs in tiles, on rows or landmarks; memberships and their exact sums
"""
