"""Eigenfunctions: the eigenvectors of a relaxed cut, extended to new rows.

The consistent form follows from ``(L u)(x) = lambda m(x) u(x)``:

    u_k(x) = (1/n) sum_j W(x, x_j) u_k[j] / (d(x) - lambda_k m(x)).

For NCut it is Eq. 15 and Algorithm 2; for RatioCut the eigenfunction of von Luxburg, Belkin and
Bousquet (2008). At a training row it equals the eigenvector's entry.

Algorithm 1's form for RatioCut, with s(x) = d(x), is

    u_k(x) = (1/sqrt(lambda_k)) (1/n) sum_j (s(x) - W(x, x_j)) u_k[j],

which is 0 / 0 for the constant eigenvector, and there 0.

References
----------
.. [1] U. von Luxburg, M. Belkin, O. Bousquet, "Consistency of Spectral Clustering", The Annals of
   Statistics 36(2), 555-586, 2008.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from eigencut import kernels
from eigencut._utils.arrays import EPS, TINY, Array, Indices
from eigencut._utils.running import for_each, row_blocks, warn_user
from eigencut.cut import Cut
from eigencut.exceptions import invalid
from eigencut.io.state_reader import StateReader
from eigencut.kernels.numpy_kernels import LAYOUT
from eigencut.neighbors.metrics import row_keys
from eigencut.solvers.relaxed_cut import LARGEST_SAVED, EigenPairs

if TYPE_CHECKING:
    from eigencut.affinities.base import Affinity, Product

# Dividing by 1 - lambda_k m(x) / d(x) below this would blow up rounding errors, or flip the sign.
SUPPORT = 1e-4
CHUNK_ROWS = 4096  # new rows that one thread works on at a time,
CHUNK_ROWS_IN_DOUBLE = 1 << 15  # and in double precision
Mask = NDArray[np.bool_]


class SinglePrecisionAverager:
    """Averages the columns of V over the training rows, in single precision, with a bound.

    The average of a column v at a row x is ``sum_j W(x, x_j) v_j / sum_j W(x, x_j)``. With u =
    2^-24:

    * An exponent is a sum of d + 2 products of rounded numbers. Its error is at most
      ``(d + 5) u g(x) g(y) (|x| + |y|)^2``, which bounds the relative error of the weight.
    * A sum over a panel adds at most ``n_panel u`` of the sum of absolute values.
    * Columns are centred and scaled to [-1, 1] first, so an average is off by at most twice the sum
      of these, times half the range of its column.
    """

    unit = 2.0**-24
    largest_exponent_error = 0.05  # rows beyond get no values
    largest_factor = 1e30  # of the exponents; float32 ends at 3e38
    least_weight = 1e-20  # smaller sums of weights may have lost weights that underflowed

    def __init__(self, factor: Array, V: Array, multiplicity: Array) -> None:
        lowest, highest = V.min(axis=0), V.max(axis=0)
        self._middle, self.spread = lowest / 2 + highest / 2, highest / 2 - lowest / 2
        scale = np.where(self.spread > 0, self.spread, 1.0)
        columns = np.column_stack([(V - self._middle) / scale, np.ones(len(V))])
        columns *= multiplicity[:, np.newaxis]
        self._n_rows = float(multiplicity.sum())
        clipped = np.clip(factor, -self.largest_factor, self.largest_factor)
        self._sums = kernels.chosen.weighted_sums_of(clipped, columns)
        # The largest of g, g |y| and g |y|^2: what the error of an exponent depends on.
        g, g_squares = -factor[:, -2], -factor[:, -1]
        self._reach = [float(part.max()) for part in (g_squares, np.sqrt(g * g_squares), g)]

    def __call__(self, left: Array) -> tuple[Array, Array, Array]:
        """Return averages, log degrees and bounds for rows, given ``g(x) [2x, |x|^2, 1]``.

        The bound is relative: a degree is off by at most this share, a value by at most twice this
        share of the ``spread`` (half the range) of its column. It is infinite where single
        precision fails.
        """
        exponent_error = np.full(len(left), np.inf)
        if max(self._reach) <= self.largest_factor:
            g, g_squares = left[:, -1], left[:, -2]
            with np.errstate(over="ignore", invalid="ignore"):
                reach = g * self._reach[0] + 2 * np.sqrt(g * g_squares) * self._reach[1]
                reach += g_squares * self._reach[2]
            of_reach = (left.shape[1] + 3) * self.unit * reach
            exponent_error = np.where(np.isnan(reach), np.inf, of_reach)
        usable = exponent_error < self.largest_exponent_error
        sums = self._sums(np.where(usable[:, np.newaxis], left, 0.0))
        usable &= sums[:, -1] > self.least_weight
        degrees = np.where(usable, sums[:, -1], 1.0)
        error = 1.1 * (1.1 * exponent_error + (LAYOUT.most_panel_rows + 10) * self.unit)
        values = self._middle + self.spread * (sums[:, :-1] / degrees[:, np.newaxis])
        return values, np.log(degrees / self._n_rows), np.where(usable, error, np.inf)


@dataclass(frozen=True)
class SinglePrecisionValues:
    """Eigenfunctions and degrees at rows in single precision, with bounds on their errors."""

    values: Array
    error: Array  # bound on the length of the error of each row; infinite where precision fails
    log_degrees: Array
    degree_error: Array  # bound on the relative error of the degree, likewise


@dataclass(frozen=True)
class Eigenfunctions:
    """The consistent form of eigenfunctions, for both cuts; call it with rows."""

    affinity: Affinity
    cut: Cut
    pairs: EigenPairs
    degrees: Array  # of the training vertices

    form: ClassVar[str] = "consistent"

    @property
    def base(self) -> Eigenfunctions:
        """The eigenfunctions of the graph, which these are, or which these combine."""
        return self

    def __call__(self, X: Array) -> Array:
        """Return ``u_k(x)`` for each row x of X, in column k."""
        return self.with_support(X)[0]

    def fixed_values(self, X: Any) -> tuple[Indices, Array]:
        """Return which rows of X have prescribed values (here: none), and these values."""
        return np.empty(0, dtype=np.intp), np.empty((0, len(self.pairs.values)))

    def with_support(self, X: Array) -> tuple[Array, Array]:
        """Return ``u_k(x)`` and each row's support: log d(x), or the affinity's own measure."""
        product = self.affinity.apply(X, self._columns)
        return self._from_product(product, X), product.row_support

    @property
    def _columns(self) -> Array:
        """The columns averaged at new rows: eigenvectors, and an indicator of small components."""
        takes_part = self.pairs.takes_part
        if takes_part.all():
            return self.pairs.vectors
        return np.column_stack([self.pairs.vectors, ~takes_part])

    def _from_product(self, product: Product, X: Array) -> Array:
        K, log_degrees = len(self.pairs.values), product.log_degrees
        average = product.values / product.degrees[:, np.newaxis]
        of_small = average[:, K:].sum(axis=1)
        values, supported = self._consistent_form(average[:, :K], of_small, log_degrees)
        # Where the form fails, a row takes the values of an identical training row. A row without
        # an edge to the graph, up to rounding, takes those of the nearest training row.
        for rows, vertices_of in (
            (np.flatnonzero(~supported), self.affinity.identical_vertices),
            (np.flatnonzero(log_degrees < self.least_log_degree), self.affinity.nearest_vertices),
        ):
            if not len(rows):
                continue
            vertex = vertices_of(X[rows])
            values[rows[vertex >= 0]] = self.pairs.vectors[vertex[vertex >= 0]]
        return values

    @property
    def least_log_degree(self) -> float:
        """The log degree below which a row has no edge to the graph, up to rounding."""
        return float(np.log(EPS * self.affinity.largest_weight_))

    def eigenvectors(self) -> Array:
        """Return the consistent form at the training vertices, which equals the eigenvectors."""
        degrees = np.where(self.degrees > 0, self.degrees, 1.0)
        average = self.pairs.products / degrees[:, np.newaxis]
        of_small = (~self.pairs.takes_part).astype(np.float64)
        values, supported = self._consistent_form(average, of_small, np.log(degrees))
        supported &= self.degrees > 0
        return np.where(supported[:, np.newaxis], values, self.pairs.vectors)

    def at_training_vertices(self) -> Array:
        """Return this extension's values at the training vertices."""
        return self.eigenvectors()

    def unit(self, values: Array) -> Array:
        """Scale values so that ``(1/n) sum_i m(x_i) u_k(x_i) u_l(x_i)`` is 1 if k = l, else 0."""
        return float(np.sqrt(self.affinity.n_rows_)) * values

    def _consistent_form(
        self, average: Array, of_small: Array, log_degrees: Array
    ) -> tuple[Array, Mask]:
        """Return ``u_k(x)`` from averages, and where it is valid; elsewhere the averages."""
        mass_per_degree = self.cut.mass_per_degree(log_degrees) * (1 - of_small)
        denominator = 1 - mass_per_degree[:, np.newaxis] * self.pairs.values
        supported = np.min(denominator, axis=1) > SUPPORT
        values = average / np.maximum(denominator, SUPPORT)
        return np.where(supported[:, np.newaxis], values, average), supported

    @cached_property
    def _averager(self) -> SinglePrecisionAverager | None:
        factor = self.affinity.exponent_factors()
        if factor is None:
            return None
        return SinglePrecisionAverager(factor, self._columns, self.affinity.multiplicity_)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name[0] != "_"}  # the fields

    def single_precision_pays(self, n_rows: int) -> bool:
        """Return whether ``single_precision_values`` works, and is faster for this many rows."""
        return n_rows * len(self.pairs.vectors) > 1 << 18 and self._averager is not None

    def single_precision_values(self, X: Array) -> SinglePrecisionValues:
        """Return ``u_k(x)`` in single precision, with a bound on the error of each row."""
        left = self.affinity.exponent_factors(X)
        assert self._averager is not None and left is not None
        averages, log_degrees, of_sums = self._averager(left)
        K, spread = len(self.pairs.values), self._averager.spread
        usable = np.isfinite(of_sums) & (log_degrees > self.least_log_degree + 1)
        error = np.where(usable, of_sums, 0.0)[:, np.newaxis]
        all_mass = self.cut.mass_per_degree(log_degrees)[:, np.newaxis] * self.pairs.values
        share = all_mass * (1 - averages[:, K:].sum(axis=1, keepdims=True))
        # The error of 1 - share, through the degree and through the share of small components.
        off = 2 * error * (share + all_mass * spread[K:].sum())
        usable &= np.min(1 - share - off, axis=1) > SUPPORT
        denominator = np.where(usable[:, np.newaxis], 1 - share, 1.0)
        values = averages[:, :K] / denominator
        bound = (2 * error * spread[:K] + np.abs(values) * off) / (denominator - off)
        bound = np.where(usable, np.linalg.norm(bound, axis=1), np.inf)
        return SinglePrecisionValues(values, bound, log_degrees, of_sums)

    def in_cheapest_precision(
        self,
        X: Array,
        answers: NDArray[Any],
        exact: Callable[[Array], NDArray[Any]],
        rough: Callable[[SinglePrecisionValues], tuple[NDArray[Any], Mask]],
    ) -> NDArray[Any]:
        """Fill and return answers: by ``rough`` where that is certain, else by ``exact``."""
        n_rows, pays = X.shape[0], self.single_precision_pays(X.shape[0])
        if not pays and n_rows <= CHUNK_ROWS_IN_DOUBLE:
            return exact(X)
        is_certain = np.ones(n_rows, dtype=bool)

        def fill(rows: slice) -> None:
            if pays:
                answers[rows], is_certain[rows] = rough(self.single_precision_values(X[rows]))
            else:
                answers[rows] = exact(X[rows])

        for_each(fill, row_blocks(n_rows, 1, CHUNK_ROWS if pays else CHUNK_ROWS_IN_DOUBLE))
        doubtful = np.flatnonzero(~is_certain)
        if len(doubtful):
            answers[doubtful] = exact(X[doubtful])
        return answers

    def in_single_precision(self, X: Array) -> NDArray[np.float32]:
        """Return ``u_k(x)`` as float32, from double precision where single may be wrong."""

        def rough(found: SinglePrecisionValues) -> tuple[Array, Mask]:
            return found.values, found.error < 1e-3 * np.linalg.norm(found.values, axis=1)

        values = np.empty((X.shape[0], self.pairs.vectors.shape[1]), dtype=np.float32)
        return self.in_cheapest_precision(X, values, lambda X: self(X).astype(np.float32), rough)

    def _state(self) -> dict[str, Any]:
        """Return plain values and arrays for a file, without the affinity."""
        return {"form": self.form, "degrees": self.degrees, "pairs": self.pairs._state()}

    def support(self, X: Array) -> Array:
        """Return the support of each row: log d(x), or the affinity's own measure."""
        return self.affinity.apply(X, np.empty((len(self.pairs.vectors), 0))).row_support

    def report_lost_components(self) -> None:
        """Warn about eigenvalues that are too large to belong to clusters."""
        # Beyond the smallest d/m lies the essential spectrum of the limit operator: eigenvectors
        # concentrate on single rows (RatioCut) or are noise (NCut, lambda = 1).
        connected = self.degrees[self.pairs.takes_part & (self.degrees > 0)]
        limit = float((connected / self.cut.mass(connected)).min())
        K, lost = len(self.pairs.values), int((self.pairs.values > limit * (1 - SUPPORT)).sum())
        if lost:
            fewer = f"n_clusters={K - lost} or fewer, or " if lost < K - 1 else ""
            warn_user(
                f"{lost} of the {K} eigenvectors show single rows instead of clusters (eigenvalues "
                f"up to {self.pairs.values[-1]:.3g}; clusters are below {limit:.3g}). Use {fewer}"
                "another sigma."
            )


