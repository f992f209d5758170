"""Tables whose columns have names: numbers, and numbers that stand for words and dates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_array

from eigencut.data.coding import Coding
from eigencut.data.column_kinds import NUMERIC, Kind
from eigencut.data.column_names import places, plain_names, present, refuse_duplicates
from eigencut.data.frame_columns import coded_column
from eigencut.data.lazy_rows import refuse_lazy
from eigencut.data.lines import Lines, LinesOfFiles
from eigencut.data.words import Words
from eigencut.runtime.arrays import as_numpy


@dataclass(frozen=True)
class Table:
    """Columns of numbers; NaN stands for a missing value.

    Examples
    --------
    >>> Table.of([[1.0, 2.0]]).names
    ('x1', 'x2')
    >>> table = Table.of(np.array([["Rome", 1.0], ["Oslo", 2.0]], dtype=object))
    >>> table.kind("x1").name, list(table.words("x1")), table.values[:, 0].tolist()
    ('categorical', ['Rome', 'Oslo'], [0.0, 1.0])
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    first_row: int = 1  # its number, for errors: a table can be a piece of a longer one
    weight: NDArray[np.float64] | None = None  # what each row counts, if not 1
    coding: Coding | None = None  # what values mean that are not numbers of their own
    lines: Lines | LinesOfFiles | None = None  # where rows stand, in files of text

    @classmethod
    def of(
        cls,
        X: Any,
        needed: Sequence[str] | None = None,
        coding: Coding | None = None,
        first_row: int = 1,
    ) -> Table:
        """A table of a data frame, an array or a table.

        Parameters
        ----------
        X : data frame, array or Table
        needed : sequence of str, optional
            The columns of a model, which must be there. Default: all.
        coding : Coding, optional
            What columns hold, and which take part. Default: found out, and all.
        first_row : int
            The number of its first row, for errors.
        """
        if isinstance(X, Table):
            return X.choose(needed)
        refuse_lazy(X)
        coding = Coding() if coding is None else coding
        columns = _columns(X, needed)
        there = list(columns)
        names = coding.chosen(there) if needed is None else present(there, needed)
        is_plain = isinstance(X, np.ndarray) and X.dtype.kind in "fiu"
        if is_plain and not any(coding.kinds.get(name, NUMERIC) != NUMERIC for name in names):
            values = X.astype(np.float64)[:, places(names, there)]
            coding.kinds |= dict.fromkeys(names, NUMERIC)
        else:
            found = [coded_column(coding, name, columns[name], first_row) for name in names]
            values = np.column_stack(found) if found else np.empty((len(X), 0))
        return cls(tuple(names), values, first_row, coding=coding)

    def choose(self, needed: Sequence[str] | None) -> Table:
        """The needed columns in their order."""
        if needed is None or tuple(needed) == self.names:
            return self
        columns = places(present(self.names, needed), self.names)
        return replace(self, names=tuple(needed), values=self.values[:, columns])

    def place(self, row: int) -> str:
        """Where a row is, counted from 0: its line of a file of text, or its number from 1 on."""
        number = row + self.first_row
        return f"row {number}" if self.lines is None else self.lines.place(number)

    def kind(self, name: str) -> Kind:
        """What a column holds."""
        return NUMERIC if self.coding is None else self.coding.kinds.get(name, NUMERIC)

    def words(self, name: str) -> Words:
        """The words that the numbers of a column stand for."""
        assert self.coding is not None  # a kind with words comes from a coding
        return self.coding.words[name]


def as_table(X: Any, at_least: int = 1) -> Any:
    """What has columns as it is, and other things as a two-dimensional array, or an error."""
    if isinstance(X, Table) or hasattr(X, "columns"):
        return X
    refuse_lazy(X)
    how = {"dtype": None, "ensure_all_finite": False, "ensure_min_samples": at_least}
    return check_array(as_numpy(X), estimator="TableModel", input_name="X", **how)


def _columns(X: Any, needed: Sequence[str] | None) -> dict[str, Any]:
    """Columns by name, as they are; x1, x2, ... where they have none."""
    if hasattr(X, "columns"):
        of_arrow = getattr(X, "column_names", None)  # whose columns are not names
        given = of_arrow if isinstance(of_arrow, list) else list(X.columns)
        names = [str(name) for name in given]
        refuse_duplicates(names)
        return {name: X[label] for name, label in zip(names, given, strict=True)}
    values = np.asarray(X)
    if values.ndim != 2 or values.dtype.kind not in "fiubOUM":
        raise ValueError(
            "X must be a data frame or a two-dimensional array of numbers and words. "
            f"Got shape {values.shape} of {values.dtype}; convert it."
        )
    names_of_array = plain_names(values.shape[1])
    if needed is not None and len(needed) == values.shape[1]:
        names_of_array = tuple(needed)  # an array has no names: columns are known by place
    return dict(zip(names_of_array, values.T, strict=True))
