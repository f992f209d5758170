"""Fitted models and new rows: ``update``, ``drift`` and ``align_labels``."""