@dataclass(frozen=True)
class Algorithm1(Eigenfunctions):
    """The paper's Algorithm 1 for RatioCut, to the letter, divided by sqrt(lambda) once.

    The constant direction is left out. Further eigenvalues of zero, as of a graph in pieces, count
    as the least that float64 can tell from zero. At the training rows the functions differ from the
    eigenvectors, and do not have unit norm.
    """

    form: ClassVar[str] = "algorithm1"

    def _from_product(self, product: Product, X: Array) -> Array:
        # Rows whose weights all underflow keep their direction; their length would be zero.
        scale = np.exp(np.where(product.log_scale < -600.0, 0.0, product.log_scale))
        K = len(self.pairs.values)
        values = self._form(product.values[:, :K], product.degrees[:, np.newaxis])
        return values * scale[:, np.newaxis]

    def single_precision_pays(self, n_rows: int) -> bool:
        return False

    def at_training_vertices(self) -> Array:
        return self._form(self.pairs.products, self.degrees[:, np.newaxis])

    def _form(self, products: Array, degrees: Array) -> Array:
        mean = self.affinity.multiplicity_ @ self.pairs.vectors / self.affinity.n_rows_
        values = (degrees * mean - products) / np.sqrt(np.maximum(self.pairs.values, self._floor))
        return values - np.outer(values @ self._constant, self._constant)

    @property
    def _floor(self) -> float:
        """The least eigenvalue that differs from zero by more than rounding."""
        return float(1e-12 * self.degrees.max())

    @cached_property
    def _constant(self) -> Array:
        """The coefficients of the constant function in the eigenvectors, of unit length."""
        part = self.pairs.takes_part
        sums = self.affinity.multiplicity_[part] @ self.pairs.vectors[part]
        sums = np.where(self.pairs.values <= self._floor, sums, 0.0)
        length = float(np.linalg.norm(sums))
        return sums / length if length > 0 else sums

    def unit(self, values: Array) -> Array:
        # The constant, which Algorithm 1 leaves out, is the first of the K functions.
        return np.asarray(np.linalg.solve(self._triangle.T, (values + self._constant).T).T)

    @cached_property
    def _triangle(self) -> Array:
        """R of the QR decomposition of the functions on the training rows."""
        mass = self.affinity.multiplicity_ * self.cut.mass(self.degrees) / self.affinity.n_rows_
        full = self.at_training_vertices() + self._constant
        triangle = np.linalg.qr(np.sqrt(mass)[:, np.newaxis] * full)[1]
        adds = np.abs(triangle.diagonal()) / np.linalg.norm(triangle, axis=0).clip(TINY)
        if adds.min() < 1e-12:
            got = "'paper', whose functions are dependent on these training rows"
            remedy = "use extension='consistent', or a larger sigma"
            raise invalid("extension", "give independent functions", got, remedy)
        return np.asarray(triangle)


