"""Coarser cuts as a tree of clusters (``hierarchy``); splitting a cluster (``recluster``)."""
