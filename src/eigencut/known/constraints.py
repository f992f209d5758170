"""Pairs of rows that must get the same label, or different ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eigencut.runtime.arrays import Indices
from eigencut.runtime.validation import shown


class Constraints:
    """Pairs of rows that belong together, and pairs that do not.

    ``GPOD.fit(X, constraints=...)`` gives rows that must be linked equal labels, always. Rows that
    cannot be linked get different ones as far as a smooth cut can tell them apart, and a warning
    says how many it could not.

    Parameters
    ----------
    must_link, cannot_link : array-like of shape (n_pairs, 2)
        Numbers of rows, from 0 on.

    Examples
    --------
    >>> Constraints(must_link=[(0, 3), (3, 7)], cannot_link=[(0, 5)])
    Constraints(2 must-link pairs, 1 cannot-link pair)
    """

    def __init__(
        self, must_link: ArrayLike | Sequence[Any] = (), cannot_link: ArrayLike | Sequence[Any] = ()
    ) -> None:
        self.must_link = _checked_pairs("must_link", must_link)
        self.cannot_link = _checked_pairs("cannot_link", cannot_link)

    def __repr__(self) -> str:
        counts = (len(self.must_link), "must-link"), (len(self.cannot_link), "cannot-link")
        listed = (f"{n} {kind} pair{'' if n == 1 else 's'}" for n, kind in counts)
        return f"{type(self).__name__}({', '.join(listed)})"

    def check_rows(self, n_rows: int) -> None:
        """Refuse numbers that no row has.

        Parameters
        ----------
        n_rows : int
        """
        for name in ("must_link", "cannot_link"):
            pairs = getattr(self, name)
            if len(pairs) and pairs.max() >= n_rows:
                raise ValueError(
                    f"{name} must hold numbers of rows, from 0 to {n_rows - 1}. "
                    f"Got {pairs.max()}; rows are counted from 0."
                )

    def among(self, is_there: NDArray[np.bool_]) -> Constraints:
        """The same pairs by the numbers that rows have among those that are there.

        Parameters
        ----------
        is_there : array of bool, one for each row

        Returns
        -------
        constraints : Constraints
        """
        self.check_rows(len(is_there))
        for name in ("must_link", "cannot_link"):
            rows = np.unique(getattr(self, name))
            absent = rows[~is_there[rows]]
            if len(absent):
                raise ValueError(
                    f"{name} must hold rows that take part. Got row {absent[0]}, which has missing "
                    "values; fill them in with missing='median', or drop its pairs."
                )
        number = np.cumsum(is_there) - 1
        return Constraints(number[self.must_link], number[self.cannot_link])


def check_kind(constraints: Any) -> Constraints:
    """Refuse what is no ``Constraints``."""
    if not isinstance(constraints, Constraints):
        raise TypeError(
            f"constraints must be eigencut.Constraints. Got {shown(constraints)}; use "
            "eigencut.Constraints(must_link=pairs, cannot_link=pairs)."
        )
    return constraints


def _checked_pairs(name: str, pairs: Any) -> Indices:
    """Pairs of different, non-negative integers."""
    found = np.asarray(pairs)
    if found.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must be pairs of row numbers, integers of shape (n_pairs, 2). Got shape "
            f"{found.shape} of {found.dtype}; pass pairs like [(0, 3), (2, 5)]."
        )
    if found.min() < 0:
        raise ValueError(
            f"{name} must hold numbers of rows, from 0 on. Got {found.min()}; negative numbers do "
            "not count from the end."
        )
    itself = found[found[:, 0] == found[:, 1]]
    if len(itself):
        raise ValueError(
            f"{name} must hold pairs of different rows. Got row {itself[0, 0]} with itself; drop "
            "it."
        )
    return found.astype(np.intp)