@dataclass(frozen=True)
class LandmarkFunctions(Eigenfunctions):
    """The consistent form on a graph through landmarks.

    The eigenpairs g, lambda of the graph on landmarks give those of the rows: ``U = Z c`` with
    ``c = g / sqrt(1 - lambda)``, and ``u(x) = z(x)^T c``, exact at the training rows. With density
    contrast, RatioCut is exact only for landmarks, and lambda is multiplied by the mean of m / d.
    """

    form: ClassVar[str] = "landmarks"

    @property
    def _columns(self) -> Array:
        return self.pairs.vectors

    def _from_product(self, product: Product, X: Array) -> Array:
        return product.values / self._root

    def eigenvectors(self) -> Array:
        """Return the table c: the values of rows that belong to one landmark only."""
        return self.pairs.vectors / self._root

    @cached_property
    def _root(self) -> Array:
        squares = self.pairs.vectors**2 * self.affinity.multiplicity_[:, np.newaxis]
        squares = squares[self.pairs.takes_part]
        degrees = self.degrees[self.pairs.takes_part]
        values = self.pairs.values
        with np.errstate(over="ignore", invalid="ignore"):
            share = (self.cut.mass(degrees) @ squares) / np.maximum(degrees @ squares, TINY)
            lost = np.where(values > 0, share * values, 0.0)
        return np.sqrt(np.maximum(1 - lost, SUPPORT))


