"""Input and output of rows and of models.

- ``readers``: CSV, Parquet, Feather, JSON lines and NPY files; ``rows``: rows in blocks (``Rows``)
- ``table``: tables as numbers (``Table``); ``column_kinds``: what columns hold, what cells mean
- ``validation``: checks of rows; ``refused_rows``: errors that name a row; ``sample``: samples
- ``state_reader``, ``model_format``: model files; ``atomic``: files that appear whole or not at all
"""
