"""Complete graphs on rows or landmarks, with weights in tiles, and sums over rows at landmarks.

Row i of Z holds the memberships of row i in landmarks. Products of memberships are rounded to
multiples of 2^-34 and summed as integers. So ``Z^T Z`` has the same bits in any order of the rows,
and k identical rows count as one row of weight k.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, vstack

from eigencut import kernels
from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import for_each, row_blocks
from eigencut.exceptions import invalid
from eigencut.graphs.base import (
    EDGE,
    Graph,
    OutlierThreshold,
    RowGraph,
    shares_of_votes,
    weighted_quantile,
)
from eigencut.io.state_reader import StateReader


@dataclass(frozen=True)
class SymmetricTiles:
    """The tiles (i, j), i <= j, of a symmetric n x n matrix: half the memory of the whole."""

    side: ClassVar[int] = 384  # of a tile

    size: int  # n
    places: NDArray[np.int64]  # (n_tiles, 2): strips of rows and columns of each tile
    squares: Array  # (n_tiles, side, side): tiles; of the last ones only a corner is used

    @classmethod
    def compute(cls, size: int, tile_of: Callable[[slice, slice], Array]) -> SymmetricTiles:
        """Collect ``tile_of(rows, columns)`` for all tiles of the upper half, in threads."""
        n_strips = -(-size // cls.side)
        places = np.array([(i, j) for i in range(n_strips) for j in range(i, n_strips)])
        side = min(size, cls.side)
        # One large array is allocated in large pages, which takes far less time.
        tiles = cls(size, places, np.empty((len(places), side, side)))

        def fill(place: tuple[int, int, Array]) -> None:
            i, j, tile = place
            found = tile_of(_strip(i, size), _strip(j, size))
            # The two halves of a tile on the diagonal may differ by rounding: one is mirrored.
            tile[:] = np.triu(found) + np.triu(found, 1).T if i == j else found

        for_each(fill, tiles.tiles(), "tiles")
        return tiles

    def tiles(self) -> Iterator[tuple[int, int, Array]]:
        """Yield each tile after the numbers of its strips of rows and columns."""
        for (i, j), square in zip(self.places.tolist(), self.squares, strict=True):
            n_rows, n_columns = (min(self.side, self.size - strip * self.side) for strip in (i, j))
            yield i, j, square[:n_rows, :n_columns]

    def matmat(self, V: Array) -> Array:
        """Return the product with V; every tile is read once and used twice."""
        return kernels.chosen.symmetric_product(self.squares, self.places, V, for_each)

    def rows(self, wanted: Indices) -> Array:
        """Return whole rows of the matrix."""
        found = np.empty((len(wanted), self.size))
        strip, offset = wanted // self.side, wanted % self.side
        for i, j, tile in self.tiles():
            for own, other, part in ((i, j, tile), (j, i, tile.T))[: 1 + (i != j)]:
                inside = np.flatnonzero(strip == own)
                if len(inside):
                    found[inside, _strip(other, self.size)] = part[offset[inside]]
        return found

    def diagonal(self) -> Array:
        return np.concatenate([tile.diagonal() for i, j, tile in self.tiles() if i == j])

    def max(self) -> float:
        return max(float(tile.max()) for _, _, tile in self.tiles())


def _strip(index: int, size: int) -> slice:
    return slice(index * SymmetricTiles.side, min((index + 1) * SymmetricTiles.side, size))


@dataclass(frozen=True)
class CompleteGraph(Graph):
    """A graph with edges between all vertices, and weights in tiles."""

    weights: SymmetricTiles

    def matmat(self, V: Array) -> Array:
        return self.weights.matmat(V / self.n_rows)

    def dense(self, vertices: Indices | None = None) -> Array:
        if vertices is None:
            return self.weights.rows(np.arange(self.n_vertices))
        return self.weights.rows(vertices)[:, vertices]

    def components(self) -> Indices:
        root_degree = np.sqrt(self.degrees)
        label = np.full(self.n_vertices, -1, dtype=np.intp)
        unseen = np.arange(self.n_vertices)
        n_found = 0
        while len(unseen):
            frontier, unseen = unseen[:1], unseen[1:]
            label[frontier] = n_found
            while len(frontier) and len(unseen):
                some, frontier = frontier[:128], frontier[128:]
                threshold = EDGE * root_degree[some, np.newaxis] * root_degree[unseen]
                reached = (self.weights.rows(some)[:, unseen] > threshold).any(axis=0)
                label[unseen[reached]] = n_found
                frontier = np.concatenate([frontier, unseen[reached]])
                unseen = unseen[~reached]
            n_found += 1
        return label


@dataclass(frozen=True)
class DenseGraph(CompleteGraph, RowGraph):
    """The complete graph on rows."""


QUANTUM = 2.0**-34  # unit that products of memberships are counted in
LARGEST_UNITS = 1 << 62  # of a sum, so that int64 does not overflow
EMBEDDING_ENTRIES = 10_000_000  # of the largest embedding that is kept: 80 MB


@dataclass(frozen=True)
class Memberships:
    """Memberships of rows in their r nearest landmarks: rows of the sparse matrix Z."""

    nearest: NDArray[np.integer]  # (n_rows, r): the landmarks with positive entries
    weights: Array  # (n_rows, r): the entries

    def __len__(self) -> int:
        return len(self.nearest)

    def __getitem__(self, rows: slice) -> Memberships:
        return Memberships(self.nearest[rows], self.weights[rows])

    def average(self, V: Array) -> Array:
        """Return ``Z V``: for each row the average of the values at its landmarks."""
        columns = np.ascontiguousarray(V.T)  # long columns are faster than many short rows
        values = np.zeros((V.shape[1], len(self)))
        for nearest, weights in zip(self.nearest.T, self.weights.T, strict=True):
            values += weights * columns.take(nearest, axis=1)
        return values.T

    def gather(self, V: Array, n_landmarks: int) -> Array:
        """Return ``Z^T V``: for each landmark the sum over its rows."""
        place = self.nearest.ravel()
        sums = np.empty((n_landmarks, V.shape[1]))
        for k, v in enumerate(V.T):
            sums[:, k] = np.bincount(place, (self.weights * v[:, np.newaxis]).ravel(), n_landmarks)
        return sums

    def compact(self, n_landmarks: int) -> Memberships:
        """Return the memberships with the smallest type of integers that suffices."""
        smallest = np.min_scalar_type(max(n_landmarks - 1, 0))
        return Memberships(self.nearest.astype(smallest), self.weights)


@dataclass(frozen=True)
class MembershipSums:
    """Sums over rows, ``E = Z^T M Z``: M is diagonal, the masses of rows times their weights."""

    units: Any  # (n_landmarks, n_landmarks), sparse: E / unit, each pair of landmarks once
    unit: float = QUANTUM  # The value of one unit
    at_landmarks: NDArray[np.int64] | None = None  # column sums of Z; None if E gives them

    @classmethod
    def compute(
        cls,
        members: Memberships,
        n_landmarks: int,
        masses: Array | None = None,
        row_units: RowUnits | None = None,
    ) -> MembershipSums:
        """Sum over one block of rows, which may have masses of at most 1, and weights."""
        n_parts = 2  # of the rows, one per thread
        parts = np.zeros((n_parts, n_landmarks, n_landmarks), dtype=np.int64)
        at_landmarks = np.zeros((n_parts, n_landmarks), dtype=np.int64)
        step = -(-len(members) // n_parts)

        def fill(part: int) -> None:
            rows = slice(part * step, (part + 1) * step)
            nearest, weights = members.nearest[rows].astype(np.intp), members.weights[rows]
            if masses is not None:
                for some in row_blocks(len(nearest), 1, 1 << 16):
                    rounded = np.rint(weights[some] / QUANTUM)
                    counted = rounded.astype(np.int64)
                    if row_units is not None:
                        counted = row_units[rows][some].times(rounded)
                    at_landmarks[part] += _histogram(nearest[some], counted, n_landmarks)
                weights = weights * np.sqrt(masses[rows, np.newaxis])
            if row_units is None:
                kernels.chosen.add_membership_sums(nearest, weights, QUANTUM, parts[part])
            else:
                a, b = np.tril_indices(nearest.shape[1])  # one half of Z^T Z
                for some in row_blocks(len(nearest), 1, 1 << 17):
                    rounded = np.rint(weights[some][:, a] * weights[some][:, b] / QUANTUM)
                    place = nearest[some][:, a] * n_landmarks + nearest[some][:, b]
                    counted = row_units[rows][some].times(rounded)
                    sums = _histogram(place, counted, n_landmarks**2)
                    parts[part] += sums.reshape(n_landmarks, n_landmarks)

        for_each(fill, range(n_parts))
        of_columns = None if masses is None else at_landmarks.sum(axis=0)
        unit = QUANTUM if row_units is None else QUANTUM * row_units.one
        return cls(csr_array(parts.sum(axis=0)), unit, of_columns)

    def added(self, other: MembershipSums) -> MembershipSums:
        units = self.units + other.units
        if units.max() > LARGEST_UNITS:
            expected = f"not have more than {LARGEST_UNITS * QUANTUM:.0f} rows"
            remedy = "fit on a part of the rows, and label the others"
            raise invalid("A landmark", expected, "more", remedy, OverflowError)
        at_landmarks = self.at_landmarks
        if at_landmarks is not None and other.at_landmarks is not None:
            at_landmarks = at_landmarks + other.at_landmarks
        return MembershipSums(units, self.unit, at_landmarks)

    @property
    def n_landmarks(self) -> int:
        return int(self.units.shape[0])

    @property
    def gram(self) -> Array:
        """E, as a dense array."""
        half = self.units.toarray().astype(np.float64) * self.unit
        return half + half.T - np.diag(half.diagonal())

    @property
    def rows_at_landmarks(self) -> Array:
        """Lambda, the column sums of Z."""
        if self.at_landmarks is None:
            return np.asarray(self.gram.sum(axis=1))  # rows of Z sum to 1
        return self.at_landmarks.astype(np.float64) * self.unit

    def decayed(self, decay: float) -> MembershipSums:
        """Return the sums with every row multiplied by ``decay``."""
        if decay == 1.0:
            return self
        units, at_landmarks = self.units.copy(), self.at_landmarks
        units.data = np.rint(decay * units.data).astype(np.int64)
        units.eliminate_zeros()
        if at_landmarks is not None:
            at_landmarks = np.rint(decay * at_landmarks).astype(np.int64)
        return replace(self, units=units, at_landmarks=at_landmarks)

    def moved(self, to: Indices, n_landmarks: int) -> MembershipSums:
        """Return the sums over rows with landmark j renumbered to ``to[j]``; -1 leaves it out."""
        pairs, shape = self.units.tocoo(), (n_landmarks, n_landmarks)
        first, second = to[pairs.row], to[pairs.col]
        is_left = (first >= 0) & (second >= 0)
        units = csr_array((pairs.data[is_left], (first[is_left], second[is_left])), shape=shape)
        at_landmarks = None
        if self.at_landmarks is not None:
            at_landmarks = np.zeros(n_landmarks, dtype=np.int64)
            at_landmarks[to[to >= 0]] = self.at_landmarks[to >= 0]
        return MembershipSums(units, self.unit, at_landmarks)

    def _state(self) -> dict[str, Any]:
        pairs = self.units.tocoo()
        places = pairs.row.astype(np.int64) * self.n_landmarks + pairs.col
        found: dict[str, Any] = {"places": places, "units": pairs.data, "unit": self.unit}
        if self.at_landmarks is not None:
            found["at_landmarks"] = self.at_landmarks
        return found

    @classmethod
    def _restored(cls, state: StateReader, n_landmarks: int) -> MembershipSums:
        places = state.indices("places", (None,), below=n_landmarks**2)
        units = state.indices("units", places.shape, below=LARGEST_UNITS + 1, least=1)
        if (np.diff(places) <= 0).any():
            raise ValueError("sums must be of different pairs of landmarks, in order.")
        at_landmarks = None
        if "at_landmarks" in state:
            at_landmarks = state.indices("at_landmarks", (n_landmarks,), below=LARGEST_UNITS + 1)
        pairs, shape = np.divmod(places, n_landmarks), (n_landmarks, n_landmarks)
        unit = state.number("unit", 1e-150, 1e150)
        return cls(csr_array((units.astype(np.int64), pairs), shape=shape), unit, at_landmarks)


@dataclass(frozen=True)
class RowUnits:
    """The weights of rows as multiples of a unit, a whole part and a rest, for exact sums."""

    whole: NDArray[np.int64]  # (n_rows,)
    rest: Array  # (n_rows,): from 0 to 1
    one: float  # The unit: 1, or another power of two (``suited_to``)

    @classmethod
    def from_weights(cls, sample_weight: Array, one: float) -> RowUnits:
        """Express weights as multiples of ``one``."""
        rest, whole = np.modf(sample_weight / one)
        return cls(whole.astype(np.int64), rest, one)

    @staticmethod
    def suited_to(total: float, n_rows: int) -> float:
        """Return a unit for weights, given their sum and the number of rows."""
        _, most = math.frexp(total / 2.0**28)  # so that no sum of units overflows
        _, mean = math.frexp(total / n_rows)
        return 2.0 ** (max(most, 0) or min(mean - 1, 0))

    def __getitem__(self, rows: slice) -> RowUnits:
        return RowUnits(self.whole[rows], self.rest[rows], self.one)

    def times(self, rounded: Array) -> NDArray[np.int64]:
        """Multiply the whole numbers in each row of ``rounded`` by the row's weight, and round."""
        rest = np.rint(self.rest[:, np.newaxis] * rounded).astype(np.int64)
        return self.whole[:, np.newaxis] * rounded.astype(np.int64) + rest


