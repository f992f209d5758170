"""All warning and error classes, and ``invalid``, which words the errors about arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def invalid(
    parameter: str, expected: str, got: object, remedy: str, error: type[Exception] = ValueError
) -> Exception:
    """Return the error for an argument that cannot be used; the caller raises it."""
    parts = (parameter, expected, str(got), remedy)  # each can contain long names of columns
    parameter, expected, got, remedy = (
        part if len(part) <= 1000 else f"{part[:400]}...{part[-100:]}" for part in parts
    )
    return error(f"{parameter} must {expected}. Got {got}; {remedy}.")


class EmptyTableError(ValueError):
    """The error of a table without rows; the command line exits with a code of its own."""


class GraphWarning(UserWarning):
    """A problem with the graph; the message tells you what the fit did about it."""


class MemoryRefusal(MemoryError):
    """The error of a fit that would need more memory than it may use; raised before it starts."""


class NoEigenfunctions(AttributeError, ValueError):
    """The error of methods that need eigenfunctions, on a model of a discrete cut without them."""


class ModelFileError(ValueError):
    """The error of a file that is not a model, or is damaged."""


class RefusedRow(ValueError):
    """The error of a row that a metric has no distances for, such as zeros for "cosine"."""

    def __init__(
        self,
        expectation: str,
        got: str,
        remedy: str,
        row: int,
        column: int | None,
        check: Callable[[Any], Any],
        place: str | None = None,
    ) -> None:
        where = place or f"row {row}" + ("" if column is None else f", column {column}")
        super().__init__(f"{expectation} Got {got} in {where}; {remedy}.")
        self.parts = (expectation, got, remedy)
        self.row, self.column, self.check, self.place = row, column, check, place

    def __reduce__(self) -> tuple[Any, ...]:  # pickles errors that other processes send
        return type(self), (*self.parts, self.row, self.column, self.check, self.place)

    def at(self, where: str, name: str | None = None) -> RefusedRow:
        """Return the same error with another description of the place, and the column's name."""
        place = where
        if self.column is not None:
            place += f", column {self.column if name is None else repr(name)}"
        return RefusedRow(*self.parts, self.row, self.column, self.check, place)


def shortened(text: str, most: int = 60) -> str:
    """Return a text cut off after ``most`` characters."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def printable(text: str, also: str = "") -> str:
    """Return a text with escapes for characters that do not print, except for those in ``also``."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in also else ascii(letter)[1:-1] for letter in text
    )
