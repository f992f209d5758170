"""Landmarks that have seen more rows: sums go on, and what no landmark represents gets some.

The sums E and Lambda are additive, so with the same landmarks they are those of a fit of all rows,
to the last bit, and only the new rows are passed over. Where clearly more of these are without
support than is usual, centres of them become landmarks too; what the older rows have added to the
sums stays with the older landmarks. Landmarks that decay to next to nothing are left out, and so
are all of a cluster that has gone; centres of the new rows take their places.
"""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.stats import binom

from eigencut._utils.arrays import Array, Indices
from eigencut.affinities.base import whole_or_real
from eigencut.affinities.density import LEAST_MASS, landmark_masses
from eigencut.exceptions import invalid
from eigencut.graphs.base import OutlierThreshold
from eigencut.graphs.landmarks import (
    QUANTUM,
    KeptSums,
    LandmarkGraph,
    Memberships,
    MembershipSums,
    RowUnits,
)
from eigencut.io.rows import Rows, as_rows
from eigencut.io.sample import RowSample
from eigencut.neighbors.metrics import in_form_of
from eigencut.neighbors.nearest_landmarks import NearestLandmarks

if TYPE_CHECKING:
    from eigencut.affinities.landmarks import Landmarks


@dataclass(frozen=True)
class Policy:
    """When landmarks come and go, as more rows are seen."""

    sampled_rows: int = 40_000  # New landmarks are centres of at most so many rows.
    many_decayed: float = 0.1  # Of the landmarks, for others to take their places.
    rows_per_landmark: float = 3.0  # At least, for others to take places.
    least_chance: float = 1e-3  # Of so many outliers, if nothing is new.
    least_ratio: float = 2.0  # Of the number of outliers to what is usual, for new landmarks;
    least_ratio_of_streams: float = 1.25  # where rows decay, less will do.
    least_share: float = 1 / 64  # Of the average; a landmark that stands for less has decayed.
    least_cluster: float = 1 / 10  # Of an average cluster; one with less has gone,
    dwindling: float = 1 / 4  # if its share of the new rows is less than so much of what it was.


POLICY = Policy()


@dataclass(frozen=True)
class Grown:
    """Landmarks after more rows."""

    affinity: Landmarks
    graph: LandmarkGraph  # Its rows are the new ones only
    # (n_landmarks_before,): where each of the landmarks that there were is now; -1 if it has
    # decayed.
    places: Indices
    n_new_landmarks: int


def grown(
    affinity: Landmarks,
    X: Any,
    sample_weight: Array | None,
    usual: OutlierThreshold,
    decay: float = 1.0,
    clusters: Indices | None = None,
) -> Grown:
    """Landmarks that have seen the rows of X too; those that there were stay as they are.

    ``usual`` says how many of the rows so far are outliers, and ``decay`` is what each of them
    counts from now on. Where rows decay, one of the ``clusters`` of the landmarks that has gone is
    forgotten as a whole: what is left of it would lie apart from all others, a cut clearer than any
    between clusters that are there.
    """
    kept = affinity.sums_
    if kept is None:
        expected = "have kept the sums over its rows to be updated"
        got = "a model from a file of format 1, which has none"
        raise invalid("model", expected, got, "fit it anew and save it")
    fresh, rows = copy(affinity), as_rows(X, sample_weight)
    usual = usual.decayed(decay)
    kept, places = _without_decayed(fresh, kept.decayed(decay), decay)
    look = partial(_Seen.in_block, affinity=fresh, least_support=usual.least, unit=kept.unit)
    seen: _Seen = rows.reduce(look, _Seen.added)
    n_decayed = _places_free(affinity, seen, kept, usual) if decay < 1.0 else 0
    n_missing = _landmarks_missing(fresh, seen, kept, usual, decay)
    if n_missing and seen.outside is not None:  # first, lest few of all centres be there
        excess = 1 - usual.share * seen.n_rows / seen.n_outside
        kept = _grow(fresh, _farthest(fresh, seen.outside, excess), kept, n_missing)
    if n_decayed > n_missing:
        kept = _grow(fresh, _sample(rows), kept, n_decayed - n_missing)
    if n_missing or n_decayed:
        seen = rows.reduce(look, _Seen.added)
    sums = kept.all_pairs().added(seen.sums)
    stays = np.ones(kept.n_landmarks, dtype=bool)
    if clusters is not None and decay < 1.0:
        stays = _of_living_clusters(clusters, places, kept, seen, affinity.n_nearest)
    while (is_there := sums.gram.any(axis=1) & stays).sum() < kept.n_landmarks:
        # No row is near enough to such a landmark, which then has no weight to be divided by.
        kept, moved = _only(fresh, kept, is_there)
        stays = stays[is_there]
        places = np.where(places >= 0, moved[places], -1)
        seen = rows.reduce(look, _Seen.added)
        sums = kept.all_pairs().added(seen.sums)
    members = seen.members if rows.in_memory else None
    is_whole = decay == 1.0 or (places >= 0).all()
    n_before = decay * affinity.n_rows_ if is_whole else float(kept.rows_at_landmarks.sum())
    fresh.n_rows_ = whole_or_real(n_before + seen.n_rows)
    support = usual.added(seen.n_outside, seen.n_rows)
    n_new = fresh._n_placed - int((places >= 0).sum())
    return Grown(fresh, fresh._graph(sums, members, support), places, n_new)


