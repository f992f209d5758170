"""Whether new rows are like those that a model has seen.

New rows are compared with rows that a model has not seen either: an affinity that keeps its rows
is fitted again without a fifth of them, and these and the new rows are looked at through that
model. If nothing has changed, it cannot tell the ones from the others, so p-values hold whatever
the data. Landmarks keep sums over all their rows instead, of which a row is so small a part that
it does not matter whether it was seen.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2, hypergeom
from sklearn.base import clone
from sklearn.utils import check_random_state

from eigencut.exceptions import GraphWarning
from eigencut.extension.labelling import Mask
from eigencut.living.cluster_facts import ClusterFacts, FactTotals
from eigencut.living.drift_report import Change, Drift
from eigencut.living.matching import Shared, most_in_common
from eigencut.living.new_cluster import find_new_cluster
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.progress import without_progress
from eigencut.runtime.warn import warn_user

_HELD_SHARE, _MOST_HELD = 0.2, 5000  # of the rows that are left out to compare with
_FEW_ROWS = 20  # for each landmark, which then is what it is because of them
_SMALL_COUNT = 5.0  # expected; below, counts are drawn at random instead of by chi-squared
_DRAWS = 9999
_EXCHANGES, _AT_A_TIME = 999, 27
_ROUNDING = 1e-9


@dataclass(frozen=True)
class _Comparison:
    """New rows and old ones, with clusters in the order of the model's."""

    new: ClusterFacts
    before: FactTotals
    old: ClusterFacts | None  # what the totals before are of, where there are rows
    holds: bool = True  # whether p-values are not too small

    @property
    def of(self) -> Mask:
        """Clusters that both have rows of."""
        return (self.before.mass > 0) & (self.new.totals.mass > 0)


def drift_of(model: Any, X: Any, random_state: Any = None) -> Drift:
    """How the rows of X differ from those that the model has seen; see ``GPOD.drift``."""
    rng = check_random_state(0 if random_state is None else random_state)
    keeps = model.affinity_.keeps
    if keeps == "sums":
        found = _by_sums(model, X)
    elif keeps == "rows":
        found = _by_rows_left_out(model, X, rng)
    else:
        raise ValueError(
            "model must keep rows, or sums over rows, to compare others with. Got one with "
            f"{type(model.affinity_).__name__}, which has neither; compare predictions."
        )
    now, before = found.new.totals, found.before
    p_shares = _p_of_shares(before.belongs, now.belongs, rng)
    numbers = model.cluster_numbers_.tolist()
    shares = np.column_stack([before.belongs / before.n_rows, now.belongs / now.n_rows])
    return Drift(
        n_rows=X.shape[0],
        n_compared=before.n_rows,
        without_support=Change(
            before.n_outside / before.n_rows, now.n_outside / now.n_rows, _p_outside(before, now)
        ),
        cut_value=_cut_change(found, rng),
        shares={
            number: (float(a), float(b)) for number, (a, b) in zip(numbers, shares, strict=True)
        },
        p_shares=p_shares,
        new_cluster=find_new_cluster(model, X),
        p_values_hold=found.holds,
    )


def _by_sums(model: Any, X: Array) -> _Comparison:
    before, new = FactTotals.of_sums(model.fitted_cut_), ClusterFacts.of(model.fitted_cut_, X)
    n_landmarks = len(model.affinity_.multiplicity_)
    are_few = before.n_rows < _FEW_ROWS * n_landmarks
    if are_few:
        warn_user(
            f"p-values are too small where landmarks have few rows: {n_landmarks} landmarks have "
            f"{before.n_rows:.0f}. Fit with fewer landmarks, or another affinity, for such data."
        )
    return _Comparison(new, before, None, not are_few)


def _by_rows_left_out(model: Any, X: Any, rng: np.random.RandomState) -> _Comparison:
    """By a model without some of the rows, which it has then not seen."""
    kept, counts = model.affinity_.rows_, model.affinity_.multiplicity_
    held = _held_out(counts, rng)
    fitted, columns = _fitted_without(model, counts - held)
    is_held = held > 0
    old = ClusterFacts.of(fitted, kept[is_held], held[is_held]).of_clusters(columns).each_row()
    return _Comparison(ClusterFacts.of(fitted, X).of_clusters(columns), old.totals, old)


def _held_out(counts: Array, rng: np.random.RandomState) -> Array:
    """How often each distinct row is left out."""
    n_rows = float(counts.sum())
    if (counts == np.rint(counts)).all():
        rows = np.repeat(np.arange(len(counts)), counts.astype(np.intp))
        some = rng.permutation(len(rows))[: min(_MOST_HELD, int(_HELD_SHARE * len(rows)))]
        found: Array = np.bincount(rows[some], minlength=len(counts)).astype(np.float64)
    else:
        some = rng.permutation(len(counts))[: min(_MOST_HELD, int(_HELD_SHARE * len(counts)))]
        found = np.zeros(len(counts))
        found[some] = counts[some]
    if not len(some):
        raise ValueError(
            f"model must have seen at least 5 rows to compare others with. Got {n_rows:g}; update "
            "it first."
        )
    return found