def _histogram(place: Indices, values: NDArray[np.int64], n: int) -> NDArray[np.int64]:
    """Sum integers by place without rounding: sums in float64 are exact below 2^53."""
    low_bits = 31  # summed separately from the high bits
    where, low = place.ravel(), (values & ((1 << low_bits) - 1)).ravel()
    found = np.bincount(where, low, n).astype(np.int64)
    high = (values >> low_bits).ravel()
    if high.any():
        found += np.bincount(where, high, n).astype(np.int64) << low_bits
    return found


@dataclass(frozen=True)
class RowSupport:
    """Support and counts of the sampled rows whose k-means centres are the landmarks."""

    values: Array
    counts: Array
    n_landmarks: int

    @property
    def one_row(self) -> float:
        """The median count, that of an ordinary row."""
        return float(np.median(self.counts))

    def outlier_threshold(self, share: float) -> OutlierThreshold:
        """Return the support that this share of the sampled rows stays below.

        The share is larger among other rows, because landmarks are nearer to the sampled ones:
        up to twice as large with 40 sampled rows per landmark, up to eight times with fewer.
        """
        n_rows = float(self.counts.sum())
        per_landmark = len(self.values) / self.n_landmarks
        of_others = min(share * min(1 + 40.0 / per_landmark, 8.0), 1.0)
        least = weighted_quantile(self.values, self.counts, share, self.one_row)
        return OutlierThreshold(least, of_others * n_rows, n_rows, self.one_row)


