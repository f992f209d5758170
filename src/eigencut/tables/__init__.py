"""Models of tables: columns of every kind, their units and missing values.

- ``table_model``: ``TableModel``, which prepares a table and asks its GPOD
- ``preparation``: units, logarithms, missing values; learned from a table or a stream; a summary
- ``categories``: words as points, by a factor analysis of mixed data
"""
