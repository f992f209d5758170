"""The weighted graph that is cut: complete graphs in tiles, sparse ones, landmarks, components.

It imports search, data and what is below them, never an affinity: affinities make graphs.
"""
