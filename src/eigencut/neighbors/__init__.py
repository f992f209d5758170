"""Nearest rows: metrics, distinct rows, trees, brute force, cells, k-means."""
