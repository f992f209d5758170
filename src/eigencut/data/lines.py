"""Where rows of a table stand: in which line of which file."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np


class Lines:
    """The lines of the rows of a text file, kept as the places where rows and lines part.

    Rows count from 1, as lines do.

    Examples
    --------
    >>> lines = Lines()
    >>> lines.add(1, [2, 3, 7, 8])  # the third row is in line 7
    >>> lines.place(2), lines.place(4)
    ('line 3', 'line 8')
    """

    def __init__(self) -> None:
        self._rows: list[int] = []
        self._lines: list[int] = []

    def add(self, row: int, lines: Sequence[int] | range) -> None:
        """The lines of rows from this one on, which come after all others."""
        if not lines:
            return
        starts = [0]
        if not isinstance(lines, range):
            starts += (np.flatnonzero(np.diff(lines) != 1) + 1).tolist()
        for start in starts:
            self._rows.append(row + start)
            self._lines.append(lines[start])

    def place(self, row: int) -> str:
        """Where a row is, in words."""
        at = bisect_right(self._rows, row) - 1
        return f"line {self._lines[at] + row - self._rows[at]}"


class LinesOfFiles:
    """The same of several files that are one table.

    Examples
    --------
    >>> lines = LinesOfFiles(several=True)
    >>> lines.begin("a.csv", Lines(), 0)
    >>> lines.begin("b.parquet", None, 10)
    >>> lines.place(12)
    'row 2 of b.parquet'
    """

    def __init__(self, several: bool) -> None:
        self._several = several
        self._starts: list[int] = []
        self._files: list[tuple[str, Lines | LinesOfFiles | None]] = []

    def begin(self, name: str, lines: Lines | LinesOfFiles | None, n_before: int) -> None:
        """Rows after the first so many are of this file."""
        self._starts.append(n_before)
        self._files.append((name, lines))

    def place(self, row: int) -> str:
        """Where a row is, in words."""
        at = bisect_right(self._starts, row - 1) - 1
        name, lines = self._files[at]
        row -= self._starts[at]
        found = f"row {row}" if lines is None else lines.place(row)
        return f"{found} of {name}" if self._several else found