@dataclass(frozen=True)
class _Seen:
    """What one pass over rows tells."""

    sums: MembershipSums
    members: list[Memberships]
    outside: RowSample | None
    n_outside: float
    n_rows: float

    @classmethod
    def in_block(
        cls,
        block: Any,
        sample_weight: Array | None = None,
        *,
        affinity: Landmarks,
        least_support: float,
        unit: float,
    ) -> _Seen:
        """Of one block; ``unit`` is that of the sums that its own are to be added to."""
        counts = np.ones(block.shape[0]) if sample_weight is None else sample_weight
        is_plain = sample_weight is None and unit == QUANTUM
        row_units = None if is_plain else RowUnits.from_weights(counts, unit / QUANTUM)
        nearest, squared = affinity._nearest(block)
        members = Memberships(nearest, affinity._weights(squared))
        n_landmarks = affinity._n_placed
        sums = MembershipSums.compute(members, n_landmarks, affinity._masses_of(members), row_units)
        drawn, outside = None, np.flatnonzero(affinity._support(nearest, squared) < least_support)
        if len(outside):
            given = None if sample_weight is None else counts[outside]
            seed = int(affinity.random_state or 0)
            drawn = RowSample.of(block[outside], given, size=POLICY.sampled_rows, seed=seed)
        n_outside, n_rows = float(counts[outside].sum()), float(counts.sum())
        return cls(sums, [members.compact(n_landmarks)], drawn, n_outside, n_rows)

    def added(self, other: _Seen) -> _Seen:
        outside = self.outside or other.outside
        if self.outside is not None and other.outside is not None:
            outside = self.outside.merged(other.outside)
        return _Seen(
            self.sums.added(other.sums),
            self.members + other.members,
            outside,
            n_outside=self.n_outside + other.n_outside,
            n_rows=self.n_rows + other.n_rows,
        )


def _without_decayed(affinity: Landmarks, kept: KeptSums, decay: float) -> tuple[KeptSums, Indices]:
    """The sums without landmarks that hardly any row is left of, and where the others are now."""
    rows = kept.rows_at_landmarks
    places = np.arange(len(rows))
    is_left = rows >= POLICY.least_share * rows.mean()
    if decay == 1.0 or is_left.all() or is_left.sum() <= affinity.n_nearest:
        return kept, places
    return _only(affinity, kept, is_left)


def _of_living_clusters(
    clusters: Indices, places: Indices, kept: KeptSums, seen: _Seen, n_nearest: int
) -> Any:
    """Which landmarks are of clusters that have not gone, or of none so far.

    A cluster has gone if next to nothing is left of it and the new rows bring hardly any: one that
    is always small stays.
    """
    K = int(clusters.max()) + 1
    of_landmark = np.full(kept.n_landmarks, K)
    of_landmark[places[places >= 0]] = clusters[places >= 0]
    old, new = (
        np.bincount(of_landmark, sums.rows_at_landmarks, K + 1)[:K] for sums in (kept, seen.sums)
    )
    rows = old + new
    is_gone = rows < POLICY.least_cluster * rows[rows > 0].mean()
    is_gone &= new * old.sum() < POLICY.dwindling * old * seen.n_rows
    stays = ~np.append(is_gone, False)[of_landmark]
    return stays if stays.sum() > n_nearest else np.ones(len(stays), dtype=bool)


def _only(affinity: Landmarks, kept: KeptSums, is_left: Any) -> tuple[KeptSums, Indices]:
    """Some of the landmarks and their sums, and where each of all is now; -1 if it is not."""
    places = np.where(is_left, np.cumsum(is_left) - 1, -1)
    if affinity.masses_ is not None:
        affinity.masses_ = affinity.masses_[is_left]
    affinity._place(affinity.landmarks_[is_left], n_rows=0)
    return kept.moved(places, int(is_left.sum())), places


