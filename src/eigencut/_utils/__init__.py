"""Helpers of all folders.

- ``running``: threads, progress displays, warnings; ``memory``: available bytes, "4GB" as a number
- ``validation``: checks of arguments; ``arrays``: their types; ``json_ready``: results for JSON
"""
