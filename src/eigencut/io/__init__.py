"""Input and output of rows and of models.

- ``readers``: files of tables; ``rows``: rows in blocks (``Rows``); ``table``: tables as numbers
- ``column_kinds``: what columns hold; ``validation``, ``refused_rows``: checks; ``sample``: samples
- ``state_reader``, ``model_format``: model files; ``atomic``: files that appear whole or not at all
"""
