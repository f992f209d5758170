"""Rows in blocks, the reader of tables, preparation and models of tables, reproducible samples.

It imports files and runtime; ``table_model`` alone imports the estimator.
"""