EXTENSIONS: dict[str, Callable[[Affinity, Cut, EigenPairs, Array], Eigenfunctions]] = {
    kind.form: kind for kind in (Eigenfunctions, Algorithm1, LandmarkFunctions)
}


def extend(
    extension: str, affinity: Affinity, cut: Cut, pairs: EigenPairs, degrees: Array
) -> Eigenfunctions:
    """Build the eigenfunctions in the form ``extension`` ("consistent" or "paper")."""
    form = affinity.form or (cut.paper_extension if extension == "paper" else extension)
    return EXTENSIONS[form](affinity, cut, pairs, degrees)


@dataclass(frozen=True)
class FixedRows:
    """Prescribed values of some rows, stored by digests: a model must not reveal its rows."""

    digests: Indices  # (n_fixed, 2): of the numbers in each row
    values: Array  # (n_fixed, K)

    @classmethod
    def from_rows(cls, X: Any, values: Array) -> FixedRows:
        return cls(row_digests(X), values)

    def places(self, X: Any) -> tuple[Indices, Indices]:
        """Return which rows of X have prescribed values, and the index of each among these."""
        place = {tuple(digest): i for i, digest in enumerate(self.digests.tolist())}
        found = [place.get(tuple(digest), -1) for digest in row_digests(X).tolist()]
        which = np.array(found, dtype=np.intp)
        rows = np.flatnonzero(which >= 0)
        return rows, which[rows]


