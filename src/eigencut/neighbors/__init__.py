"""Metrics and distinct rows (``metrics``); searches for nearest rows, k-means (``search``)."""
