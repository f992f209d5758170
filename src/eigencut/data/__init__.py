"""Rows in blocks, tables with names, models of tables, reproducible samples.

It imports files and runtime; ``table_model`` alone imports the estimator.
"""
