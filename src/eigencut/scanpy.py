"""Clusters of cells: the name under which ``eigencut.integrations.scanpy`` is imported."""

from eigencut.integrations.scanpy import cluster

__all__ = ["cluster"]