@dataclass(frozen=True)
class LandmarkGraph(CompleteGraph):
    """The complete graph on landmarks, each of which stands for Lambda_j rows; degrees are 1."""

    vertices_are: ClassVar[str] = "landmarks"

    summed: float  # n, the number of rows summed in E, or the sum of their weights
    members: list[Memberships] | None  # Z in blocks of rows, while the rows are in memory
    sampled: RowSupport | OutlierThreshold  # supports in a sample, or a threshold from it

    @cached_property
    def n_rows(self) -> float:
        return self.summed

    @cached_property
    def one_row(self) -> float:  # a vertex stands for many rows here
        return self.sampled.one_row

    @property
    def n_labels(self) -> int:
        return sum(len(block) for block in self.members or [])

    @property
    def has_rows(self) -> bool:
        return self.members is not None

    def keeps_embedding(self, n_columns: int) -> bool:
        return self.has_rows and self.n_labels * n_columns <= EMBEDDING_ENTRIES

    def outlier_threshold(self, share: float) -> OutlierThreshold:
        return self.sampled.outlier_threshold(share)

    def at_rows(self, values: Array, rule: Callable[[Array], Any]) -> Any:
        blocks = self.members or []
        pieces = [block[rows] for block in blocks for rows in row_blocks(len(block), 1, 1 << 16)]
        found: list[Any] = [None] * len(pieces)

        def fill(place: int) -> None:
            found[place] = rule(pieces[place].average(values))

        for_each(fill, range(len(pieces)), "blocks of rows")
        return np.concatenate(found)

    def shares_at_rows(self, shares: Any, labels: Indices) -> Any:
        blocks = [
            shares_of_votes(block.weights, labels[block.nearest], shares.shape[1])
            for block in self.members or []
        ]
        return vstack(blocks, format="csr")
