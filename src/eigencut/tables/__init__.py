"""Tables with words, dates and missing values: ``TableModel`` in ``table_model``.

``preparation`` scales columns and fills gaps; ``categories`` turns words into coordinates. What
reads a table for the command line is in ``cli.tables``, and what reads its cells in ``io.table``.
"""
