"""Models of tables with words, dates and missing values: ``table_model`` has ``TableModel``.

``preparation`` scales columns and fills gaps, and ``categories`` turns words into coordinates. See
``io.table`` for cells, and ``cli.tables`` for the command line.
"""
