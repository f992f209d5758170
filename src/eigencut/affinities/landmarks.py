"""Landmarks: a graph of any number of rows that is as small as the number of landmarks.

Every row x belongs to its r nearest of p landmarks y_j, with weights z_j(x) that sum to 1:

    W(x, x') = n m(x) m(x') z(x)^T V^-1 z(x'),    V = diag(sum_i m(x_i) z(x_i)).

m(x) is 1, or with density contrast beta the average ``z(x)^T rho^(2 beta)`` of what landmarks have:
where the density is rho, V is in proportion to ``rho^(2 beta)`` too, so that the weights without
contrast are multiplied by ``(rho(x) rho(x'))^beta``. The degree of a row is m(x).

The eigenvectors of NCut are ``U = Z c``, and those of the graph on the landmarks themselves, in
which landmark j stands for ``Lambda_j = sum_i z_j(x_i)`` rows and ``W(y_j, y_l) = n E_jl /
(Lambda_j Lambda_l)``, ``E = Z^T M Z``, give the table c (p x K); see ``eigencut.extension``. Of the
rows only the sums E and Lambda are needed: they are formed block by block, from memory, from disk
or on a cluster, and the model is no more than landmarks and c. Without contrast RatioCut is the
same problem. With it, RatioCut is solved on the landmarks, and ``U = Z c`` is as close to the rows'
own eigenvectors as landmarks are to each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import SQUARABLE, TINY, Array, Indices, row_blocks
from eigencut._utils.threads import for_each
from eigencut._utils.validation import check_choice, check_count, is_integer, is_real
from eigencut.affinities.base import Affinity, Product
from eigencut.affinities.density import LEAST_MASS, check_contrast, landmark_masses
from eigencut.affinities.fit_memory import FitSizes, landmarks_bytes
from eigencut.exceptions import invalid
from eigencut.graphs.base import OutlierThreshold
from eigencut.graphs.complete import SymmetricTiles
from eigencut.graphs.landmarks import (
    EMBEDDING_ENTRIES,
    KeptSums,
    LandmarkGraph,
    Memberships,
    MembershipSums,
    RowSupport,
    RowUnits,
)
from eigencut.io.rows import as_rows, refuse_all_zero
from eigencut.io.sample import RowSample, as_number
from eigencut.io.state_reader import StateReader, csr_state
from eigencut.neighbors.distinct_rows import distinct_rows
from eigencut.neighbors.kmeans import kmeans_centres
from eigencut.neighbors.metrics import METRICS, Metric, in_form_of, warn_about_radians
from eigencut.neighbors.nearest_landmarks import NearestLandmarks

LEAST_WIDTH = 1e-6  # squared, relative to the squared distances: below there is rounding


class Landmarks(Affinity):
    """Affinity through landmarks: for millions of rows, and for rows that do not fit in memory.

    Parameters
    ----------
    n_landmarks : int, default=1000
        p. There are fewer where there are fewer different rows, and centres of very few rows (less
        than an eighth of the average) are left out.
    n_nearest : int, default=5
        r, the landmarks each row belongs to.
    selection : {"kmeans", "random"}, default="kmeans"
        Landmarks are centres of k-means on a sample of ``40 n_landmarks`` rows, or ``n_landmarks``
        rows of it as they are. Sets and codes have no mean: with "hamming" and "jaccard" landmarks
        are always such rows.
    sigma : float or "auto", default="auto"
        Bandwidth of the memberships, ``z_j(x)`` proportional to ``exp(-|x - y_j|^2 / (2
        sigma^2))``. "auto" is 0.45 times ``sqrt(b^2 - a^2)``, the nearest of the landmarks of x
        being at the distance a, and the farthest at b. (In many dimensions all are about as far.)
    density_contrast : float, default=1.0
        beta >= 0: weights are multiplied by ``(rho(x) rho(y))^beta``, with rho the density around a
        row, so that cuts avoid dense places. 0 is no contrast. See ``docs/defaults.md``.
    metric : str, default="euclidean"
        What ``|x - y|`` is: "euclidean", "cosine", "manhattan", "chebyshev", "hamming", "jaccard"
        or "haversine"; see ``docs/metrics.md``. Sigma is in its units.
    random_state : int or None, default=None
        Of the sample. None means 0.

    Attributes
    ----------
    landmarks_ : array or sparse array of shape (p, n_features)
        Sparse where rows are. With "cosine", of rows of unit length; with "haversine", on (or in)
        the globe, in km.
    multiplicity_ : array of shape (p,)
        Lambda, the rows that each landmark stands for.
    masses_ : array of shape (p,), or None
        ``rho^(2 beta)`` of each landmark, in units of the largest; None without contrast.
    spacing_ : array of shape (p,)
        Squared distance from each landmark to the farthest of its r nearest.
    sums_ : KeptSums, or None
        E and Lambda, exactly: what rows that come later are added to (``GPOD.update``).

    Notes
    -----
    Neither the sample nor the sum depends on the order of the rows, on blocks or threads: the model
    is the same to the last bit. With the local bandwidth there is none that could be too small, and
    rows far away share their nearest landmarks evenly.

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

    form = "landmarks"
    streams = True
    accepts_sparse = True
    keeps = "sums"
    sampled_per_landmark: ClassVar[int] = 40  # rows of the sample
    least_rows: ClassVar[float] = 1 / 8  # of what an average landmark has
    _rows_at_a_time: ClassVar[int] = 16384  # that one thread works on

    landmarks_: Any
    masses_: Array | None
    sums_: KeptSums | None
    local_scale: float
    from_nearest: bool  # whether local bandwidths are of b^2 - a^2, or as in older files of b^2

    def __init__(
        self,
        n_landmarks: int = 1000,
        n_nearest: int = 5,
        *,
        selection: str = "kmeans",
        sigma: float | str = "auto",
        density_contrast: float = 1.0,
        metric: str = "euclidean",
        random_state: int | None = None,
    ) -> None:
        self.n_landmarks = n_landmarks
        self.n_nearest = n_nearest
        self.selection = selection
        self.sigma = sigma
        self.density_contrast = density_contrast
        self.metric = metric
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_count("n_landmarks", self.n_landmarks, "use the default of 1000")
        check_count("n_nearest", self.n_nearest, "use the default of 5")
        check_choice("selection", self.selection, ("kmeans", "random"))
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
        """Two passes over the rows: a sample for the landmarks, then the sums E and Lambda."""
        self._check_parameters()
        self._refuse_sparse(X)
        self.local_scale, self.from_nearest = 0.45, True
        rows = as_rows(X, sample_weight)
        draw = partial(
            RowSample.of,
            size=self.sampled_per_landmark * self.n_landmarks,
            seed=int(self.random_state or 0),
        )
        placed = rows.reduce(draw, RowSample.merged, partial(self._placed))
        self._place(placed.landmarks, placed.n_rows)
        self.masses_ = placed.masses
        self.n_rows_ = placed.total
        kept: list[Memberships] | None = [] if rows.in_memory else None
        one = RowUnits.suited_to(placed.total, placed.n_rows)
        sums = rows.reduce(partial(self._sums, one_row=one, kept=kept), MembershipSums.added)
        return self._graph(sums, kept, placed.support)

    def memory_bytes(self, sizes: FitSizes) -> float:
        self._check_parameters()
        embeds = (sizes.n_rows or 0) * sizes.n_clusters <= EMBEDDING_ENTRIES
        return landmarks_bytes(sizes, self.n_landmarks, self.n_nearest, embeds)

    def _placed(self, sample: RowSample) -> _Placed:
        """The landmarks, in lexicographic order, their masses, and the sampled rows' support."""
        refuse_all_zero(len(sample.counts))
        p = min(self.n_landmarks, len(sample.counts))
        if self.metric == "haversine":
            warn_about_radians(sample.rows)
        self._place(self._chosen(sample, p), sample.n_rows)
        self._place(self.landmarks_[self._is_wanted(sample.rows)], sample.n_rows)
        nearest, squared = self._nearest(sample.rows)
        supports = self._support_without_own(sample, nearest, squared)
        support = RowSupport(supports, sample.counts, self._n_placed)
        masses = None
        if self.density_contrast:
            rows = Memberships(nearest, self._weights(squared))
            counts = rows.gather(sample.counts[:, np.newaxis], self._n_placed)[:, 0]
            beta = float(self.density_contrast)
            masses = landmark_masses(counts, self._spacing, self.n_columns_, beta=beta)
        total = as_number(sample.total)
        return _Placed(self.landmarks_, masses, support, sample.n_rows, total)

    def _chosen(self, sample: RowSample, n_landmarks: int) -> Any:
        """Landmarks for the rows of a sample, in lexicographic order."""
        points = self._metric.points(sample.rows)
        if self._has_centres:
            return distinct_rows(kmeans_centres(points, sample.counts, n_landmarks)).rows
        return distinct_rows(points[:n_landmarks]).rows

    @property
    def _has_centres(self) -> bool:
        """Whether landmarks are centres of rows, and not rows."""
        return self.selection == "kmeans" and self._metric.has_means

    def _is_wanted(self, rows: Any) -> Any:
        """Whether each landmark is there for enough of the rows.

        k-means strands centres at single odd rows, and the two would be a cheap cut.
        """
        nearest, squared = self._nearest(rows)
        if not self._has_centres:
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
        """Sums of one block of rows, whose memberships are kept for the labels if they may be."""
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
        self.sums_ = KeptSums.from_sums(sums)
        self.multiplicity_ = rows
        self.self_weights_ = weights.diagonal().copy()
        self._volumes = gram.sum(axis=1)  # V: rows of Z sum to 1
        self.largest_weight_ = float(n / self._volumes.min())  # no mass is above 1
        return LandmarkGraph(tiles, rows, n, members, support)

    @property
    def landmark_rows_(self) -> Any:
        """The landmarks as rows to ask about."""
        return self._metric.rows(self.landmarks_)

    @property
    def n_columns_(self) -> int:
        return self._metric.n_columns or int(self.landmarks_.shape[1])

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        places = csr_state(self.landmarks_) if issparse(self.landmarks_) else self.landmarks_
        own: dict[str, Any] = {"landmarks": places, "local_scale": self.local_scale}
        own["from_nearest"] = int(self.from_nearest)
        if self.masses_ is not None:
            own["contrast"] = {"masses": self.masses_, "volumes": self._volumes}
        if self.sums_ is not None:
            own["sums"] = self.sums_._state()
        return super()._state(include_training_data) | own

    def _restore(self, state: StateReader) -> None:
        if "contrast" not in state:  # a file of a time before contrast does not name it
            self.density_contrast = 0.0
        self._check_parameters()
        super()._restore(state)
        p, scale = len(self.multiplicity_), 0.4  # of files that do not name it
        if "local_scale" in state:
            scale = state.number("local_scale", 1e-3, 1.0)
        self.local_scale = scale
        self.from_nearest = "from_nearest" in state and bool(state.integer("from_nearest", 0, 1))
        # How many rows there were says nothing of how many will come: cells are made if they do.
        if "landmarks" in state.groups():
            self._place(state.csr("landmarks", p), n_rows=0)
            self._refuse_sparse(self.landmarks_)
        else:
            shape = (p, self._metric.n_coordinates)
            self._place(state.coordinates("landmarks", shape), n_rows=0)
        self.masses_, self._volumes = None, self.multiplicity_
        if "contrast" in state:
            contrast = state.part("contrast")
            self.masses_ = contrast.array("masses", (p,), LEAST_MASS, 1.0)
            self._volumes = contrast.array("volumes", (p,), 1e-30, float(self.n_rows_))
        self.sums_ = None
        if "sums" in state:  # files of format 1 have none
            self.sums_ = KeptSums._restored(state.part("sums"), p)
            if not np.allclose(
                self.sums_.rows_at_landmarks, self.multiplicity_, rtol=self.saved_rounding
            ):
                raise ValueError("sums must agree with multiplicity.")

    @property
    def _metric(self) -> Metric:
        return METRICS[self.metric]

    @property
    def _n_placed(self) -> int:
        """p, as it is."""
        return int(self.landmarks_.shape[0])

    def _place(self, landmarks: Any, n_rows: int) -> None:
        self.landmarks_, metric = landmarks, self._metric
        r = min(self.n_nearest, self._n_placed)
        self._search = NearestLandmarks(landmarks, r, n_rows, metric)
        # What the distance to the farthest of the r landmarks is at a landmark itself.
        n_near = min(max(2, self.n_nearest), self._n_placed)
        _, squared = NearestLandmarks(landmarks, n_near, metric=metric).of_points(landmarks)
        self._spacing = np.maximum(squared.max(axis=1), TINY)  # in units of the search

    def _memberships(self, X: Any) -> Memberships:
        """Rows of Z."""
        nearest, squared = self._nearest(X)
        return Memberships(nearest, self._weights(squared))

    def _nearest(self, X: Any) -> tuple[Indices, Array]:
        """Numbers of the r nearest landmarks of each row, and squared distances to them."""
        nearest = np.empty((X.shape[0], self._search.n_nearest), dtype=np.intp)
        squared = np.empty(nearest.shape)

        def fill(rows: slice) -> None:
            nearest[rows], squared[rows] = self._search_block(X[rows])

        for_each(fill, self._blocks_of(X))
        return nearest, squared

    def _search_block(self, block: Any) -> tuple[Indices, Array]:
        """The same of one block."""
        return self._search(in_form_of(self.landmarks_, block).astype(np.float64, copy=False))

    def _blocks_of(self, X: Any) -> Iterator[slice]:
        """Slices of rows; where both are sparse, the search divides them by what it needs."""
        width = 0 if issparse(X) and issparse(self.landmarks_) else X.shape[1]
        most = 1 << 21  # numbers
        return row_blocks(X.shape[0], max(width, most // self._rows_at_a_time), most)

    def _masses_of(self, members: Memberships) -> Array | None:
        """m(x) of rows with these memberships; None if it is 1."""
        if self.masses_ is None:
            return None
        masses, table = np.empty(len(members)), self.masses_[:, np.newaxis]
        step = self._rows_at_a_time

        def fill(start: int) -> None:
            rows = slice(start, start + step)
            masses[rows] = members[rows].average(table)[:, 0]

        for_each(fill, range(0, len(members), step))
        return masses

    def _weights(self, squared: Array) -> Array:
        """z(x), from squared distances to the r nearest landmarks."""
        # Relative to the nearest landmark, so that not all of them can underflow.
        excess = squared - squared.min(axis=1, keepdims=True)
        if self.sigma == "auto":
            farthest = squared.max(axis=1, keepdims=True)
            width = excess.max(axis=1, keepdims=True) if self.from_nearest else farthest
            width = self.local_scale**2 * np.maximum(width, LEAST_WIDTH * farthest)
        else:
            width = np.full((1, 1), self._sigma_in_units() ** 2)
        weights = np.exp(-0.5 * excess / np.maximum(width, TINY))
        return np.asarray(weights / weights.sum(axis=1, keepdims=True))

    def _sigma_in_units(self) -> float:
        """Return sigma in the units of the search."""
        return float(np.clip(np.ldexp(float(self.sigma), -self._search.exponent), *SQUARABLE))

    def _support(self, nearest: Indices, squared: Array) -> Array:
        """``-1/2 (d_r(x) / d_r(y))^2``: d_r is the distance to the r-th landmark, y the first."""
        first = first_landmarks(nearest, squared)
        return np.asarray(-0.5 * squared.max(axis=1) / self._spacing[first])

    def _support_without_own(self, sample: RowSample, nearest: Indices, squared: Array) -> Array:
        """Support of rows that landmarks were placed by; of a row that is one, without it."""
        # Were landmarks as many as rows, all rows but those of training would be without support.
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

    @property
    def spacing_(self) -> Array:
        """Squared distance from each landmark to the farthest of its r nearest."""
        with np.errstate(over="ignore"):
            return np.asarray(np.ldexp(self._spacing, 2 * self._search.exponent))

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


@dataclass(frozen=True)
class _Placed:
    """What the first pass over the rows is for."""

    landmarks: Any
    masses: Array | None
    support: RowSupport
    n_rows: int
    total: float


def first_landmarks(nearest: Indices, squared: Array) -> Indices:
    """The nearest of the nearest landmarks of each row."""
    place = squared.argmin(axis=1)[:, np.newaxis]
    return np.take_along_axis(nearest, place, axis=1)[:, 0]
