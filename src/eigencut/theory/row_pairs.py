"""Pairs of rows and the weights between them: what errors, cut values and their spread are sums of.

A partition costs ``sum_k c_k / v_k`` (Eqs. 4 and 5): c_k is the weight that leaves cluster k, v_k
its volume (NCut) or its number of rows (RatioCut).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_sample_weight
from eigencut.affinities.base import Affinity, whole_or_real
from eigencut.cut import Cut
from eigencut.discretization import assign
from eigencut.exceptions import invalid


@contextmanager
def measured_on(
    model: Any, X: ArrayLike | None = None, sample_weight: ArrayLike | None = None
) -> Iterator[tuple[Any, Any, Array | None]]:
    """Give the GPOD of a model, the prepared complete rows of X, if any, and their counts."""
    gpod = model.one_cut()
    if X is None:
        if sample_weight is not None:
            expected = "be left out without X, for training rows have the weights of the fit"
            raise invalid("sample_weight", expected, "some", "pass the rows that they belong to")
        with threads(gpod.n_jobs):
            yield gpod, None, None
        return
    with model.preparing(X) as (rows, complete):
        weight = check_sample_weight(sample_weight, len(complete))
        counts = row_counts(None if weight is None else weight[complete], rows.shape[0])
        yield gpod, rows.astype(np.float64, copy=False), counts


def row_counts(sample_weight: ArrayLike | None, n_rows: int) -> Array | None:
    """Return weights if they are integers; others with the sum ``(sum w)^2 / sum w^2`` (Kish)."""
    weight = check_sample_weight(sample_weight, n_rows)
    if weight is None or (weight == np.rint(weight)).all():
        return weight
    return np.asarray(weight * (weight.sum() / (weight @ weight)))


def check_enough(name: str, n_rows: float) -> None:
    """Refuse fewer than the 3 rows that a spread over rows needs."""
    if n_rows < 3:
        expected = "have at least 3 rows to estimate an error and its standard error"
        raise invalid(name, expected, f"{n_rows:g}", "hold out more rows")


@dataclass(frozen=True)
class RowPairs:
    """Pairs of rows, each with its weight; never as an array of all pairs.

    On the graph of a fit a row makes a pair with itself. Without such pairs, sums over pairs are
    U-statistics and estimate the population.
    """

    counts: Array  # how many rows there are at each place
    self_weights: Array  # W(x, x)
    all_sums: Callable[[Array], Array]  # V to sum_j c_j W(x_i, x_j) V[j], i among the j
    with_itself: bool = False

    @classmethod
    def from_rows(
        cls, affinity: Affinity, rows: Any, counts: Array | None = None, with_itself: bool = False
    ) -> RowPairs:
        """Pair new rows, each of which may count several times."""
        m, block = rows.shape[0], 128
        counts = np.ones(m) if counts is None else counts
        check_enough("X", float(counts.sum()))
        own, each = np.empty(m), counts[:, np.newaxis]
        for start in range(0, m, block):
            some = rows[start : start + block]
            own[start : start + block] = affinity.within(some, np.eye(some.shape[0])).diagonal()
        return cls(counts, own, lambda V: affinity.within(rows, each * V), with_itself)

    @classmethod
    def from_training_rows(cls, affinity: Affinity, with_itself: bool = True) -> RowPairs:
        """Pair the rows that an affinity was fitted on; it has to have kept them."""
        rows = getattr(affinity, "rows_", None)
        if rows is None:
            raise invalid(
                "model",
                "have kept its training rows to be measured on them",
                f"{type(affinity).__name__}, which does not",
                "pass held-out rows as X, or the labels, the rows and the affinity: "
                "cut_value(model.labels_, X, affinity=...)",
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
        """The number of rows that each row makes a pair with."""
        return self.n_rows if self.with_itself else self.n_rows - 1

    def sums(self, V: Array) -> Array:
        """``sum_j W(x_i, x_j) V[j]`` over the partners j of each row i."""
        sums = self.all_sums(V)
        return sums if self.with_itself else sums - self.self_weights[:, np.newaxis] * V

    @cached_property
    def degrees(self) -> Array:
        """d(x), the mean weight of a row to its partners."""
        # What is left of a row without partners is rounding.
        sums = self.sums(np.ones((len(self.counts), 1)))[:, 0]
        return np.maximum(sums, 0.0) / self.n_partners


@dataclass(frozen=True)
class CutValue(JsonReady):
    """The value of the discrete cut, Eqs. 4 and 5; ``eigencut.inspection.cut_value`` returns it.

    Attributes
    ----------
    cut : str
    value : float
        The sum of ``per_cluster``.
    standard_error : float
        Of ``value``, by the jackknife: each row left out in turn, the labels of the others kept.
    per_cluster : array of shape (K,)
        What leaves a cluster, over its size: NCut's is the conductance, the share of the weight
        of its rows that goes to others, from 0 to 1. NaN, and not in the sum, for a cluster
        without a row, or without any weight.
    sizes : array of shape (K,)
        Rows of each cluster.
    interval : tuple of float, or None
        Holds the value of the population with probability ``confidence``, whatever the
        distribution; of held-out rows only.
    confidence : float
    n_rows : float
        Rows, or what they count together.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> from eigencut.inspection import cut_value
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> result = cut_value(model, X[100:])
    >>> result.per_cluster.shape, result.sizes.tolist()
    ((2,), [27, 23])
    """

    cut: str
    value: float
    standard_error: float
    per_cluster: Array
    sizes: Array
    interval: tuple[float, float] | None
    confidence: float
    n_rows: float


def cut_of_pairs(
    pairs: RowPairs,
    labels: Indices,
    cut: Cut,
    n_clusters: int,
    largest_weight: float | None = None,
    confidence: float = 0.95,
) -> CutValue:
    """Return the value of a partition; with an interval if the largest weight is given."""
    is_in = labels[:, np.newaxis] == np.arange(n_clusters)
    to = pairs.sums(is_in.astype(np.float64))  # weight from each row to each cluster
    count, total = pairs.counts[:, np.newaxis], to.sum(axis=1, keepdims=True)
    leaves = np.where(is_in, total - to, to)  # what a cluster's cut loses with a row
    sizes = (count * is_in).sum(axis=0)
    cuts = (count * is_in * leaves).sum(axis=0)
    if cut.mass_power:  # the mass of a row is its degree
        itself = pairs.self_weights[:, np.newaxis] if pairs.with_itself else 0.0
        volumes = (count * is_in * total).sum(axis=0)
        left = volumes - np.where(is_in, total + to - itself, to)
    else:
        volumes = pairs.n_partners * sizes
        left = (pairs.n_partners - 1) * (sizes - is_in)
    per_cluster = _ratio(cuts, volumes)
    without = np.nansum(_ratio(np.maximum(cuts - leaves, 0.0), left), axis=1)
    n = pairs.n_rows
    mean = pairs.counts @ without / n
    spread = (n - 1) / n * (pairs.counts @ (without - mean) ** 2)
    interval = None
    if largest_weight is not None and not pairs.with_itself:
        means = cuts / (n * pairs.n_partners), volumes / (n * pairs.n_partners)
        interval = _interval(cut, *means, n, largest_weight, confidence)
    return CutValue(
        cut=cut.name,
        value=float(np.nansum(per_cluster)),
        standard_error=math.sqrt(spread),
        per_cluster=per_cluster,
        sizes=np.round(sizes).astype(np.intp),
        interval=interval,
        confidence=confidence,
        n_rows=n,
    )


def pairs_of_cut(
    fitted: Any, rows: Any, counts: Array | None, with_itself: bool | None = None
) -> tuple[RowPairs, Indices]:
    """Return pairs of rows, or of the training rows, and the clusters of a fitted cut there."""
    if rows is None:
        pairs = RowPairs.from_training_rows(fitted.affinity, with_itself is not False)
        return pairs, fitted.partition.labels
    # Not predict(): a row that it leaves out still has a place in the population.
    labels = assign(fitted.scores(rows))
    return RowPairs.from_rows(fitted.affinity, rows, counts, bool(with_itself)), labels


def _ratio(above: Array, below: Array) -> Array:
    """Return above / below, and NaN where there is nothing below."""
    is_there = below > 0
    return np.where(is_there, above / np.where(is_there, below, 1.0), np.nan)


def _interval(
    cut: Cut, cuts: Array, volumes: Array, n_rows: float, largest: float, confidence: float
) -> tuple[float, float]:
    """Return Bernstein's interval for all c_k and v_k at once, carried over to their ratios."""
    exponent = math.log(4 * len(cuts) / (1 - confidence))
    lowest_cut, highest_cut = _bernstein(cuts, largest / 2, exponent / (n_rows // 2))
    # Volumes are means over pairs, shares of rows are means over rows.
    b, n = (largest, n_rows // 2) if cut.mass_power else (1.0, n_rows)
    lowest_volume, highest_volume = _bernstein(volumes, b, exponent / n)
    most = 1.0 if cut.mass_power else largest
    low = lowest_cut / np.maximum(highest_volume, np.finfo(np.float64).tiny)
    high = np.nan_to_num(_ratio(highest_cut, lowest_volume), nan=most)
    return float(low.sum()), float(np.minimum(high, most).sum())


def _bernstein(mean: Array, b: float, rate: float) -> tuple[Array, Array]:
    """Return the ends of all t with ``|mean - t| <= sqrt(2 b t rate) + b rate / 3``."""
    a, shift = 2 * b * rate, b * rate / 3
    low = (np.sqrt(a + 4 * np.maximum(mean - shift, 0.0)) - math.sqrt(a)) / 2
    high = (np.sqrt(a + 4 * (mean + shift)) + math.sqrt(a)) / 2
    return low**2, high**2