def row_digests(X: Any) -> Indices:
    """Return 128 bits for each row, equal for equal numbers, as two integers."""
    digests = b"".join(
        hashlib.blake2b(key, digest_size=16).digest()
        for rows in row_blocks(X.shape[0], X.shape[1], 1 << 20)
        for key in row_keys(X[rows].astype(np.float64))
    )
    return np.frombuffer(digests, dtype="<i8").reshape(-1, 2).astype(np.int64)


@dataclass(frozen=True)
class CombinedFunctions(Eigenfunctions):
    """Combinations ``v(x) = u(x) B``, for known labels and pairs; values at some rows are fixed."""

    combined: Eigenfunctions
    combination: Array  # B
    fixed: FixedRows | None = None

    @classmethod
    def combine(
        cls, combined: Eigenfunctions, combination: Array, fixed: FixedRows | None = None
    ) -> CombinedFunctions:
        pairs, squares = combined.pairs, np.square(combination)
        of_combinations = replace(
            pairs,
            values=pairs.values @ squares / squares.sum(axis=0),
            vectors=pairs.vectors @ combination,
            products=pairs.products @ combination,
        )
        return cls(
            combined.affinity,
            combined.cut,
            of_combinations,
            combined.degrees,
            combined=combined,
            combination=combination,
            fixed=fixed,
        )

    @property
    def base(self) -> Eigenfunctions:
        return self.combined

    def with_support(self, X: Array) -> tuple[Array, Array]:
        U, support = self.combined.with_support(X)
        values = U @ self.combination
        rows, fixed_values = self.fixed_values(X)
        values[rows] = fixed_values
        return values, support

    def fixed_values(self, X: Any) -> tuple[Indices, Array]:
        if self.fixed is None:
            return super().fixed_values(X)
        rows, which = self.fixed.places(X)
        return rows, self.fixed.values[which]

    def eigenvectors(self) -> Array:
        return self.combined.eigenvectors() @ self.combination

    def at_training_vertices(self) -> Array:
        return self.combined.at_training_vertices() @ self.combination

    def unit(self, values: Array) -> Array:
        return self.combined.unit(values) / np.linalg.norm(self.combination, axis=0)

    def single_precision_pays(self, n_rows: int) -> bool:
        return self.combined.single_precision_pays(n_rows)

    def single_precision_values(self, X: Array) -> SinglePrecisionValues:
        rough = self.combined.single_precision_values(X)
        error = rough.error * np.linalg.norm(self.combination, 2)
        error[self.fixed_values(X)[0]] = np.inf
        return replace(rough, values=rough.values @ self.combination, error=error)

    def _state(self) -> dict[str, Any]:
        own = {"n_combined": len(self.combination), "combination": self.combination}
        state = self.combined._state() | own
        if self.fixed is not None:
            state["fixed"] = {"digests": self.fixed.digests, "values": self.fixed.values}
        return state

    @classmethod
    def _restored(cls, combined: Eigenfunctions, state: StateReader, K: int) -> CombinedFunctions:
        shape = (len(combined.pairs.values), K)
        combination = state.array("combination", shape, -LARGEST_SAVED, LARGEST_SAVED)
        if not np.square(combination).sum(axis=0).min() > 0:
            raise ValueError("combination must have no column of zeros.")
        fixed = None
        if "fixed" in state:
            part = state.part("fixed")
            values = part.array("values", (None, K), -LARGEST_SAVED, LARGEST_SAVED)
            shape = (len(values), 2)
            fixed = FixedRows(part.indices("digests", shape, 2**63, least=-(2**63)), values)
        return cls.combine(combined, combination, fixed)
