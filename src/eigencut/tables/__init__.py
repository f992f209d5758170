"""``TableModel``, the ``preparation`` of columns, and ``categories``: words as coordinates.

``io.table`` reads the cells of tables, and ``cli.tables`` fits tables for the command line.
"""
