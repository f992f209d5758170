"""Whether a source of rows gives the same rows whenever it is read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigencut.runtime.arrays import Array

_ROUNDING = 1e-6  # of a sum; what is computed anew may differ in its last digits


@dataclass(frozen=True)
class Seen:
    """What one pass over the rows has seen, whatever their order and their blocks.

    Attributes
    ----------
    n_rows : int
    sums, sizes : arrays of shape (n_features,)
        The sum of each column, and of its absolute values; missing values apart.

    Examples
    --------
    >>> X = np.arange(6.0).reshape(3, 2)
    >>> Seen.of(X[:1]).merged(Seen.of(X[1:])).refuse_change(Seen.of(X[::-1]))
    >>> Seen.of(X).refuse_change(Seen.of(X[:2]))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    ValueError: X must give the same rows whenever it is read. Got 3 rows at first and 2 later; ...
    """

    n_rows: int
    sums: Array
    sizes: Array

    @classmethod
    def of(cls, rows: Array) -> Seen:
        """Of some rows."""
        one = np.ones(len(rows))
        with np.errstate(over="ignore", invalid="ignore"):
            sums, sizes = one @ rows, one @ np.abs(rows)
            if np.isnan(sums).any():
                rows = np.nan_to_num(rows)
                sums, sizes = one @ rows, one @ np.abs(rows)
        return cls(len(rows), sums, sizes)

    def merged(self, other: Seen) -> Seen:
        """Of the rows of both."""
        with np.errstate(over="ignore", invalid="ignore"):
            return Seen(
                self.n_rows + other.n_rows, self.sums + other.sums, self.sizes + other.sizes
            )

    def refuse_more(self, later: Seen) -> None:
        """An error if a later pass has already seen more rows than this one, a whole pass, did."""
        if later.n_rows > self.n_rows:
            raise _changed(f"{self.n_rows} rows at first and more later")

    def refuse_change(self, later: Seen) -> None:
        """An error if another whole pass has seen other rows."""
        if later.n_rows != self.n_rows:
            raise _changed(f"{self.n_rows} rows at first and {later.n_rows} later")
        with np.errstate(invalid="ignore", over="ignore"):  # sums beyond float64 tell nothing
            is_other = np.abs(later.sums - self.sums) > _ROUNDING * self.sizes
        if is_other.any():
            raise _changed(f"other values in column {int(np.argmax(is_other))} later")


def _changed(what: str) -> ValueError:
    return ValueError(
        f"X must give the same rows whenever it is read. Got {what}; copy the source before it "
        "changes, or make a new Rows of it."
    )
