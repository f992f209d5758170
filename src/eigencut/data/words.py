"""The words of a column, numbered in the order in which they come."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from eigencut.runtime.arrays import Array

MOST_WORDS = 1 << 16  # of a column; more are surely no categories
_SHOWN = 30  # characters of a word in messages


def word_of(cell: Any) -> str | None:
    """A cell as a word; None if it is missing.

    A number is the same word however it is written, since tables that have been through other
    programs write it otherwise.

    Examples
    --------
    >>> [word_of(cell) for cell in (" Rome", "01", 1, 1.0, "1.50", True, "TRUE", "", None)]
    ['Rome', '1', '1', '1', '1.5', 'true', 'true', None, None]
    """
    if isinstance(cell, str):
        text = cell.strip()
        if not text:
            return None
        if text.lower() in ("true", "false"):
            return text.lower()
        number = _plain_number(text)
        return text if number is None else _shown_number(number)
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    if isinstance(cell, (int, float, np.integer, np.floating)):
        return None if math.isnan(cell) else _shown_number(float(cell))
    return str(cell)


def _plain_number(text: str) -> float | None:
    if not (text[0].isdigit() or text[0] in "-+.") or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _shown_number(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def shown_word(word: str) -> str:
    """A word for messages, not too long."""
    return repr(word if len(word) <= _SHOWN else f"{word[: _SHOWN - 3]}...")


class Words:
    """Numbers for words, which stay the same as more words come.

    Examples
    --------
    >>> town = Words("town")
    >>> town.codes(["Rome", None, "Oslo", "Rome"])
    array([ 0., nan,  1.,  0.])
    >>> list(town)
    ['Rome', 'Oslo']
    """

    def __init__(self, column: str) -> None:
        self._column = column
        self._numbers: dict[str, int] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def code(self, cell: Any) -> float:
        """The number of the word in a cell, NaN if it is missing; a new word gets the next one."""
        word = word_of(cell)
        if word is None:
            return math.nan
        if word not in self._numbers and len(self._numbers) >= MOST_WORDS:
            raise ValueError(
                f"Column {self._column!r} must have at most {MOST_WORDS} different words. Got "
                "more; drop it, or put words together."
            )
        return float(self._numbers.setdefault(word, len(self._numbers)))

    def codes(self, cells: Sequence[Any]) -> Array:
        """The numbers of the words in cells."""
        codes = {cell: self.code(cell) for cell in dict.fromkeys(cells)}
        return np.fromiter(map(codes.__getitem__, cells), dtype=np.float64, count=len(cells))

    def codes_of(self, different: Sequence[Any], places: Iterable[int]) -> Array:
        """The numbers of words that are given as places in a list; -1 is a missing one.

        New words are numbered by their first appearance among the cells, as ``codes`` does.
        """
        found: Any = np.asarray(places, dtype=np.int64)
        used, first = np.unique(found, return_index=True)
        codes = np.full(len(different) + 1, np.nan)  # the last one is for -1
        for place in used[np.argsort(first)]:
            if place >= 0:
                codes[place] = self.code(different[place])
        return codes[found]
