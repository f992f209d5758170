"""Rows in blocks, readers of tables, model files, and samples that depend on no order."""
