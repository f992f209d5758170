"""Solvers of a cut: eigenvectors (``relaxed_cut``, ``sparse``) or labels (``discrete_cut``)."""
