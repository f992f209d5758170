"""The cut that knows something: more eigenfunctions, combined to agree with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import blas_threads
from eigencut._utils.warn import warn_user
from eigencut.discretization import Partition, align, assign, normalize_rows, pod
from eigencut.extension.eigenfunctions import CombinedFunctions, Eigenfunctions, FixedRows
from eigencut.graphs.base import Graph
from eigencut.semi_supervised.known_labels import Known
from eigencut.solvers.relaxed_cut import RelaxedCut, further_pairs

# From smooth functions to classes: least squares on the known rows, around the clusters.
#
# The clusters of the cut without labels, numbered to agree with the known ones, are scores ``u
# A0`` of the first K functions: their rotation, times what brings them nearest to the known
# classes. What is known corrects them, with P >= K functions,
#
#   minimize  sum_i | e_(y_i) - phi_i A |^2 + gamma sum_k (lambda_k / lambda_(K+1) + 1) |A - A0|_k^2
#
# over the known rows i, ``phi_i`` being the row ``u(x_i)`` of unit length: rough functions are
# corrected least, and without labels nothing is. In the span of all eigenfunctions this is the
# Laplacian-regularized least squares of Belkin, Niyogi and Sindhwani. P and gamma are weighed by
# what each says of a known row that was left out, which has a closed form. Where the clusters say
# more of the known classes than the shares of these do, no correction is made unless it says
# still more, each by a standard error; where they do not, maps around ``A0 = 0`` are weighed too.
# Of a class that no row is known of labels say nothing: its scores stay those of its cluster.
#
# References
# ----------
# .. [1] M. Belkin, P. Niyogi, V. Sindhwani, "Manifold Regularization", Journal of Machine Learning
#    Research 7, 2399-2434, 2006.

# Chosen on generated data and on other sets than those of the learning curve: see
# benchmarks/studies/known_labels.md.
_GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
_FACTORS = (1.0, 1.5, 2.0, 3.0, 5.0)  # of K: how many functions are tried
_COUNTS = (10, 20, 30)  # and, where K is small, so many
_SHARPNESS = 0.3  # of the weights of what was tried; large takes the best alone
_STANDARD_ERRORS = 1.0  # by which one must be better than another
_LEAST_CLASSES = 2  # that are known of, to correct clusters by: one alone would be all rows
_LEAST_SCALE = 0.1
_LEAST_SHARE = 0.1  # of the largest eigenvalue: the least that roughness is measured by
_LEAST = 1e-9


@dataclass(frozen=True)
class Agreement:
    """How well a cut agrees with known labels.

    Attributes
    ----------
    errors : array of shape (n_known,)
        The squared error of each known row: if it is left out, where labels have corrected the
        clusters, and else of the clusters, scaled to the labels.
    is_corrected : bool
        Whether they have.
    """

    errors: Array
    is_corrected: bool

    @property
    def error(self) -> float:
        return float(self.errors.mean())


class LabelMap(NamedTuple):
    """Scores of classes, a column of ``matrix`` for each; and how well they agree with labels."""

    matrix: Array
    agreement: Agreement


def numbered_like(scores: Array, classes: Indices, n_clusters: int) -> Indices:
    """For each class the cluster that it is, given the scores of known rows along the clusters.

    Classes that are known to none of the rows are the clusters that remain, in their order.
    """
    votes = np.zeros((n_clusters, n_clusters))
    np.add.at(votes.T, classes, scores)
    seen = np.unique(classes)
    clusters, places = linear_sum_assignment(votes[:, seen], maximize=True)
    cluster_of = np.full(n_clusters, -1, dtype=np.intp)
    cluster_of[seen[places]] = clusters
    cluster_of[cluster_of < 0] = np.setdiff1d(np.arange(n_clusters), clusters)
    return cluster_of


def label_map(values: Array, classes: Indices, rotation: Array, eigenvalues: Array) -> LabelMap:
    """Fit the map from functions to classes.

    Parameters
    ----------
    values : array of shape (n_known, n_functions)
        The functions at the known rows.
    classes : array of shape (n_known,)
        Their classes.
    rotation : array of shape (K, K)
        Carries the first K functions to the clusters, in the order of the classes.
    eigenvalues : array of shape (n_functions,)
        Of the functions, ascending.
    """
    targets = np.eye(len(rotation))[classes]
    is_seen = targets.any(axis=0)
    tried = _tried(values, targets, rotation, eigenvalues)
    of_clusters = tried[0]
    is_trusted = _is_clearly_better(of_clusters.errors, _errors_of_shares(targets))
    if not is_trusted and is_seen.all():
        tried += _tried(values, targets, np.zeros_like(rotation), eigenvalues)
    means = np.array([one.errors.mean() for one in tried])
    best = int(np.argmin(means))
    is_clear = _is_clearly_better(tried[best].errors, of_clusters.errors)
    if is_seen.sum() < _LEAST_CLASSES or (is_trusted and not is_clear):
        return LabelMap(of_clusters.matrix, Agreement(of_clusters.errors, is_corrected=False))
    exponent = _SHARPNESS * len(classes) * (means - means[best]) / (2 * max(means[best], _LEAST))
    weights = np.exp(-exponent) / np.exp(-exponent).sum()
    matrix, left_out = (
        np.tensordot(weights, np.array(of_all), 1)
        for of_all in ([one.matrix for one in tried], [one.left_out for one in tried])
    )
    return LabelMap(matrix, Agreement(np.square(left_out).sum(axis=1), is_corrected=True))


class _Tried(NamedTuple):
    """A map, and how far off each known row is if it is left out."""

    matrix: Array
    left_out: Array

    @property
    def errors(self) -> Array:
        return np.asarray(np.square(self.left_out).sum(axis=1))


def _tried(values: Array, targets: Array, rotation: Array, eigenvalues: Array) -> list[_Tried]:
    """The clusters as they are, and what corrects them by several P and gamma."""
    n_functions, K = values.shape[1], len(rotation)
    # A graph that is nearly in more than K pieces must not make all else infinitely rough.
    least = max(_LEAST_SHARE * float(eigenvalues[-1]), _LEAST)
    scale = max(float(eigenvalues[min(K, n_functions - 1)]), least)
    found = []
    for P in _numbers_of_functions(K, n_functions):
        phi = normalize_rows(values[:, :P])
        start = np.zeros((n_functions, K))
        start[:K] = _scale(phi[:, :K] @ rotation, targets) * rotation
        missing = np.where(targets.any(axis=0), targets - phi @ start[:P], 0.0)
        found.append(_Tried(start, missing))
        for gamma in _GAMMAS:
            penalty = gamma * (eigenvalues[:P] / scale + 1.0)
            correction, left_out = regularized_least_squares(phi, missing, penalty)
            corrected = start + np.pad(correction, ((0, n_functions - P), (0, 0)))
            found.append(_Tried(corrected, left_out))
    return found


def _errors_of_shares(targets: Array) -> Array:
    """Squared errors of what knows only the shares of the classes.

    No row is left out, for neither is one when clusters take the numbers and scale of the classes.
    """
    return np.asarray(np.square(targets - targets.mean(axis=0)).sum(axis=1))


def regularized_least_squares(phi: Array, targets: Array, penalty: Array) -> tuple[Array, Array]:
    """``argmin |targets - phi A|^2 + sum_k penalty_k |A_k|^2``; and how far off it is at each row
    when that is left out.
    """
    gram = phi.T @ phi + np.diag(penalty)
    inverse = np.linalg.solve(gram, phi.T)
    coefficients = inverse @ targets
    leverage = np.einsum("ij,ji->i", phi, inverse)
    remaining = np.maximum(1 - leverage, _LEAST)[:, np.newaxis]
    return coefficients, (targets - phi @ coefficients) / remaining


def _scale(scores: Array, targets: Array) -> float:
    """What to multiply scores by, lest a correction look better that only makes them larger."""
    best = float((scores * targets).sum() / max(float(np.square(scores).sum()), _LEAST))
    return max(best, _LEAST_SCALE)


def _is_clearly_better(errors: Array, others: Array) -> bool:
    """Whether errors of the same rows are less, by more than chance."""
    gain = others - errors
    if len(gain) < 2:
        return False
    return bool(gain.mean() > _STANDARD_ERRORS * gain.std(ddof=1) / np.sqrt(len(gain)))


def _numbers_of_functions(K: int, available: int) -> list[int]:
    wanted = {int(factor * K) for factor in _FACTORS} | {*_COUNTS, available}
    return sorted(P for P in wanted if K <= P <= available)


# Pairs of rows in the cut: an eigenproblem among the smoothest eigenfunctions.
#
# For functions ``u B`` in the span of P eigenfunctions the cut is ``tr(B^T Lambda B)``. Each pair
# that must be linked adds ``|f_i - f_j|^2``, each pair that cannot be adds ``2 f_i . f_j``, f being
# rows of unit length times B; so the constrained cut is the eigenproblem
#
#     (Lambda / lambda_(K+1) + mu Q) b = theta b,    B^T B = I,
#
# of P x P numbers. Its functions are combinations of eigenfunctions, and so they are known at any
# row, which needs no constraints. How much pairs count, mu, is chosen by pairs that are left out.

_STRENGTHS = (0.1, 0.3, 1.0, 3.0)  # mu
_FOLDS = 4
_SOME_VERTICES = 2000  # on which strengths are compared
_STARTS = 4  # of POD, for each
_LEAST_PAIRS = 2 * _FOLDS  # fewer cannot tell strengths apart: then
_USUAL_STRENGTH = 0.1


@dataclass(frozen=True)
class Basis:
    """Functions ``u C``, smoothest first, and their eigenvalues theta, from 0 on."""

    matrix: Array
    eigenvalues: Array


@dataclass(frozen=True)
class LinkedRows:
    """Pairs of known rows, by their place among these; whether each must be linked."""

    places: Indices
    is_must: Any

    def __getitem__(self, some: Any) -> LinkedRows:
        return LinkedRows(self.places[some], self.is_must[some])

    def respected(self, labels: Indices) -> Array:
        """1 for each pair that labels of the known rows respect, 0 for others."""
        is_same = labels[self.places[:, 0]] == labels[self.places[:, 1]]
        return np.asarray(is_same == self.is_must, dtype=np.float64)


def penalized_basis(
    values: Array, pairs: LinkedRows, eigenvalues: Array, n_clusters: int, strength: float
) -> Basis:
    """All P functions of the penalized problem, from the values of eigenfunctions at known rows."""
    least = max(_LEAST_SHARE * float(eigenvalues[-1]), _LEAST)  # as in ``label_map``
    scale = max(float(eigenvalues[min(n_clusters, len(eigenvalues) - 1)]), least)
    first, second = (normalize_rows(values)[places] for places in pairs.places.T)
    must, cannot = pairs.is_must, ~pairs.is_must
    difference = first[must] - second[must]
    product = first[cannot].T @ second[cannot]
    penalty = difference.T @ difference + product + product.T
    theta, matrix = np.linalg.eigh(np.diag(eigenvalues / scale) + strength * penalty)
    return Basis(matrix, theta - theta[0])


def basis_for_pairs(
    U: Array,
    weight: Array,
    values: Array,
    pairs: LinkedRows,
    eigenvalues: Array,
    unconstrained: Partition,
    random_state: Any,
) -> Basis | None:
    """The penalized problem with the strength that serves pairs that were left out best.

    None if that is not clearly better than the ``unconstrained`` partition.

    Parameters
    ----------
    U, weight : arrays of shape (n_vertices, P) and (n_vertices,)
        The eigenvectors, and how many rows each vertex stands for.
    values : array of shape (n_known, P)
        The eigenfunctions at the known rows.
    pairs : LinkedRows
    eigenvalues : array of shape (P,)
    unconstrained : Partition
        Whose rotation is that of the first K of these eigenfunctions.
    random_state : as of ``pod``
    """
    K = len(unconstrained.rotation)
    some = slice(None, None, -(-len(U) // _SOME_VERTICES))

    def basis_of(chosen: LinkedRows, strength: float) -> Basis:
        return penalized_basis(values, chosen, eigenvalues, K, strength)

    def labels_of(basis: Basis) -> Indices:
        columns = basis.matrix[:, :K]
        found = pod(
            U[some] @ columns,
            sample_weight=weight[some],
            n_init=_STARTS,
            random_state=random_state,
        )
        return assign(normalize_rows(values @ columns) @ found.rotation)

    before = assign(normalize_rows(values[:, :K]) @ unconstrained.rotation)
    if pairs.respected(before).all():
        return None
    if len(pairs.places) < _LEAST_PAIRS:
        return basis_of(pairs, _USUAL_STRENGTH)
    fold = np.arange(len(pairs.places)) % _FOLDS
    kept = {}
    for strength in _STRENGTHS:
        kept[strength] = np.empty(len(pairs.places))
        for f in range(_FOLDS):
            found = labels_of(basis_of(pairs[fold != f], strength))
            kept[strength][fold == f] = pairs[fold == f].respected(found)
    best = max(kept, key=lambda strength: float(kept[strength].mean()))
    gain = kept[best] - pairs.respected(before)
    is_clear = gain.mean() > gain.std(ddof=1) / np.sqrt(len(gain))  # a standard error
    return basis_of(pairs, best) if is_clear else None


_FUNCTIONS_PER_CLUSTER, _LEAST_FUNCTIONS, _MOST_FURTHER = 5, 30, 120


class GuidedCut(NamedTuple):
    """Functions whose labels agree with what is known; and the clusters of the vertices.

    The ``agreement`` with labels is there if any are known.
    """

    functions: Eigenfunctions
    partition: Partition
    agreement: Agreement | None


@dataclass(frozen=True)
class UnguidedCut:
    """A cut that knows nothing: K eigenfunctions of a graph, and options of POD for its clusters.

    The ``partition`` is what comes of it, where that is known.
    """

    functions: Eigenfunctions
    graph: Graph
    relaxed: RelaxedCut
    partition: Partition | None
    starts: Mapping[str, Any]

    @property
    def n_clusters(self) -> int:
        return len(self.functions.pairs.values)

    @property
    def weight(self) -> Array:
        return self.graph.multiplicity

    def clusters(self) -> Partition:
        if self.partition is not None:
            return self.partition
        return self.discretized(self.functions.eigenvectors())

    def discretized(self, U: Array) -> Partition:
        """POD of any vectors on the vertices."""
        return pod(U, sample_weight=self.weight, **self.starts)

    def wider(self, n_functions: int) -> Eigenfunctions:
        """More of its eigenfunctions."""
        if n_functions == self.n_clusters:
            return self.functions
        affinity, cut = self.functions.affinity, self.functions.cut
        pairs = further_pairs(self.relaxed, self.graph, affinity, cut, n_functions)
        return replace(self.functions, pairs=pairs)


def n_functions(known: Known, n_clusters: int, n_vertices: int) -> int:
    """P: how many eigenfunctions are of use to K clusters, given what is known."""
    wanted = max(_FUNCTIONS_PER_CLUSTER * n_clusters, _LEAST_FUNCTIONS)
    further = min(wanted - n_clusters, _MOST_FURTHER, known.n_facts)
    return max(n_clusters, min(n_clusters + further, n_vertices // 2))


def guided_cut(unguided: UnguidedCut, known: Known) -> GuidedCut:
    """Bend a cut to what is known of its rows."""
    with blas_threads(1):
        functions, rotation, agreement = _Guide(unguided, known).combined()
        functions = _with_linked_rows(functions, rotation, known)
        rows = normalize_rows(functions.eigenvectors())
        partition = _partition(rows, rotation, unguided.weight)
        _report_pairs(functions, rotation, known)
        return GuidedCut(functions, partition, agreement)


class _Guide:
    """P functions of a cut, those of them that pairs prefer, and the map that labels ask for."""

    def __init__(self, unguided: UnguidedCut, known: Known) -> None:
        self._unguided, self._known = unguided, known
        self._K = unguided.n_clusters
        n_part = int(unguided.functions.pairs.takes_part.sum())
        self._wide = unguided.wider(n_functions(known, self._K, n_part))
        self._values = self._wide(known.rows_at(known.rows))

    @cached_property
    def _U(self) -> Array:
        return self._wide.eigenvectors()

    def combined(self) -> tuple[Eigenfunctions, Array, Agreement | None]:
        """K functions, the rotation that carries them to clusters, and their agreement."""
        K, plain = self._K, self._unguided.clusters()
        own = self._unguided.functions.eigenvectors()
        rotation = align(self._U[:, :K], plain, own, self._unguided.weight)
        basis = self._basis(replace(plain, rotation=rotation))
        if basis is not None:
            rotation = self._unguided.discretized(self._U @ basis.matrix[:, :K]).rotation
        matrix = np.zeros((len(self._wide.pairs.values), K))
        matrix[:K] = rotation
        places = np.searchsorted(self._known.rows, self._known.labelled)
        order, agreement = np.arange(K), None
        if len(places):
            classes = self._known.labels[self._known.labelled]
            values, eigenvalues = self._values[places], self._wide.pairs.values
            if basis is not None:
                values, eigenvalues = values @ basis.matrix, basis.eigenvalues
            scores = normalize_rows(values[:, :K]) @ rotation
            order = numbered_like(scores, classes, K)
            found = label_map(values, classes, rotation[:, order], eigenvalues)
            matrix, agreement = found
        if basis is None and (agreement is None or not agreement.is_corrected):
            return self._unguided.functions, plain.rotation[:, order], agreement
        if basis is not None:
            matrix = basis.matrix @ matrix
        return *_orthogonal(self._wide, matrix), agreement

    def _basis(self, partition: Partition) -> Basis | None:
        """What pairs of rows make of the functions; None if nothing."""
        pairs = _row_pairs(self._known)
        if not len(pairs.places):
            return None
        return basis_for_pairs(
            self._U,
            self._unguided.weight,
            self._values,
            pairs,
            self._wide.pairs.values,
            partition,
            self._unguided.starts.get("random_state"),
        )


def _orthogonal(wide: Eigenfunctions, matrix: Array) -> tuple[Eigenfunctions, Array]:
    """Scores ``u A`` as functions ``u B`` with orthogonal B, smoothest first, and a rotation."""
    left, singular, right = np.linalg.svd(matrix, full_matrices=False)
    singular = np.maximum(singular, _LEAST * singular[0])
    order = np.argsort(wide.pairs.values @ np.square(left), kind="stable")
    combination = (left * singular)[:, order]
    return CombinedFunctions.combine(wide, combination), np.ascontiguousarray(right[order])


def _row_pairs(known: Known) -> LinkedRows:
    """Pairs by the places of rows among the known ones: those linked as stars, and those apart."""
    stars = [np.column_stack([np.full(len(g) - 1, g[0]), g[1:]]) for g in known.groups]
    linked = np.concatenate([np.empty((0, 2), dtype=np.intp), *stars])
    is_must = np.arange(len(linked) + len(known.apart)) < len(linked)
    places = np.searchsorted(known.rows, np.concatenate([linked, known.apart]))
    return LinkedRows(places, is_must)


def _with_linked_rows(functions: Eigenfunctions, rotation: Array, known: Known) -> Eigenfunctions:
    """The functions, with one value for all rows of a group that they would tear apart."""
    fixed_rows: list[Indices] = []
    fixed_values: list[Array] = []
    for group in known.groups:
        values = functions(known.rows_at(group))
        units = normalize_rows(values)
        if len(np.unique(assign(units @ rotation))) == 1:
            continue
        label = known.labels[group[0]]
        direction = rotation[:, label] if label >= 0 else units.sum(axis=0)
        length = np.linalg.norm(values, axis=1).mean()
        value = length * normalize_rows(direction[np.newaxis])
        fixed_rows.append(group)
        fixed_values.append(np.repeat(value, len(group), axis=0))
    if not fixed_rows:
        return functions
    fixed = FixedRows.from_rows(
        known.rows_at(np.concatenate(fixed_rows)), np.concatenate(fixed_values)
    )
    if isinstance(functions, CombinedFunctions):
        return replace(functions, fixed=fixed)
    return CombinedFunctions.combine(functions, np.eye(len(rotation)), fixed)


def _partition(rows: Array, rotation: Array, weight: Array) -> Partition:
    """The clusters of unit rows by a given rotation; its history is how well they fit it."""
    scores = rows @ rotation
    labels = assign(scores)
    objective = float(weight @ scores[np.arange(len(scores)), labels])
    total = float(weight.sum() + weight[rows.any(axis=1)].sum())
    gap = np.sqrt(max(total - 2 * objective, 0.0))
    return Partition(labels, rotation, np.array([objective]), np.array([gap]), 1, converged=True)


def _report_pairs(functions: Eigenfunctions, rotation: Array, known: Known) -> None:
    """Warn about rows that should be apart and are not."""
    if not len(known.apart):
        return
    rows, places = np.unique(known.apart, return_inverse=True)
    labels = assign(normalize_rows(functions(known.rows_at(rows))) @ rotation)[
        places.reshape(-1, 2)
    ]
    n_same = int((labels[:, 0] == labels[:, 1]).sum())
    if n_same:
        warn_user(
            f"{n_same} of {len(labels)} cannot-link pairs have the same label: no smooth cut into "
            f"{len(rotation)} clusters tells them apart. Raise n_clusters, or drop pairs that may "
            "be wrong."
        )