def _landmarks_missing(
    affinity: Landmarks, seen: _Seen, kept: KeptSums, usual: OutlierThreshold, decay: float
) -> int:
    """How many landmarks the rows without support are worth; none if they are as usual."""
    expected = usual.share * seen.n_rows
    ratio = POLICY.least_ratio if decay == 1.0 else POLICY.least_ratio_of_streams
    if seen.outside is None or seen.n_outside < ratio * expected:
        return 0
    if _chance(seen, usual) > POLICY.least_chance:
        return 0
    per_landmark = (kept.rows_at_landmarks.sum() + seen.n_rows) / kept.n_landmarks
    worth = (seen.n_outside - expected) / per_landmark
    if worth < 1:
        return 0
    # Rows there must not be members of landmarks elsewhere, even if they are two clusters.
    least, most = 4 * affinity.n_nearest, affinity.n_landmarks
    return min(max(round(worth), least), most, len(seen.outside.counts))


def _places_free(affinity: Landmarks, seen: _Seen, kept: KeptSums, usual: OutlierThreshold) -> int:
    """How many landmarks centres of the new rows may be, in place of those that have decayed."""
    n_rows = (float(kept.rows_at_landmarks.sum()) + seen.n_rows) / usual.one_row
    wanted = min(affinity.n_landmarks, int(n_rows / POLICY.rows_per_landmark))
    n_free = wanted - kept.n_landmarks
    return n_free if n_free >= POLICY.many_decayed * wanted else 0


def _farthest(affinity: Landmarks, sample: RowSample, share: float) -> RowSample:
    """The share of the rows with the least support: others are usual, and say nothing new."""
    order = np.argsort(affinity._support(*affinity._nearest(sample.rows)), kind="stable")
    counted = np.cumsum(sample.counts[order])
    some = np.sort(order[: int(np.searchsorted(counted, share * counted[-1])) + 1])
    return replace(
        sample, keys=sample.keys[some], rows=sample.rows[some], counts=sample.counts[some]
    )


def _some(sample: RowSample, n_rows: int) -> RowSample:
    """So many of the rows, which are in random order, that count as much as all together."""
    some = slice(None, n_rows)
    counts = sample.counts[some] * (sample.counts.sum() / sample.counts[some].sum())
    return replace(sample, keys=sample.keys[some], rows=sample.rows[some], counts=counts)


def _chance(seen: _Seen, usual: OutlierThreshold) -> float:
    """Of so many rows without support, if they are as usual; in ordinary rows."""
    n_outside, n_rows = (round(n / usual.one_row) for n in (seen.n_outside, seen.n_rows))
    return float(binom.sf(n_outside - 1, n_rows, usual.share))


def _sample(rows: Rows) -> RowSample:
    draw = partial(RowSample.of, size=POLICY.sampled_rows, seed=0)
    found: RowSample = rows.reduce(draw, RowSample.merged)
    return found


def _grow(affinity: Landmarks, sample: RowSample, kept: KeptSums, n_new: int) -> KeptSums:
    """Put centres of the rows behind the landmarks that there are; the sums have room for them."""
    before = affinity.landmarks_
    n_new = min(n_new, len(sample.counts))
    sample = _some(sample, affinity.sampled_per_landmark * n_new)
    centres = affinity._chosen(sample, n_new)
    # As at a fit, a centre of next to no rows would only be a cheap cut.
    search = NearestLandmarks(centres, 1, metric=affinity._metric)
    group = search(in_form_of(centres, sample.rows))[0][:, 0]
    counts = np.bincount(group, sample.counts, centres.shape[0])
    centres = in_form_of(before, centres[counts >= affinity.least_rows * counts.mean()])
    stacked = sparse.vstack if sparse.issparse(before) else np.vstack
    affinity._place(stacked([before, centres]), n_rows=0)
    if affinity.masses_ is not None:
        affinity.masses_ = _masses(affinity, sample, kept.rows_at_landmarks)
    return kept.moved(np.arange(before.shape[0]), affinity._n_placed)


def _masses(affinity: Landmarks, sample: RowSample, rows_before: Array) -> Array:
    """Those that there are, and of new landmarks in the same units."""
    n_before, masses = len(rows_before), affinity.masses_
    assert masses is not None
    nearest, squared = affinity._nearest(sample.rows)
    members = Memberships(nearest, affinity._weights(squared))
    counts = members.gather(sample.counts[:, np.newaxis], affinity._n_placed)[:, 0]
    counts[:n_before] += rows_before
    beta = float(affinity.density_contrast)
    anew = landmark_masses(counts, affinity._spacing, affinity.n_columns_, beta=beta)
    unit = float(np.median(masses / anew[:n_before]))
    return np.concatenate([masses, np.clip(unit * anew[n_before:], LEAST_MASS, 1.0)])
