"""Every warning and error class of the library, and the one form of an error about an argument."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def invalid(
    parameter: str, expected: str, got: object, remedy: str, error: type[Exception] = ValueError
) -> Exception:
    """Return the error for an argument that cannot be used; the caller raises it."""
    parts = (parameter, expected, str(got), remedy)  # names of columns can be of any length
    parameter, expected, got, remedy = (
        part if len(part) <= 1000 else f"{part[:400]}...{part[-100:]}" for part in parts
    )
    return error(f"{parameter} must {expected}. Got {got}; {remedy}.")


class EmptyTableError(ValueError):
    """A table without rows, which a command leaves alone with an exit code of its own kind."""


class GraphWarning(UserWarning):
    """A problem with the graph; the message tells you what the fit did about it."""


class MemoryRefusal(MemoryError):
    """The error of a fit that would need more memory than it may use."""


class NoEigenfunctions(AttributeError, ValueError):
    """What only a relaxed cut has was asked of a model of a discrete cut."""


class ModelFileError(ValueError):
    """The error of a file that is not a model, or is damaged."""


class RefusedRow(ValueError):
    """A row that cannot be a point of a metric."""

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

    def __reduce__(self) -> tuple[Any, ...]:  # for errors that come from another process
        return type(self), (*self.parts, self.row, self.column, self.check, self.place)

    def at(self, where: str, name: str | None = None) -> RefusedRow:
        """Return the same error with another place, and the name of the column."""
        place = where
        if self.column is not None:
            place += f", column {self.column if name is None else repr(name)}"
        return RefusedRow(*self.parts, self.row, self.column, self.check, place)


def shortened(text: str, most: int = 60) -> str:
    """The text, cut off where it is longer."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def printable(text: str, also: str = "") -> str:
    """The text with an escape for each character that does not print, but for those in ``also``."""
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in also else ascii(letter)[1:-1] for letter in text
    )
