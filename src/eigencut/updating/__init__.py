"""Fitted models and new rows: ``update`` keeps the numbers of clusters, ``drift`` compares rows,
``alignment`` gives one model the numbers of another. The estimator stands above ``update``.
"""
