"""A cut at any row: eigenfunctions, labels and probabilities (``labelling``), limits of sizes."""
