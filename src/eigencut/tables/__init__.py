"""Models of tables: columns of every kind, their units and missing values.

Imports gpod and everything below it.
"""
