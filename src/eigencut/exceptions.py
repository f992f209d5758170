"""Every warning and error class of the library."""

from __future__ import annotations


class GraphWarning(UserWarning):
    """The graph is not what a clustering needs; the message says what was done about it."""


class MemoryRefusal(MemoryError):
    """A fit that would need more memory than it may take; nothing was computed."""


class ModelFileError(ValueError):
    """A file that is not a model, or not one that can be trusted."""
