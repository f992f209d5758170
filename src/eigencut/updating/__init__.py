"""Fitted models and new rows.

- ``update``: a model takes more rows, and its clusters keep their numbers
- ``drift``: how new rows differ from those that a model has seen
- ``alignment``: a model with the cluster numbers of another one (``align_labels``)
"""
