"""All pairs of some rows, and the weights between them: what errors and cut values are sums of."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from eigencut.affinity.base import Affinity, whole_or_real
from eigencut.runtime.arrays import Array

_BLOCK = 128  # rows whose weights to themselves are found at a time
_FEWEST = 3  # a spread over rows needs as many


@dataclass(frozen=True)
class RowPairs:
    """Pairs of rows, each with its weight; never as an array of all pairs.

    Attributes
    ----------
    counts : array of shape (n_places,)
        How many rows there are at each place.
    self_weights : array of shape (n_places,)
        ``W(x, x)``.
    all_sums : callable
        V to ``sum_j c_j W(x_i, x_j) V[j]``, the sum running over all rows, i among them.
    with_itself : bool
        Whether a row makes a pair with itself, as on the graph of a fit; not so where a population
        is estimated, for then sums over pairs are U-statistics.
    """

    counts: Array
    self_weights: Array
    all_sums: Callable[[Array], Array]
    with_itself: bool = False

    @classmethod
    def of_rows(
        cls,
        affinity: Affinity,
        rows: Any,
        with_itself: bool = False,
        counts: Array | None = None,
    ) -> RowPairs:
        """Pairs of new rows, of each of which there may be several."""
        m = rows.shape[0]
        of_each = np.ones(m) if counts is None else counts
        check_enough("X", float(of_each.sum()))
        own = np.concatenate(
            [
                affinity.within(rows[start : start + _BLOCK], np.eye(min(_BLOCK, m - start)))
                .diagonal()
                .copy()
                for start in range(0, m, _BLOCK)
            ]
        )
        each = of_each[:, np.newaxis]
        return cls(of_each, own, lambda V: affinity.within(rows, each * V), with_itself)

    @classmethod
    def of_training_rows(cls, affinity: Affinity, with_itself: bool = True) -> RowPairs:
        """Pairs of the rows that an affinity was fitted on; it has to have kept them."""
        rows = getattr(affinity, "rows_", None)
        if rows is None:
            raise ValueError(
                "model must have kept its training rows to be measured on them. Got "
                f"{type(affinity).__name__}, which does not; pass held-out rows as X, or the "
                "labels, the rows and the affinity: cut_value(model.labels_, X, affinity=...)."
            )
        n = affinity.n_rows_
        check_enough("model", n)

        def all_sums(V: Array) -> Array:
            product = affinity.apply(rows, V)
            return np.asarray(n * np.exp(product.log_scale)[:, np.newaxis] * product.values)

        return cls(affinity.multiplicity_, affinity.self_weights_, all_sums, with_itself)

    @property
    def n_rows(self) -> float:
        return whole_or_real(float(self.counts.sum()))

    @property
    def n_partners(self) -> float:
        """The rows that each row makes a pair with."""
        return self.n_rows if self.with_itself else self.n_rows - 1

    def sums(self, V: Array) -> Array:
        """``sum_j W(x_i, x_j) V[j]`` over the partners j of each row i."""
        found = self.all_sums(V)
        return found if self.with_itself else found - self.self_weights[:, np.newaxis] * V

    @cached_property
    def degrees(self) -> Array:
        """d(x), the mean weight of a row to its partners."""
        # What is left of a row without partners is rounding.
        sums = self.sums(np.ones((len(self.counts), 1)))[:, 0]
        return np.maximum(sums, 0.0) / self.n_partners


def check_enough(name: str, n_rows: float) -> None:
    """Refuse fewer rows than a standard error needs."""
    if n_rows < _FEWEST:
        raise ValueError(
            f"{name} must have at least {_FEWEST} rows to estimate an error and its standard "
            f"error. Got {n_rows:g}; hold out more rows."
        )
