"""Fitted models and new rows: update, drift, and the cluster numbers of another model."""
