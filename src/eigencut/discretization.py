"""POD, the program of optimal discretization (Algorithm 3; Yu and Shi, 2003).

``pod`` finds labels and a rotation R of eigenvectors U. rows(U) has the rows of U at unit length:

    minimize  || one_hot(labels) - rows(U) R ||_F    over labels and orthonormal R.

It improves labels and R in turn. For given labels, the best R comes from the singular value
decomposition ``one_hot^T rows(U) = V Omega Vt^T`` as ``R = Vt V^T``, with the objective
``trace(R^T rows(U)^T one_hot) = tr(Omega)``. So ``pod`` maximizes ``tr(Omega)`` over labels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from eigencut._utils.arrays import TIE, Array, Indices
from eigencut._utils.running import advance
from eigencut._utils.validation import (
    check_choice,
    check_count,
    check_eigenvectors,
    described,
    real_array,
    weights_of_rows,
)
from eigencut.exceptions import invalid
from eigencut.graphs.base import first_of_largest
from eigencut.io.state_reader import StateReader


@dataclass(frozen=True)
class PodSettings:
    """How long ``pod`` searches for the best rotation."""

    many_rows: int = 4000  # starts are compared on a sample of this size,
    rows_per_cluster: int = 100  # or of this number of rows per cluster, if that is larger
    most_starts: int = 6  # the largest number of starts, as a multiple of ``n_init``
    cheap_entries: int = 20_000  # up to this many entries of U, further starts cost little
    few_clusters: int = 16  # up to this K, single rows are tried in other clusters (``_polish``)
    nearly_perfect: float = 1e-4  # the search ends this close to the largest possible objective
    ambiguous_rows: int = 32  # rows that ``_best_move`` tries in their second cluster
    worth_moving: float = 1e-6  # the least relative gain of such a move


SETTINGS = PodSettings()


@dataclass(frozen=True)
class Partition:
    """Clusters, and the rotation of eigenvectors that gave them.

    Attributes
    ----------
    labels : array of shape (n_rows,)
        The cluster of each row: the column in which ``U @ rotation`` is largest.
    rotation : array of shape (K, K)
        Orthonormal; column k points to cluster k.
    objective_history : array of shape (n_iter,)
        ``tr(Omega)`` after each step, never falling.
    gap_history : array of shape (n_iter,)
        The distance of the rotated rows from the axes of their clusters after each step, which
        never rises; the paper's figure of convergence shows it.
    n_iter, converged : int, bool

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import pod
    >>> found = pod(np.array([[1.0, 0.1], [0.9, 0.0], [0.1, 1.0], [0.0, 0.8]]))
    >>> found.labels.tolist(), found.converged
    ([0, 0, 1, 1], True)
    """

    labels: Indices
    rotation: Array
    objective_history: Array
    gap_history: Array
    n_iter: int
    converged: bool

    def _history(self) -> dict[str, Any]:
        """Return all fields but labels and rotation, for a file."""
        return {name: v for name, v in vars(self).items() if name not in ("labels", "rotation")}

    @classmethod
    def _restored(cls, state: StateReader, labels: Indices, rotation: Array) -> Partition:
        """Return the partition of a saved ``_history()``, with these labels and rotation."""
        objective_history = state.array("objective_history", (None,))
        return cls(
            labels,
            rotation,
            objective_history=objective_history,
            gap_history=state.array("gap_history", objective_history.shape),
            n_iter=state.integer("n_iter", least=0),
            converged=state.flag("converged"),
        )

    @classmethod
    def _without_rotation(cls, labels: Indices, n_clusters: int) -> Partition:
        """Return the partition of a discrete cut, which has labels but no rotation."""
        none = np.empty(0)
        return cls(labels, np.empty((n_clusters, 0)), none, none, n_iter=0, converged=True)

    @property
    def objective(self) -> float:
        """Return the final ``tr(Omega)``."""
        return float(self.objective_history[-1])


def normalize_rows(U: Array) -> Array:
    """Scale rows to unit length (line 8 of Algorithms 1 and 2); rows of zeros stay zeros."""
    # Divide by the largest entry first, so that squares neither over- nor underflow.
    largest = np.abs(U).max(axis=1, keepdims=True)
    scaled = U / np.where(largest > 0, largest, 1.0)
    length = np.linalg.norm(scaled, axis=1, keepdims=True)
    return np.asarray(scaled / np.where(length > 0, length, 1.0))


def assign(scores: Array) -> Indices:
    """Return the column with the largest score of each row; the first one if several are equal."""
    return np.argmax(scores >= scores.max(axis=1, keepdims=True) - TIE, axis=1)


def pod(
    U: ArrayLike,
    n_clusters: int | None = None,
    init: ArrayLike | str | None = None,
    n_init: int = 10,
    random_state: int | np.random.RandomState | None = None,
    max_iter: int = 1000,
    tol: float = 1e-10,
    sample_weight: ArrayLike | None = None,
) -> Partition:
    """Find the clusters that eigenvectors U show: POD, the paper's Algorithm 3.

    Parameters
    ----------
    U : array of shape (n_rows, K)
        Eigenvectors as columns. Rows need not be normalized.
    n_clusters : int, optional
        The number K of columns to use. Default: all columns.
    init : array of shape (K, K) or "literal", optional
        The rotation to start from; its columns keep their numbers. "literal" is exactly one start
        of Algorithm 3: a row at random, then rows as orthogonal to the former as possible. Default:
        the best of several starts, with clusters numbered by decreasing size.
    n_init : int, default=10
        The search ends after this many starts without improvement, or when half as many have found
        the best result again. The first ``n_init`` starts are those of Algorithm 3, and further
        ones are random rotations. Starts are compared on at most 4000 rows.
    random_state : int, RandomState or None
        The seed of the starts. None means 0, so results are reproducible.
    max_iter : int, default=1000
        The largest number of steps of one start.
    tol : float, default=1e-10
        A start ends when the labels no longer change, or the objective grows by less than this
        share of it. 0 is the "machine precision" of Algorithm 3.
    sample_weight : array of shape (n_rows,), optional
        How many times each row counts.

    Returns
    -------
    Partition

    References
    ----------
    .. [1] S. X. Yu, J. Shi, "Multiclass Spectral Clustering", IEEE International Conference on
       Computer Vision, 2003.

    Examples
    --------
    >>> import numpy as np
    >>> pod(np.array([[1.0, 0.1], [1.0, -0.1], [0.1, 1.0]])).labels
    array([0, 0, 1])
    """
    U = check_eigenvectors(U, n_clusters)
    weight = np.ones(len(U))
    if sample_weight is not None:
        weight = weights_of_rows(sample_weight, len(U))
    check_n_init(n_init)
    check_count("max_iter", max_iter, "use the default of 1000")
    if not (isinstance(tol, Real) and 0 <= tol < 1):
        raise invalid("tol", "be at least 0 and below 1", repr(tol), "use the default 1e-10")
    rows = _WeightedRows(normalize_rows(U), weight)
    rng = check_random_state(0 if random_state is None else random_state)
    if isinstance(init, str):
        check_choice("init", init, ("literal",))
        return _alternate(rows, next(_starts(rows, 1, rng)), max_iter, tol)
    if init is not None:
        shape, start = (rows.n_clusters, rows.n_clusters), real_array("init", init)
        if start.shape != shape or not np.isfinite(start).all():  # it may be singular
            expected = f"be 'literal' or a finite matrix of shape {shape}"
            remedy = "leave it out for several starts from rows"
            raise invalid("init", expected, described(start), remedy)
        return _alternate(rows, start, max_iter, tol)
    some, enough = rows, max(SETTINGS.many_rows, SETTINGS.rows_per_cluster * rows.n_clusters)
    if rows.n_rows > enough:  # a sample is enough to compare starts
        sample = np.sort(rng.choice(rows.n_rows, enough, replace=False))
        some = _WeightedRows(rows.rows[sample], rows.weight[sample])
    best = _best_of_many_starts(some, n_init, rng, max_iter, tol)
    if some is not rows:
        best = _alternate(rows, best.rotation, max_iter, tol)
    return _number_by_size(best, rows)


def check_n_init(n_init: Any) -> None:
    """Raise an error unless ``n_init`` is a number of starts up to 10 000."""
    check_count("n_init", n_init, "use the default of 10", most=10_000)


class _WeightedRows:
    """Rows of unit length, and their weights."""

    def __init__(self, rows: Array, weight: Array) -> None:
        self.rows, self.weight = rows, weight
        self.n_rows, self.n_clusters = rows.shape
        self.is_zero = np.asarray(~rows.any(axis=1))
        self._weighted_columns = np.ascontiguousarray((rows * weight[:, np.newaxis]).T)

    @cached_property
    def total(self) -> float:
        """The weighted squared norm of indicators plus that of the rows, for the gap of POD."""
        return float(self.weight.sum() + self.weight[~self.is_zero].sum())

    def sums(self, labels: Indices) -> Array:
        """Return ``one_hot^T rows``: the weighted sum of the rows of each cluster."""
        K = self.n_clusters
        return np.stack([np.bincount(labels, c, K) for c in self._weighted_columns], axis=1)

    def best_rotation(self, labels: Indices) -> tuple[Array, float]:
        """Return ``R = Vt V^T`` and ``tr(Omega)`` of ``one_hot^T rows = V Omega Vt^T``."""
        V, omega, Vt = np.linalg.svd(self.sums(labels))
        is_null = omega <= TIE * omega[0]
        if is_null.any():  # e.g. a cluster without rows, whose direction rounding would choose
            V[:, is_null] = _basis_of_rows(np.eye(len(V)), V[:, is_null])
            Vt[is_null] = _basis_of_rows(self.rows, Vt[is_null].T).T
        return Vt.T @ V.T, float(omega.sum())


def _basis_of_rows(rows: Array, basis: Array) -> Array:
    """Return a basis of the same space with columns along rows, so that rounding is harmless."""
    parts, found = rows @ basis, []
    for _ in range(basis.shape[1]):
        lengths = np.linalg.norm(parts, axis=1)
        longest = first_of_largest(lengths)
        if lengths[longest] <= TIE:  # the rows do not span the space
            return basis
        direction = parts[longest] / lengths[longest]
        found.append(direction)
        parts = parts - np.outer(parts @ direction, direction)
    return np.asarray(basis @ np.column_stack(found))


def _best_of_many_starts(
    rows: _WeightedRows, n_init: int, rng: np.random.RandomState, max_iter: int, tol: float
) -> Partition:
    """Run starts until ``n_init`` in a row fail to improve the best, or half as many repeat it."""
    # With few rows, starts cost little and local optima are many: run up to three times as many.
    patience = int(np.clip(SETTINGS.cheap_entries // rows.rows.size, n_init, 3 * n_init))
    best: Partition | None = None
    in_vain, again, most = 0, 0, SETTINGS.most_starts * n_init
    starts = islice(_starts(rows, n_init, rng), most)
    for done, start in enumerate(starts, 1):
        found = _alternate(rows, start, max_iter, tol)
        if best is None or found.objective > best.objective * (1 + 1e-9):
            best, in_vain, again = found, 0, 0
        else:
            in_vain += 1
            again += found.objective >= best.objective * (1 - 1e-9)
        # The objective cannot exceed the weight of all rows, which have length 1.
        is_perfect = best.objective >= (1 - SETTINGS.nearly_perfect) * rows.weight.sum()
        is_enough = is_perfect or in_vain >= patience or again >= max(1, n_init // 2)
        advance(done, done if is_enough else min(done - in_vain + patience, most), "starts")
        if is_enough:
            break
    assert best is not None
    return _polish(best, rows, max_iter, tol)


def _starts(rows: _WeightedRows, n_init: int, rng: np.random.RandomState) -> Iterator[Array]:
    """Yield ``n_init`` starts that are made of rows, then random rotations without end."""
    candidates = np.flatnonzero(~rows.is_zero)
    if len(candidates):
        n_rows, K = min(n_init, len(candidates)), rows.n_clusters
        for first in rng.choice(candidates, size=n_rows, replace=False):
            # Step 1 of Algorithm 3: c += |rows R_{k-1}|; the row of the least c is the next column.
            rotation = np.empty((K, K))
            rotation[:, 0] = rows.rows[first]
            # Rows of zeros, which are orthogonal to everything, are never chosen.
            overlap = np.where(rows.is_zero, np.inf, 0.0)
            for k in range(1, K):
                overlap += np.abs(rows.rows @ rotation[:, k - 1])
                rotation[:, k] = rows.rows[first_of_largest(-overlap)]
            yield rotation
    while True:
        yield np.linalg.qr(rng.standard_normal((rows.n_clusters,) * 2))[0]


def _alternate(rows: _WeightedRows, rotation: Array, max_iter: int, tol: float) -> Partition:
    """Run steps 3 and 4 of Algorithm 3 until labels no longer change or the objective stalls."""
    history: list[float] = []
    labels = np.full(rows.n_rows, -1)
    converged = False
    while len(history) < max_iter and not converged:
        previous, labels = labels, np.argmax(rows.rows @ rotation, axis=1)
        if history and np.array_equal(labels, previous):
            converged = True
            break
        rotation, objective = rows.best_rotation(labels)
        converged = bool(history) and not objective > history[-1] * (1 + tol)
        history.append(objective)
    objectives = np.array(history)
    return Partition(
        labels=assign(rows.rows @ rotation),
        rotation=rotation,
        objective_history=objectives,
        gap_history=np.sqrt(np.maximum(rows.total - 2 * objectives, 0.0)),
        n_iter=len(history),
        converged=converged,
    )


def _polish(partition: Partition, rows: _WeightedRows, max_iter: int, tol: float) -> Partition:
    """Improve a fixed point of ``_alternate`` by moving single rows, while that pays."""
    if rows.rows.size > SETTINGS.cheap_entries or not 1 < rows.n_clusters <= SETTINGS.few_clusters:
        return partition
    for _ in range(max_iter):
        moved = _best_move(partition, rows)
        if moved is None:
            break
        better = _alternate(rows, rows.best_rotation(moved)[0], max_iter, tol)
        if better.objective <= partition.objective * (1 + tol):
            break
        objectives = np.append(partition.objective_history, better.objective_history)
        gaps, n_iter = np.append(partition.gap_history, better.gap_history), len(objectives)
        partition = replace(better, objective_history=objectives, gap_history=gaps, n_iter=n_iter)
    return partition


def _best_move(partition: Partition, rows: _WeightedRows) -> Indices | None:
    """Return the labels after the best move of one ambiguous row, or None if no move pays."""
    labels, scores, every = partition.labels, rows.rows @ partition.rotation, np.arange(rows.n_rows)
    own = scores[every, labels]
    scores[every, labels] = -np.inf
    second = np.argmax(scores, axis=1)
    ambiguous = np.argsort(own - scores.max(axis=1), kind="stable")[: SETTINGS.ambiguous_rows]
    change = rows.weight[ambiguous, np.newaxis] * rows.rows[ambiguous]
    sums = np.repeat(rows.sums(labels)[np.newaxis], len(ambiguous), axis=0)
    every = every[: len(ambiguous)]
    sums[every, second[ambiguous]] += change
    sums[every, labels[ambiguous]] -= change
    objectives = np.linalg.svd(sums, compute_uv=False).sum(axis=1)
    best = int(np.argmax(objectives))
    if objectives[best] <= partition.objective * (1 + SETTINGS.worth_moving):
        return None
    moved = labels.copy()
    moved[ambiguous[best]] = second[ambiguous[best]]
    return moved


def align(U: Array, partition: Partition, reference: Array, weight: Array) -> Array:
    """Return the rotation of U that fits the labels of a partition of ``reference`` best."""
    if U is reference or np.array_equal(U, reference):
        return partition.rotation
    return _WeightedRows(normalize_rows(U), weight).best_rotation(partition.labels)[0]


def _number_by_size(partition: Partition, rows: _WeightedRows) -> Partition:
    """Number the clusters by decreasing size, and order the columns of R in the same way."""
    labels, rotation = partition.labels, partition.rotation
    # Repeat: ties go to the first column, so that a new order can change labels, and then sizes.
    for _ in range(len(rotation) + 1):
        columns = by_size(labels, rows.weight, len(rotation))
        if (columns == np.arange(len(rotation))).all():
            break
        rotation = rotation[:, columns]
        labels = assign(rows.rows @ rotation)
    return replace(partition, labels=labels, rotation=rotation)


def by_size(labels: Indices, weight: Array, n_clusters: int) -> Indices:
    """Return cluster numbers by decreasing size; equal clusters by their first row."""
    size = np.bincount(labels, weights=weight, minlength=n_clusters)
    first = np.full(n_clusters, np.inf)
    np.minimum.at(first, labels, np.arange(len(labels)))
    return np.lexsort((first, -size))
