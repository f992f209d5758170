"""Every warning and error class of the library, and the one form of an error about an argument."""

from __future__ import annotations


def invalid(
    parameter: str, expected: str, got: object, remedy: str, error: type[Exception] = ValueError
) -> Exception:
    """Return the error for an argument that cannot be used; the caller raises it.

    Examples
    --------
    >>> invalid("decay", "be above 0 and at most 1", 2.0, "use 1 to forget nothing")
    ValueError('decay must be above 0 and at most 1. Got 2.0; use 1 to forget nothing.')
    """
    return error(f"{parameter} must {expected}. Got {got}; {remedy}.")


class EmptyTableError(ValueError):
    """A table without rows, which a command leaves alone with an exit code of its own kind."""


class GraphWarning(UserWarning):
    """The graph is not what a clustering needs; the message says what was done about it.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> from eigencut import GPOD, GraphWarning
    >>> X = np.concatenate([np.arange(30.0), 1e6 + np.arange(30.0)]).reshape(-1, 1)
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", GraphWarning)  # a job that must not go on then
    ...     try:
    ...         model = GPOD(3, affinity="neighbors").fit(X)
    ...     except GraphWarning:
    ...         print("look at the graph first")
    look at the graph first
    """


class MemoryRefusal(MemoryError):
    """A fit that would need more memory than it may take; nothing was computed.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, MemoryRefusal
    >>> try:
    ...     GPOD(2, affinity="gaussian", memory_limit="1MB").fit(np.zeros((5000, 2)) + np.arange(2))
    ... except MemoryRefusal as error:
    ...     print(str(error).split(".")[0])
    memory_limit must be at least 16 MB to fit Gaussian() on 5000 rows
    """


class ModelFileError(ValueError):
    """A file that is not a model, or not one that can be trusted.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from eigencut import ModelFileError, load
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.eigencut")
    ...     _ = path.write_bytes(b"a picture of a cat, not a model")
    ...     try:
    ...         load(path)
    ...     except ModelFileError:
    ...         print("refused")
    refused
    """


def printable(text: str, also: str = "") -> str:
    """The text with an escape for each character that does not print, but for those in ``also``.

    Examples
    --------
    >>> print(printable("red \\x1b[31m, back \\u202e, two\\nlines"))
    red \\x1b[31m, back \\u202e, two\\nlines
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in also else ascii(letter)[1:-1] for letter in text
    )
