"""Landmarks: a graph of any number of rows that is as small as the number of landmarks.

Every row x belongs to its r nearest of p landmarks y_j, with weights z_j(x) that sum to 1:

    W(x, x') = n m(x) m(x') z(x)^T V^-1 z(x'),    V = diag(sum_i m(x_i) z(x_i)).

m(x), the degree of x, is 1, or with density contrast beta the average ``z(x)^T rho^(2 beta)``. The
eigenvectors of NCut are ``U = Z c``. The table c (p x K) comes from the graph on landmarks: there
landmark j stands for ``Lambda_j = sum_i z_j(x_i)`` rows, and ``W(y_j, y_l) = n E_jl / (Lambda_j
Lambda_l)`` with ``E = Z^T M Z``. So a fit needs only the sums E and Lambda of the rows, which it
computes block by block. With contrast, RatioCut is solved on the landmarks.

``grown`` adds more rows to the sums. If unusually many of them are far from all landmarks, their
centres become landmarks too. Landmarks whose rows have decayed to almost nothing are left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import dataclass, replace
from functools import partial, reduce
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import csr_array, issparse, vstack

from eigencut import kernels
from eigencut._utils.arrays import SQUARABLE, TINY, Array, Indices
from eigencut._utils.memory import MEMORY, FitSizes, dense_solver_bytes
from eigencut._utils.running import for_each, n_threads, row_blocks
from eigencut._utils.validation import check_choice, check_count, is_integer, is_real
from eigencut.affinities.base import (
    LEAST_MASS,
    Affinity,
    Product,
    check_contrast,
    landmark_masses,
    whole_or_real,
)
from eigencut.exceptions import invalid
from eigencut.graphs.base import Graph, OutlierThreshold, shares_of_votes
from eigencut.graphs.complete import (
    EMBEDDING_ENTRIES,
    QUANTUM,
    LandmarkGraph,
    Memberships,
    MembershipSums,
    RowSupport,
    RowUnits,
    SymmetricTiles,
)
from eigencut.io.rows import BLOCK_ROWS, as_rows, refuse_all_zero, rows_of_block
from eigencut.io.sample import RowSample, as_number
from eigencut.io.state_reader import StateReader, csr_state
from eigencut.neighbors.metrics import METRICS, distinct_rows, in_form_of, warn_about_radians
from eigencut.neighbors.search import POLICY as SEARCH_POLICY
from eigencut.neighbors.search import NearestLandmarks, kmeans_centres

LEAST_WIDTH = 1e-6  # squared, in units of squared distances, which are rounded below


class Landmarks(Affinity):
    """Affinity through landmarks: for millions of rows, and for rows that do not fit in memory.

    Parameters
    ----------
    n_landmarks : int, default=1000
        The number p of landmarks: centres of k-means on a sample of ``40 n_landmarks`` rows; with
        "hamming" and "jaccard", rows of this sample. There are at most as many as different rows.
    n_nearest : int, default=5
        The number r of landmarks that each row is compared with.
    sigma : float or "auto", default="auto"
        Bandwidth of the weights of a row x to its landmarks, ``exp(-|x - y_j|^2 / (2 sigma^2))``.
        "auto" is 0.45 times ``sqrt(b^2 - a^2)``, a and b being the distances to the nearest and the
        farthest of the landmarks of x.
    density_contrast : float, default=1.0
        beta >= 0: weights are multiplied by ``(rho(x) rho(y))^beta``, rho being the density around
        a row. With a larger beta, clusters meet where rows are sparse. See ``docs/parameters.md``.
    metric : str, default="euclidean"
        As for ``GPOD``. Sigma is in its units.
    random_state : int or None, default=None
        The seed of the sample. None means 0.

    Attributes
    ----------
    landmarks_ : array or sparse array of shape (p, n_features)
        The landmarks; a sparse array if the rows are sparse.
    multiplicity_ : array of shape (p,)
        How many rows each landmark stands for.
    masses_ : array of shape (p,), or None
        ``rho^(2 beta)`` of each landmark, in units of the largest; None without contrast.
    sums_ : MembershipSums, or None
        The exact sums E and Lambda, to which ``GPOD.update`` adds more rows.

    References
    ----------
    .. [1] X. Chen, D. Cai, "Large Scale Spectral Clustering with Landmark-Based Representation",
       AAAI Conference on Artificial Intelligence, 2011.
    .. [2] D. Huang, C.-D. Wang, J.-S. Wu, J.-H. Lai, C.-K. Kwoh, "Ultra-Scalable Spectral
       Clustering and Ensemble Clustering", IEEE Transactions on Knowledge and Data Engineering
       32(6), 1212-1226, 2020.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Landmarks
    >>> X, _ = make_moons(5000, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Landmarks(n_landmarks=200)).fit(X)
    >>> model.affinity_.landmarks_.shape
    (200, 2)
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    _saved_as: ClassVar[str] = "Landmarks"
    _retired_parameters: ClassVar[dict[str, Any]] = {"selection": "kmeans"}

    form = "landmarks"
    streams = True
    accepts_sparse = True
    keeps = "sums"
    sampled_per_landmark: ClassVar[int] = 40  # sampled rows, for k-means
    least_rows: ClassVar[float] = 1 / 8  # of a landmark, in units of the mean
    _rows_at_a_time: ClassVar[int] = 16384  # per thread

    landmarks_: Any
    masses_: Array | None
    sums_: MembershipSums | None
    local_scale: float
    from_nearest: bool  # whether local bandwidths use b^2 - a^2, or b^2 as in older files

    def __init__(
        self,
        n_landmarks: int = 1000,
        n_nearest: int = 5,
        *,
        sigma: float | str = "auto",
        density_contrast: float = 1.0,
        metric: str = "euclidean",
        random_state: int | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.n_nearest = n_nearest
        self.sigma = sigma
        self.density_contrast = density_contrast
        self.metric = metric
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_landmarks", self.n_landmarks, "use the default of 1000", most=2**32)
        check_count("n_nearest", self.n_nearest, "use the default of 5", most=2**32)
        check_choice("metric", self.metric, tuple(METRICS))
        check_contrast(self.density_contrast)
        seed, sigma = self.random_state, self.sigma
        if seed is not None and not (is_integer(seed) and seed >= 0):
            expected = "be a non-negative integer or None"
            raise invalid("random_state of Landmarks", expected, repr(seed), "use random_state=0")
        if sigma != "auto" and not (is_real(sigma) and 0 < float(sigma) < np.inf):
            expected, remedy = "be a positive number or 'auto'", "use sigma='auto' if unsure"
            raise invalid("sigma of Landmarks", expected, repr(sigma), remedy)

    def _refuse_sparse(self, X: Any) -> None:
        if issparse(X) and not self._metric.takes_sparse:
            remedy = "use metric='euclidean' or 'cosine', or X.toarray()"
            raise invalid("X", f"be dense with metric={self.metric!r}", "sparse rows", remedy)

    def fit_graph(self, X: Any, sample_weight: Array | None = None) -> LandmarkGraph:
        """Sample the rows to place landmarks, then pass over all rows for the sums E and Lambda."""
        self._check_parameters()
        self._refuse_sparse(X)
        self.local_scale, self.from_nearest = 0.45, True
        rows, size = as_rows(X, sample_weight), self.sampled_per_landmark * self.n_landmarks
        draw = partial(RowSample.draw, size=size, seed=int(self.random_state or 0))
        placed = rows.reduce(draw, RowSample.merged, self._placed)
        landmarks, self.masses_, support, n_rows, self.n_rows_ = placed
        self._place(landmarks, n_rows)
        kept: list[Memberships] | None = [] if rows.in_memory else None
        one = RowUnits.suited_to(self.n_rows_, n_rows)
        sums = rows.reduce(partial(self._sums, one_row=one, kept=kept), MembershipSums.added)
        return self._graph(sums, kept, support)

    def memory_bytes(self, sizes: FitSizes) -> float:
        self._check_parameters()
        p, r = self.n_landmarks, self.n_nearest
        n, d, K = sizes.n_rows, sizes.n_features, sizes.n_clusters
        embeds = (n or 0) * K <= EMBEDDING_ENTRIES
        sums = 8.0 * p * p + dense_solver_bytes(p, K)
        # Centres of sparse rows have together at most as many entries as the sample.
        of_centres = MEMORY.sparse_centre if sizes.is_sparse else 0.0
        of_sample = min(n or math.inf, 40 * p) * ((24 + of_centres) * d + 100)
        has_cells = d <= SEARCH_POLICY.cell_features and (n is None or n >= SEARCH_POLICY.many_rows)
        of_search = 3e6 * n_threads() + (20e3 * p if has_cells else 0.0)
        block = BLOCK_ROWS if n is None else min(n, rows_of_block(d))
        of_block = block * (32 * d + 24 * r + 48)
        of_block += kernels.chosen.membership_sums_bytes(block, r)
        of_rows = (n or 0) * (10 * r + 16 + (16 * K if embeds else 0))
        return MEMORY.imports + sums + of_sample + of_search + of_block + of_rows

    def _placed(self, sample: RowSample) -> tuple[Any, Array | None, RowSupport, int, float]:
        """Return sorted landmarks, masses, the sample's support, n, and the sum of weights."""
        refuse_all_zero(len(sample.counts))
        p = min(self.n_landmarks, len(sample.counts))
        warn_about_radians(self.metric, sample.rows)
        self._place(self._chosen(sample, p), sample.n_rows)
        self._place(self.landmarks_[self._is_wanted(sample.rows)], sample.n_rows)
        nearest, squared = self._nearest(sample.rows)
        supports = self._support_without_own(sample, nearest, squared)
        support = RowSupport(supports, sample.counts, self._n_placed)
        members, masses = Memberships(nearest, self._weights(squared)), None
        if self.density_contrast:
            masses = self._masses_by(members, sample.counts)
        return self.landmarks_, masses, support, sample.n_rows, as_number(sample.total)

    def _masses_by(self, members: Memberships, counts: Array, before: Any = 0.0) -> Array:
        """Return the masses of landmarks from their rows: sampled ones, and those ``before``."""
        rows = members.gather(counts[:, np.newaxis], self._n_placed)[:, 0] + before
        beta = float(self.density_contrast)
        return landmark_masses(rows, self._spacing, self.n_columns_, beta=beta)

    def _chosen(self, sample: RowSample, n_landmarks: int) -> Any:
        """Choose landmarks for the rows of a sample; return them in lexicographic order."""
        points = self._metric.points(sample.rows)
        if self._metric.has_means:
            points = kmeans_centres(points, sample.counts, n_landmarks)
        return distinct_rows(points[:n_landmarks], metric=self._metric.of_points).rows

    def _is_wanted(self, rows: Any) -> Any:
        """Return which landmarks have enough rows: one with few would be cheap to cut off."""
        nearest, squared = self._nearest(rows)
        if not self._metric.has_means:
            return np.bincount(nearest.ravel(), minlength=self._n_placed) > 0
        counts = np.bincount(first_landmarks(nearest, squared), minlength=self._n_placed)
        return counts >= self.least_rows * counts.mean()

    def _sums(
        self,
        block: Any,
        sample_weight: Array | None = None,
        *,
        one_row: float,
        kept: list[Memberships] | None,
    ) -> MembershipSums:
        """Return the sums of one block of rows; append its memberships to ``kept``, if a list."""
        members, p = self._memberships(block), self._n_placed
        if kept is not None:
            kept.append(members.compact(p))
        units = None if sample_weight is None else RowUnits.from_weights(sample_weight, one_row)
        return MembershipSums.compute(members, p, self._masses_of(members), units)

    def _graph(
        self,
        sums: MembershipSums,
        members: list[Memberships] | None,
        support: RowSupport | OutlierThreshold,
    ) -> LandmarkGraph:
        n, gram, rows = self.n_rows_, sums.gram, sums.rows_at_landmarks
        weights = n * gram / rows / rows[:, np.newaxis]
        tiles = SymmetricTiles.compute(len(rows), lambda i, j: weights[i, j])
        self.sums_, self.multiplicity_ = sums, rows
        self.self_weights_ = weights.diagonal().copy()
        self._volumes = gram.sum(axis=1)  # the diagonal of V, as rows of Z sum to 1
        self.largest_weight_ = float(n / self._volumes.min())  # no mass is above 1
        return LandmarkGraph(tiles, rows, n, members, support)

    @property
    def landmark_rows_(self) -> Any:
        """The landmarks in the form of rows of X."""
        return self._metric.rows(self.landmarks_)

    @property
    def n_columns_(self) -> int:
        return self._metric.n_columns or int(self.landmarks_.shape[1])

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        places = csr_state(self.landmarks_) if issparse(self.landmarks_) else self.landmarks_
        of_width = {"local_scale": self.local_scale, "from_nearest": int(self.from_nearest)}
        own: dict[str, Any] = {"landmarks": places} | of_width
        if self.masses_ is not None:
            own["contrast"] = {"masses": self.masses_, "volumes": self._volumes}
        if self.sums_ is not None:
            own["sums"] = self.sums_._state()
        return super()._state(include_training_data) | own

    def _restore(self, state: StateReader) -> None:
        if "contrast" not in state:  # files from before density contrast
            self.density_contrast = 0.0
        self._check_parameters()
        super()._restore(state)
        p, has_scale = len(self.multiplicity_), "local_scale" in state
        self.local_scale = state.number("local_scale", 1e-3, 1.0) if has_scale else 0.4
        self.from_nearest = "from_nearest" in state and bool(state.integer("from_nearest", 0, 1))
        # How many rows will come is unknown; the search makes its cells once many have come.
        if "landmarks" in state.groups():
            self._place(state.csr("landmarks", p), n_rows=0)
            self._refuse_sparse(self.landmarks_)
        else:
            shape = (p, self._metric.n_coordinates)
            landmarks = state.coordinates("landmarks", shape)
            self._place(landmarks if self._metric.has_means else self._metric.points(landmarks), 0)
        self.masses_, self._volumes = None, self.multiplicity_
        if "contrast" in state:
            contrast = state.part("contrast")
            self.masses_ = contrast.array("masses", (p,), LEAST_MASS, 1.0)
            self._volumes = contrast.array("volumes", (p,), 1e-30, float(self.n_rows_))
        self.sums_ = None
        if "sums" in state:  # files of format 1 have none
            self.sums_ = MembershipSums._restored(state.part("sums"), p)
            found = self.sums_.rows_at_landmarks
            if not np.allclose(found, self.multiplicity_, rtol=self.saved_rounding):
                raise ValueError("sums must agree with multiplicity.")

    @property
    def _n_placed(self) -> int:
        """p, the number of landmarks in use."""
        return int(self.landmarks_.shape[0])

    def _place(self, landmarks: Any, n_rows: int) -> None:
        self.landmarks_, metric = landmarks, self._metric
        r = min(self.n_nearest, self._n_placed)
        self._search = NearestLandmarks(landmarks, r, n_rows, metric)
        # Each landmark's distance to the farthest of its own r nearest landmarks.
        n_near = min(max(2, self.n_nearest), self._n_placed)
        _, squared = NearestLandmarks(landmarks, n_near, metric=metric).of_points(landmarks)
        self._spacing = np.maximum(squared.max(axis=1), TINY)  # in units of the search

    def _memberships(self, X: Any) -> Memberships:
        """Return the memberships of rows in landmarks, which are rows of Z."""
        return Memberships(*self._nearest(X, self._weights))

    def _nearest(
        self, X: Any, function: Callable[[Array], Array] = np.asarray
    ) -> tuple[Indices, Array]:
        """Return the r nearest landmarks of each row, and a function of their squared distances."""
        nearest = np.empty((X.shape[0], self._search.n_nearest), dtype=np.intp)
        values = np.empty(nearest.shape)

        def fill(rows: slice) -> None:
            nearest[rows], squared = self._search_block(X[rows])
            values[rows] = function(squared)

        for_each(fill, self._blocks_of(X))
        return nearest, values

    def _search_block(self, block: Any) -> tuple[Indices, Array]:
        """Return the same for one block of rows."""
        return self._search(in_form_of(self.landmarks_, block).astype(np.float64, copy=False))

    def _blocks_of(self, X: Any) -> Iterator[slice]:
        """Return blocks of rows, as slices; a search of sparse landmarks divides them further."""
        width = 0 if issparse(X) and issparse(self.landmarks_) else X.shape[1]
        most = 1 << 21  # numbers
        return row_blocks(X.shape[0], max(width, most // self._rows_at_a_time), most)

    def _masses_of(self, members: Memberships) -> Array | None:
        """Return m(x) of rows with these memberships; None if it is 1 everywhere."""
        if self.masses_ is None:
            return None
        masses, table = np.empty(len(members)), self.masses_[:, np.newaxis]

        def fill(rows: slice) -> None:
            masses[rows] = members[rows].average(table)[:, 0]

        for_each(fill, row_blocks(len(members), 1, self._rows_at_a_time))
        return masses

    def _weights(self, squared: Array) -> Array:
        """Return z(x), from squared distances to the r nearest landmarks."""
        # Relative to the nearest landmark, so that not all of them can underflow.
        # Column by column, as there are few: much faster than along rows.
        nearest = reduce(np.minimum, squared.T)[:, np.newaxis]
        excess, farthest = squared - nearest, reduce(np.maximum, squared.T)[:, np.newaxis]
        if self.sigma == "auto":
            width = farthest - nearest if self.from_nearest else farthest
            width = self.local_scale**2 * np.maximum(width, LEAST_WIDTH * farthest)
        else:
            width = np.asarray(self._sigma_in_units() ** 2)
        weights = np.exp(-0.5 * excess / np.maximum(width, TINY))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _sigma_in_units(self) -> float:
        """Return sigma in the units of the search."""
        return float(np.clip(np.ldexp(float(self.sigma), -self._search.exponent), *SQUARABLE))

    def _support(self, nearest: Indices, squared: Array) -> Array:
        """Return ``-1/2 (d_r(x) / d_r(y))^2``, y nearest to x, d_r the r-th landmark distance."""
        first = first_landmarks(nearest, squared)
        return np.asarray(-0.5 * squared.max(axis=1) / self._spacing[first])

    def _support_without_own(self, sample: RowSample, nearest: Indices, squared: Array) -> Array:
        """Return the support of sampled rows; if a row is a landmark, leave this one out."""
        # Otherwise, with as many landmarks as rows, only training rows would have support.
        support, first = self._support(nearest, squared), first_landmarks(nearest, squared)
        is_landmark = squared.min(axis=1) <= LEAST_WIDTH**2 * self._spacing[first]
        is_landmark &= sample.counts <= np.median(sample.counts)
        own = np.flatnonzero(is_landmark)
        if not len(own) or self._n_placed <= self._search.n_nearest:
            return support
        rows = in_form_of(self.landmarks_, sample.rows[own]).astype(np.float64, copy=False)
        n_near = self._search.n_nearest + 1
        near, squared = NearestLandmarks(self.landmarks_, n_near, metric=self._metric)(rows)
        is_own = near == first[own, np.newaxis]
        y = first_landmarks(near, np.where(is_own, np.inf, squared))
        farthest = np.where(is_own, 0.0, squared).max(axis=1)
        support[own] = -0.5 * farthest / self._spacing[y]
        return support

    def apply(self, X: Any, V: Array) -> Product:
        n = X.shape[0]
        values, support, log_scale = np.empty((n, V.shape[1])), np.empty(n), np.zeros(n)

        def fill(rows: slice) -> None:
            nearest, squared = self._search_block(X[rows])
            members = Memberships(nearest, self._weights(squared))
            values[rows] = members.average(V)
            support[rows] = self._support(nearest, squared)
            masses = self._masses_of(members)
            if masses is not None:
                log_scale[rows] = np.log(masses)

        for_each(fill, self._blocks_of(X))
        return Product(values, np.ones(n), log_scale, support)

    def shares(self, X: Any, labels: Indices, n_clusters: int) -> tuple[Any, Array]:
        blocks = list(self._blocks_of(X))
        found, support = [csr_array((0, n_clusters))] * len(blocks), np.empty(X.shape[0])

        def fill(place: int) -> None:
            nearest, squared = self._search_block(X[blocks[place]])
            found[place] = shares_of_votes(self._weights(squared), labels[nearest], n_clusters)
            support[blocks[place]] = self._support(nearest, squared)

        for_each(fill, range(len(blocks)))
        return vstack([csr_array((0, n_clusters)), *found], format="csr"), support

    def shares_at_vertices(self, graph: Graph, labels: Indices, n_clusters: int) -> Any:
        n = len(labels)
        return csr_array((np.ones(n), labels, np.arange(n + 1)), shape=(n, n_clusters))

    def averages_at_vertices(self, graph: Graph, V: Array) -> Array:
        return V

    def within(self, X: Any, V: Array) -> Array:
        members = self._memberships(X)
        masses = self._masses_of(members)
        mass = 1.0 if masses is None else masses[:, np.newaxis]
        gathered = members.gather(mass * V, self._n_placed)
        return mass * members.average(self.n_rows_ / self._volumes[:, np.newaxis] * gathered)

    def most_similar_vertices(self, vertices: Indices, among: Indices) -> Indices:
        asked, possible = self.landmarks_[vertices], self.landmarks_[among]
        if issparse(asked):
            search = NearestLandmarks(possible, 1, metric=self._metric)
            return among[search.of_points(asked)[0][:, 0]]
        return among[self._metric.nearest(asked, possible)]

    def connection_hint(self) -> str:
        return "Use a larger n_nearest, or fewer landmarks."


def first_landmarks(nearest: Indices, squared: Array) -> Indices:
    """Return the nearest landmark of each row, from its r nearest."""
    return np.take_along_axis(nearest, squared.argmin(axis=1)[:, np.newaxis], axis=1)[:, 0]


@dataclass(frozen=True)
class Policy:
    """When updates add landmarks, and when they leave some out."""

    sampled_rows: int = 40_000  # New landmarks are centres of at most this many rows.
    many_decayed: float = 0.1  # New landmarks replace decayed ones if these are at least this share
    rows_per_landmark: float = 3.0  # and landmarks have this many rows on average.
    least_chance: float = 1e-3  # Outliers get landmarks if their number is less probable than this,
    least_ratio: float = 2.0  # and at least this many times the usual number,
    least_ratio_of_streams: float = 1.25  # or this many times if rows decay.
    least_share: float = 1 / 64  # Of the average rows of a landmark; with fewer, it has decayed.
    least_cluster: float = 1 / 10  # Of the average rows of a cluster; with fewer, it has gone,
    dwindling: float = 1 / 4  # if its share of the new rows is below this times its old share.


POLICY = Policy()


@dataclass(frozen=True)
class Grown:
    """Landmarks and their graph after an update with more rows."""

    affinity: Landmarks
    graph: LandmarkGraph  # Its rows are the new ones only
    places: Indices  # (n_landmarks_before,): where each landmark is now; -1 if it has decayed
    n_new_landmarks: int


def grown(
    affinity: Landmarks,
    X: Any,
    sample_weight: Array | None,
    usual: OutlierThreshold,
    decay: float = 1.0,
    clusters: Indices | None = None,
) -> Grown:
    """Return a copy of the landmarks updated by the rows of X, with old landmarks in place."""
    kept = affinity.sums_
    if kept is None:
        expected = "have kept the sums over its rows to be updated"
        raise invalid("model", expected, "a file of format 1, which has no sums", "fit it again")
    fresh, rows, usual = copy(affinity), as_rows(X, sample_weight), usual.decayed(decay)
    kept = kept.decayed(decay)
    places, n_rows = np.arange(kept.n_landmarks), kept.rows_at_landmarks
    is_left = n_rows >= POLICY.least_share * n_rows.mean()
    if decay < 1.0 and not is_left.all() and is_left.sum() > fresh.n_nearest:
        kept, places = _only(fresh, kept, is_left)  # drop landmarks with hardly any rows
    look = partial(
        _Seen.in_block,
        affinity=fresh,
        least_support=usual.least,
        unit=kept.unit,
        keeps=rows.in_memory,
    )
    seen: _Seen = rows.reduce(look, _Seen.added)
    n_decayed = _places_free(affinity, seen, kept, usual) if decay < 1.0 else 0
    n_missing = _landmarks_missing(fresh, seen, kept, usual, decay)
    if n_missing and seen.outside is not None:  # first, as few of all centres would be there
        excess = 1 - usual.share * seen.n_rows / seen.n_outside
        kept = _grow(fresh, _farthest(fresh, seen.outside, excess), kept, n_missing)
    if n_decayed > n_missing:
        draw = partial(RowSample.draw, size=POLICY.sampled_rows, seed=0)
        kept = _grow(fresh, rows.reduce(draw, RowSample.merged), kept, n_decayed - n_missing)
    if n_missing or n_decayed:
        seen = rows.reduce(look, _Seen.added)
    sums = kept.added(seen.sums)
    stays = np.ones(kept.n_landmarks, dtype=bool)
    if clusters is not None and decay < 1.0:
        stays = _of_living_clusters(clusters, places, kept, seen, affinity.n_nearest)
    while (is_there := sums.gram.any(axis=1) & stays).sum() < kept.n_landmarks:
        # A landmark without any near row has no weight, so that divisions by it would fail.
        kept, moved = _only(fresh, kept, is_there)
        stays = stays[is_there]
        places = np.where(places >= 0, moved[places], -1)
        seen = rows.reduce(look, _Seen.added)
        sums = kept.added(seen.sums)
    members = seen.members if rows.in_memory else None
    is_whole = decay == 1.0 or (places >= 0).all()
    n_before = decay * affinity.n_rows_ if is_whole else float(kept.rows_at_landmarks.sum())
    fresh.n_rows_ = whole_or_real(n_before + seen.n_rows)
    support = usual.added(seen.n_outside, seen.n_rows)
    n_new = fresh._n_placed - int((places >= 0).sum())
    return Grown(fresh, fresh._graph(sums, members, support), places, n_new)


@dataclass(frozen=True)
class _Seen:
    """Sums, memberships and outliers from one pass over new rows."""

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
        keeps: bool,
    ) -> _Seen:
        """Compute them for one block; ``unit`` is that of the sums that they will be added to."""
        counts = np.ones(block.shape[0]) if sample_weight is None else sample_weight
        is_plain = sample_weight is None and unit == QUANTUM
        row_units = None if is_plain else RowUnits.from_weights(counts, unit / QUANTUM)
        nearest, squared = affinity._nearest(block)
        members, n_landmarks = Memberships(nearest, affinity._weights(squared)), affinity._n_placed
        sums = MembershipSums.compute(members, n_landmarks, affinity._masses_of(members), row_units)
        drawn, outside = None, np.flatnonzero(affinity._support(nearest, squared) < least_support)
        if len(outside):
            given = None if sample_weight is None else counts[outside]
            seed = int(affinity.random_state or 0)
            drawn = RowSample.draw(block[outside], given, size=POLICY.sampled_rows, seed=seed)
        n_outside, n_rows = float(counts[outside].sum()), float(counts.sum())
        compact = [members.compact(n_landmarks)] if keeps else []
        return cls(sums, compact, drawn, n_outside, n_rows)

    def added(self, other: _Seen) -> _Seen:
        outside = self.outside or other.outside
        if self.outside is not None and other.outside is not None:
            outside = self.outside.merged(other.outside)
        return _Seen(
            sums=self.sums.added(other.sums),
            members=self.members + other.members,
            outside=outside,
            n_outside=self.n_outside + other.n_outside,
            n_rows=self.n_rows + other.n_rows,
        )


def _of_living_clusters(
    clusters: Indices, places: Indices, kept: MembershipSums, seen: _Seen, n_nearest: int
) -> Any:
    """Return which landmarks are new, or belong to clusters that have not gone."""
    K = int(clusters.max()) + 1
    of_landmark = np.full(kept.n_landmarks, K)
    of_landmark[places[places >= 0]] = clusters[places >= 0]
    old = np.bincount(of_landmark, kept.rows_at_landmarks, K + 1)[:K]
    new = np.bincount(of_landmark, seen.sums.rows_at_landmarks, K + 1)[:K]
    rows = old + new
    is_gone = rows < POLICY.least_cluster * rows[rows > 0].mean()
    is_gone &= new * old.sum() < POLICY.dwindling * old * seen.n_rows
    stays = ~np.append(is_gone, False)[of_landmark]
    return stays if stays.sum() > n_nearest else np.ones(len(stays), dtype=bool)


def _only(
    affinity: Landmarks, kept: MembershipSums, is_left: Any
) -> tuple[MembershipSums, Indices]:
    """Leave landmarks out; return the sums of the others, and each one's new number, or -1."""
    places = np.where(is_left, np.cumsum(is_left) - 1, -1)
    if affinity.masses_ is not None:
        affinity.masses_ = affinity.masses_[is_left]
    affinity._place(affinity.landmarks_[is_left], n_rows=0)
    return kept.moved(places, int(is_left.sum())), places


def _landmarks_missing(
    affinity: Landmarks, seen: _Seen, kept: MembershipSums, usual: OutlierThreshold, decay: float
) -> int:
    """Return how many landmarks to add for outliers: 0 if there are no more than usual."""
    from scipy.stats import binom

    expected = usual.share * seen.n_rows
    ratio = POLICY.least_ratio if decay == 1.0 else POLICY.least_ratio_of_streams
    if seen.outside is None or seen.n_outside < ratio * expected:
        return 0
    # The probability of this many outliers at the usual rate, in ordinary rows.
    n_outside, n_rows = (round(n / usual.one_row) for n in (seen.n_outside, seen.n_rows))
    if binom.sf(n_outside - 1, n_rows, usual.share) > POLICY.least_chance:
        return 0
    per_landmark = (kept.rows_at_landmarks.sum() + seen.n_rows) / kept.n_landmarks
    worth = (seen.n_outside - expected) / per_landmark
    if worth < 1:
        return 0
    # Enough for rows there not to be members of landmarks elsewhere, even in two clusters.
    least, most = 4 * affinity.n_nearest, affinity.n_landmarks
    return min(max(round(worth), least), most, len(seen.outside.counts))


def _places_free(
    affinity: Landmarks, seen: _Seen, kept: MembershipSums, usual: OutlierThreshold
) -> int:
    """Return how many centres of new rows may become landmarks, in place of decayed ones."""
    n_rows = (float(kept.rows_at_landmarks.sum()) + seen.n_rows) / usual.one_row
    wanted = min(affinity.n_landmarks, int(n_rows / POLICY.rows_per_landmark))
    n_free = wanted - kept.n_landmarks
    return n_free if n_free >= POLICY.many_decayed * wanted else 0


def _farthest(affinity: Landmarks, sample: RowSample, share: float) -> RowSample:
    """Return this share of the rows, those of least support: the others are as usual."""
    order = np.argsort(affinity._support(*affinity._nearest(sample.rows)), kind="stable")
    counted = np.cumsum(sample.counts[order])
    some = np.sort(order[: int(np.searchsorted(counted, share * counted[-1])) + 1])
    return _part(sample, some, sample.counts[some])


def _part(sample: RowSample, some: Any, counts: Array) -> RowSample:
    """Return some rows of a sample, with other counts."""
    return replace(sample, keys=sample.keys[some], rows=sample.rows[some], counts=counts)


def _grow(
    affinity: Landmarks, sample: RowSample, kept: MembershipSums, n_new: int
) -> MembershipSums:
    """Append centres of the rows to the landmarks; return the sums with room for them."""
    before = affinity.landmarks_
    n_new = min(n_new, len(sample.counts))
    # The first rows, in random order, with counts that add up to those of all.
    some = slice(None, affinity.sampled_per_landmark * n_new)
    counts = sample.counts[some] * (sample.counts.sum() / sample.counts[some].sum())
    sample = _part(sample, some, counts)
    centres = affinity._chosen(sample, n_new)
    # As in a fit, drop centres with few rows, which would be cheap to cut off.
    search = NearestLandmarks(centres, 1, metric=affinity._metric)
    group = search(in_form_of(centres, sample.rows))[0][:, 0]
    counts = np.bincount(group, sample.counts, centres.shape[0])
    centres = in_form_of(before, centres[counts >= affinity.least_rows * counts.mean()])
    stacked = vstack if issparse(before) else np.vstack
    affinity._place(stacked([before, centres]), n_rows=0)
    n_before, n_after = before.shape[0], affinity._n_placed
    if affinity.masses_ is not None:  # masses of new landmarks in the units of the others
        rows_before = np.pad(kept.rows_at_landmarks, (0, n_after - n_before))
        members = affinity._memberships(sample.rows)
        again = affinity._masses_by(members, sample.counts, rows_before)
        unit = float(np.median(affinity.masses_ / again[:n_before]))
        new = np.clip(unit * again[n_before:], LEAST_MASS, 1.0)
        affinity.masses_ = np.concatenate([affinity.masses_, new])
    return kept.moved(np.arange(n_before), n_after)
