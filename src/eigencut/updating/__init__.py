"""Fitted models and new rows: ``update``, ``drift``, outliers; ``alignment`` of cluster numbers."""
