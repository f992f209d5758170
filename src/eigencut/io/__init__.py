"""Rows of every source, and model files: what is read, how, and what of it is refused.

- ``column_kinds``: what a column holds (numbers, dates, words); cells as numbers; names of columns
- ``table``: ``Table``, ``Coding`` (words and dates to numbers), ``Source`` (a file read in blocks)
- ``readers``: CSV, Parquet, Feather, JSON lines and NPY as sources (``open_source``)
- ``rows``: ``Rows``, a stream that is read again and again; labels of a stream to a ``.npy`` file
- ``sample``: a sample of rows, and random numbers of rows, that depend on no order
- ``validation``: rows and weights that users pass, checked
- ``refused_rows``: errors that name the row, line or column of a value that cannot be used
- ``model_format``, ``state_reader``: the format of model files; values in them, never trusted
- ``atomic``: files that appear whole or not at all
"""
