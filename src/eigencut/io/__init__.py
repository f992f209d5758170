"""Rows of every source, and model files: what is read, how, and what of it is refused."""
