"""Tables of numbers whose columns have names."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.data.lazy_rows import refuse_lazy

_LISTED = 8  # columns named in an error


def quoted(names: Sequence[str]) -> str:
    """Names for an error message, not too many of them."""
    listed = ", ".join(repr(name) for name in names[:_LISTED])
    return listed if len(names) <= _LISTED else f"{listed}, ... ({len(names)} in all)"


def plain_names(n_columns: int) -> tuple[str, ...]:
    """x1, x2, ...: names of columns that have none."""
    return tuple(f"x{i}" for i in range(1, n_columns + 1))


def absent(wanted: Sequence[str], names: Iterable[str]) -> list[str]:
    """Those of the wanted names that are not among the names."""
    present = set(names)
    return [name for name in wanted if name not in present]


def places(wanted: Sequence[str], names: Sequence[str]) -> list[int]:
    """Where the wanted names stand among the names."""
    place_of = {name: place for place, name in enumerate(names)}
    return [place_of[name] for name in wanted]


def refuse_duplicates(names: Sequence[str]) -> None:
    """Columns are found by name, so a name must stand for one."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise ValueError(
            f"Columns must have different names. Got {quoted(twice)} more than once; rename them."
        )


@dataclass(frozen=True)
class Table:
    """Columns of numbers; NaN stands for a missing value.

    Examples
    --------
    >>> Table.of([[1.0, 2.0]]).names
    ('x1', 'x2')
    """

    names: tuple[str, ...]
    values: NDArray[np.float64]
    first_row: int = 1  # its number, for errors: a table can be a piece of a longer one
    weight: NDArray[np.float64] | None = None  # what each row counts, if not 1

    @classmethod
    def of(cls, X: Any, needed: Sequence[str] | None = None) -> Table:
        """A table of a data frame, an array or a table; all columns, or those that are needed."""
        if isinstance(X, Table):
            return X.choose(needed)
        refuse_lazy(X)
        if hasattr(X, "columns"):
            names = [str(name) for name in X.columns]
            refuse_duplicates(names)
            chosen = names if needed is None else _present(names, needed)
            by_name = dict(zip(names, X.columns, strict=True))
            columns = [_numbers(name, X[by_name[name]]) for name in chosen]
            return cls(
                tuple(chosen), np.column_stack(columns) if columns else np.empty((len(X), 0))
            )
        values = np.asarray(X)
        if values.ndim != 2 or values.dtype.kind not in "fiub":
            raise ValueError(
                "X must be a data frame or a two-dimensional array of numbers. "
                f"Got shape {values.shape} of {values.dtype}; convert it."
            )
        names_of_array = plain_names(values.shape[1])
        if needed is not None and len(needed) == values.shape[1]:
            names_of_array = tuple(needed)  # an array has no names: columns are known by place
        return cls(names_of_array, values.astype(np.float64)).choose(needed)

    def choose(self, needed: Sequence[str] | None) -> Table:
        """The needed columns in their order."""
        if needed is None or tuple(needed) == self.names:
            return self
        columns = places(_present(self.names, needed), self.names)
        return Table(tuple(needed), self.values[:, columns], self.first_row, self.weight)


def _present(names: Sequence[str], needed: Sequence[str]) -> Sequence[str]:
    missing = absent(needed, names)
    if missing:
        raise ValueError(
            "The table must have the columns that the model was fitted on. "
            f"Got no {quoted(missing)} among {quoted(names)}; rename or add them."
        )
    return needed


def _numbers(name: str, column: Any) -> NDArray[np.float64]:
    """A column of a data frame as float64; missing values of any kind are NaN."""
    found = np.asarray(column)
    if found.dtype == object:  # None, pandas' NA and Decimal; also words, which float() refuses
        with suppress(TypeError, ValueError):
            found = np.array([np.nan if _is_na(cell) else _as_number(cell) for cell in found])
    kind = getattr(column, "dtype", found.dtype)
    if found.dtype.kind not in "fiub" or str(kind).lower().startswith("categor"):
        raise ValueError(
            f"Column {name!r} must hold numbers. Got {kind}; drop it, or encode it as numbers."
        )
    return found.astype(np.float64)


def _is_na(cell: Any) -> bool:
    return cell is None or type(cell).__name__ == "NAType"


def _as_number(cell: Any) -> float:
    if isinstance(cell, (str, bytes)):
        raise ValueError(cell)
    return float(cell)
