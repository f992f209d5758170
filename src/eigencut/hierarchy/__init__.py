"""Clusters within clusters.

- ``hierarchy``: coarser cuts as a tree of the clusters; levels
- ``recluster``: splits a cluster into parts; makes models, so it stands above the estimator
"""
