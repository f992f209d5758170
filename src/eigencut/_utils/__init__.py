"""Helpers of all folders.

- ``running``: threads, progress displays, warnings; ``memory``: available bytes, "4GB" as a number
- ``validation``: checks of arguments; ``arrays``: types and constants of arrays
- ``json_ready``: results as plain Python, and as HTML for notebooks
"""
