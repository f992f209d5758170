"""From a cut of the training rows to any row."""