def _fitted_without(model: Any, counts: Array) -> tuple[Any, Indices]:
    """The cut of the rows that count, and its columns in the order of the model's clusters."""
    K, is_there = len(model.fitted_cut_.rotation), counts > 0
    estimator = clone(model).set_params(n_clusters=K, affinity=clone(model.affinity_), n_jobs=None)
    rows, weight = model.affinity_.rows_[is_there], counts[is_there]
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)  # what is odd about some of the rows
        fitted = estimator.set_params(verbose=False).fit(rows, sample_weight=weight).fitted_cut_
    before = model.fitted_cut_.partition.labels[is_there]
    after = fitted.labels(rows)
    return fitted, np.argsort(most_in_common(Shared(before, after, weight), K, K))


def _p_outside(before: FactTotals, now: FactTotals) -> float:
    """Of so many rows without support among the new ones, given how many there are in all."""
    n_before, n_now = round(before.n_rows), round(now.n_rows)
    outside = round(before.n_outside), round(now.n_outside)
    return float(hypergeom.sf(outside[1] - 1, n_before + n_now, sum(outside), n_now))


def _p_of_shares(before: Array, now: Array, rng: np.random.RandomState) -> float:
    """Pearson's test of equal shares; where counts are small, against counts drawn at random."""
    has_rows = before + now > 0
    before, now = before[has_rows], now[has_rows]
    total, n_before, n_now = before + now, before.sum(), now.sum()
    expected = total * n_now / (n_before + n_now)
    ratio = 1 + n_now / n_before  # the same deviation is in the counts before

    def deviation(counts: Any) -> Array:
        return np.asarray(ratio * ((counts - expected) ** 2 / expected).sum(axis=-1))

    seen = float(deviation(now))
    if min(expected.min(), (total - expected).min()) >= _SMALL_COUNT:
        return float(chi2.sf(seen, max(len(total) - 1, 1))) if len(total) > 1 else 1.0
    generator = np.random.default_rng(rng.randint(1 << 31))
    whole = np.rint(total).astype(np.int64)
    size = min(round(float(n_now)), int(whole.sum()))
    drawn = deviation(generator.multivariate_hypergeometric(whole, size, _DRAWS))
    return float((1 + (drawn >= seen * (1 - 1e-9)).sum()) / (1 + _DRAWS))


def _cut_change(found: _Comparison, rng: np.random.RandomState) -> Change:
    """The cut values of clusters that both have rows of, and whether they differ."""
    now, of = found.new.totals, found.of
    values = found.before.cut_value(of), now.cut_value(of)
    if found.old is not None:
        return Change(*values, _p_of_cut(found.old, found.new, of, rng))
    return Change(*values, _p_by_bound(found, abs(values[1] - values[0])))


def _p_by_bound(found: _Comparison, difference: float) -> float:
    """Bernstein's bound on how often cut values differ as much, where there are no old rows.

    Few rows carry a cut between clear clusters, so that no variance is to be had from new rows;
    but as a row has no more weight than mass, its variance is at most its mean times the largest.
    """
    of, now, before = found.of, found.new.totals, found.before
    if not of.any() or difference == 0:
        return 1.0
    mean = (now.mass[of] + before.mass[of]) / (now.n_rows + before.n_rows)
    leaves = (now.leaves[of] + before.leaves[of]) / (now.mass[of] + before.mass[of])
    largest = found.new.largest[of] / mean
    variance = float(largest @ leaves) * (1 / now.n_rows + 1 / before.n_rows)
    step = float(largest.max()) / min(now.n_rows, before.n_rows)
    return min(1.0, 2 * math.exp(-(difference**2) / (2 * (variance + step * difference / 3))))


def _p_of_cut(old: ClusterFacts, new: ClusterFacts, of: Mask, rng: np.random.RandomState) -> float:
    """How often old and new rows, exchanged at random, differ as much in their cut values."""
    new = new[rng.permutation(len(new.weight))[:_MOST_HELD]]
    weight = np.concatenate([old.weight, new.weight])[:, np.newaxis]
    of_rows = [(old.leaves, new.leaves), (old.mass, new.mass)]
    leaves, mass = (weight * np.vstack([a[:, of], b[:, of]]) for a, b in of_rows)

    def difference(is_old: Array) -> Array:
        values = []
        for is_in in (is_old, 1 - is_old):
            there = is_in @ mass
            values.append((is_in @ leaves / np.where(there > 0, there, 1.0)).sum(axis=-1))
        return np.abs(values[0] - values[1])

    is_old = np.repeat([1.0, 0.0], [len(old.weight), len(new.weight)])
    seen, n_as_far = float(difference(is_old)), 0
    for _ in range(_EXCHANGES // _AT_A_TIME):
        exchanged = np.array([rng.permutation(is_old) for _ in range(_AT_A_TIME)])
        n_as_far += int((difference(exchanged) >= seen * (1 - _ROUNDING)).sum())
    return (1 + n_as_far) / (1 + _EXCHANGES)
