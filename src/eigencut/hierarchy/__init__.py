"""Clusters within clusters: coarser cuts as a tree, and clusters split into parts."""
