"""The weighted graph that is cut: sparse, or complete in tiles on rows or landmarks.

Components too small to be clusters are set aside (``Pieces``). It imports kernels and runtime,
never an affinity: affinities make graphs.
"""
