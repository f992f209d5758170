"""The weighted graph that is cut: complete in tiles, sparse, or on landmarks; and its components.

Components too small to be clusters are set aside and attached in ``small_components``. It imports
kernels and runtime, never an affinity: affinities make graphs.
"""
