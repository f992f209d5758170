"""How cells that are no numbers become numbers: kinds of columns, said or found, and their words.

There is one coding for each pass over a table. Words are numbered in the order in which they come,
so that blocks of a stream need not know of later ones, and another pass gives the same numbers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array
from eigencut.io.column_kinds import (
    NUMERIC,
    Kind,
    Words,
    chosen_columns,
    date_number,
    given_kinds,
    word_of,
)
from eigencut.io.csv_cells import meant_numbers, number

_TRUTH = ("true", "false")
_A_DIGIT = re.compile(r"\d")


class Coding:
    """Kinds of columns and numbers of their words, of one pass over a table.

    Parameters
    ----------
    kinds : mapping of str to Kind, optional
        Those that are known. Others are found out from the first cells of a column.
    columns : optional
        The parameter ``columns`` of a model: kinds, and which columns take part.

    Examples
    --------
    >>> coding = Coding()
    >>> coding.text("town", ["Rome", "Oslo", "", "Rome"])
    array([ 0.,  1., nan,  0.])
    >>> coding.text("day", ["1970-01-03"]), coding.kinds["day"].name
    (array([2.]), 'date')
    """

    def __init__(self, kinds: Mapping[str, Kind] | None = None, columns: Any = None) -> None:
        self._columns = columns
        self.kinds = dict(kinds or {}) | given_kinds(columns)
        self.words: dict[str, Words] = {}
        # For errors: the first word of a column and the first one that is not in its order.
        self.examples: dict[str, str] = {}
        self.outside: dict[str, str] = {}

    def chosen(self, names: Sequence[str]) -> list[str]:
        """Those of the columns of a table that take part."""
        return chosen_columns(self._columns, names)

    def kind(self, name: str) -> Kind | None:
        """The kind of a column, if it is known yet."""
        return self.kinds.get(name)

    def found(self, name: str, kind: Kind) -> Kind:
        """Take a kind that was found out, unless another is known."""
        return self.kinds.setdefault(name, kind)

    def words_of(self, name: str) -> Words:
        """The words of a column so far."""
        return self.words.setdefault(name, Words(name))

    def is_outside(self, name: str, cell: str | None) -> bool:
        """Whether a cell has a word that is not in the order of its column."""
        kind = self.kind(name)
        word = word_of(cell)
        return bool(kind and kind.order and word is not None and word not in kind.order)

    def text(
        self,
        name: str,
        cells: Sequence[str | None],
        decimal: str = ".",
        missing: Collection[str] = (),
    ) -> Array:
        """Cells of text as numbers; NaN where they are missing: None, blank, or such a word.

        Raises ``OtherText`` where a cell is not what the column holds.
        """
        different = {
            cell: None if cell is None or cell.strip().lower() in missing else cell
            for cell in dict.fromkeys(cells)
        }
        kind = self.kind(name)
        if kind is None:
            there = [cell for cell in different.values() if cell and word_of(cell) is not None]
            kind = kind_of_text(there, decimal)
            if there:  # a column of gaps only can still become anything
                self.found(name, kind)
        codes = {cell: self._code(name, kind, meant, decimal) for cell, meant in different.items()}
        return np.fromiter(map(codes.__getitem__, cells), dtype=np.float64, count=len(cells))

    def _code(self, name: str, kind: Kind, cell: str | None, decimal: str) -> float:
        if kind.has_words:
            return self.words_of(name).code(cell)
        if cell is None or word_of(cell) is None:
            return np.nan
        is_date = kind.name == "date"
        found = date_number(cell, kind.unit) if is_date else number(cell, decimal)
        if found is None:
            raise OtherText(name, cell)
        return found


class OtherText(ValueError):
    """A cell is not what its column holds."""

    def __init__(self, column: str, cell: str) -> None:
        super().__init__(column, cell)
        self.column, self.cell = column, cell


def kind_of_text(different: Iterable[str], decimal: str = ".") -> Kind:
    """What different cells of text are, none of them missing.

    Numbers, ``true`` and ``false``, dates as ISO 8601 writes them, or else words. Where more than
    half of them are numbers, or look like numbers in another notation, the others are mistakes
    rather than words: that is numeric, and whoever reads them as numbers says what is wrong. So it
    is with dates.

    Examples
    --------
    >>> cells = [["1", "2.5"], ["True", "false"], ["2020-01-31"], ["a", "b", "1"], ["a", "1", "2"]]
    >>> [kind_of_text(column).name for column in cells]
    ['numeric', 'boolean', 'date', 'categorical', 'numeric']
    >>> kind_of_text(["2020-01-31", "2020-02-01", "2020-13-01"]).name
    'date'
    """
    meant = {cell.strip(): number(cell, decimal) for cell in different}
    numbers = [cell for cell, value in meant.items() if value is not None and value == value]
    others = [cell for cell, value in meant.items() if value is None]  # neither is NA, of NaN
    if not others:
        is_truth = bool(numbers) and all(cell.lower() in _TRUTH for cell in numbers)
        return Kind("boolean") if is_truth else NUMERIC
    if len(others) < len(numbers):
        return NUMERIC
    digits = [cell for cell in others if _A_DIGIT.search(cell)]
    n_dates = sum(date_number(cell) is not None for cell in digits)
    if n_dates > (len(others) + len(numbers)) / 2:
        return Kind("date")
    if len(digits) == len(others) and meant_numbers(others, decimal):
        return NUMERIC
    return Kind("categorical")
