"""Clusters within clusters: coarser cuts as a tree (``hierarchy.py``), finer ones by
``recluster.py``, which makes models and stands above the estimator. The rest may import the fitted
cut and what is below it.
"""
