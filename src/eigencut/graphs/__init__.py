"""Graphs to cut: sparse ones, components (``base``); complete and landmark ones (``complete``)."""
