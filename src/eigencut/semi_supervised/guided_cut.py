"""Cuts that agree with known labels and pairs, from combinations of more eigenfunctions.

Labels: least squares on the known rows, around the clusters. The clusters of the cut without
labels, numbered to agree with the known ones, are scores ``u A0`` of the first K functions. What is
known corrects them, with P >= K functions,

    minimize  sum_i | e_(y_i) - phi_i A |^2 + gamma sum_k (lambda_k / lambda_(K+1) + 1) |A - A0|_k^2

over the known rows i, ``phi_i`` being the row ``u(x_i)`` of unit length. In the span of all
eigenfunctions this is the Laplacian-regularized least squares of Belkin, Niyogi and Sindhwani
(Journal of Machine Learning Research 7, 2399-2434, 2006). A is a mean over several P and gamma,
weighted by their errors at known rows that were left out, which have a closed form. If clusters
predict the known classes better than the shares of these do, a correction is made only if it
predicts them still better, each by a standard error. If not, maps around ``A0 = 0`` join the mean.
A class without known rows keeps the scores of its cluster.

Pairs: an eigenproblem among the smoothest eigenfunctions. For functions ``u B`` in the span of P
eigenfunctions the cut is ``tr(B^T Lambda B)``. A pair that must be linked adds ``|f_i - f_j|^2``, a
pair that cannot be adds ``2 f_i . f_j``, f being rows of unit length times B; so the constrained
cut is the eigenproblem of P x P numbers

    (Lambda / lambda_(K+1) + mu Q) b = theta b,    B^T B = I.

Its functions extend to any row, without constraints there. The weight mu of pairs is chosen by
pairs that are left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import blas_threads, warn_user
from eigencut.discretization import Partition, align, assign, normalize_rows, pod
from eigencut.extension.eigenfunctions import CombinedFunctions, Eigenfunctions, FixedRows
from eigencut.graphs.base import Graph
from eigencut.semi_supervised.known_labels import Known
from eigencut.solvers.relaxed_cut import RelaxedCut, pairs_of_groups

_LEAST = 1e-9  # a smaller divisor counts as 0


@dataclass(frozen=True)
class Policy:
    """How far labels and pairs change a cut; see benchmarks/studies/known_labels.md."""

    functions_per_cluster: int = 5  # This many functions are computed per cluster,
    least_functions: int = 30  # at least this many in all,
    most_further: int = 120  # and at most this many more than clusters.
    # Labels: these gammas are tried,
    gammas: tuple[float, ...] = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
    # with this many functions per cluster,
    factors: tuple[float, ...] = (1.0, 1.5, 2.0, 3.0, 5.0)
    counts: tuple[int, ...] = (10, 20, 30)  # and, for few clusters, with this many.
    sharpness: float = 0.3  # of the weights in the mean; a large one leaves only the best map.
    standard_errors: float = 1.0  # by which a gain must exceed 0.
    least_classes: int = 2  # With fewer known classes, clusters are not corrected.
    least_scale: float = 0.1  # Scores of clusters are multiplied by at least this.
    least_share: float = 0.1  # of the largest eigenvalue, for the unit of roughness.
    # Pairs: these strengths mu are tried,
    strengths: tuple[float, ...] = (0.1, 0.3, 1.0, 3.0)
    folds: int = 4  # by cross-validation with this many folds of pairs,
    some_vertices: int = 2000  # on this many vertices,
    starts: int = 4  # from this many starts of POD.
    least_pairs: int = 2  # per fold; with fewer, the first strength is taken.


POLICY = Policy()


class LabelMap(NamedTuple):
    """A map from functions to scores of classes, and its mean square error at known rows."""

    matrix: Array
    error: float
    is_corrected: bool


@dataclass(frozen=True)
class UnguidedCut:
    """A cut without known labels or pairs: K eigenfunctions of a graph, and options of POD."""

    functions: Eigenfunctions
    graph: Graph
    relaxed: RelaxedCut
    partition: Partition | None  # that of the eigenfunctions, where it is known
    starts: Mapping[str, Any]

    def discretized(self, U: Array) -> Partition:
        """Run POD on any vectors on the vertices."""
        return pod(U, sample_weight=self.graph.multiplicity, **self.starts)

    def wider(self, known: Known) -> Eigenfunctions:
        """Return more eigenfunctions, as many as the known labels and pairs can use."""
        functions, K = self.functions, len(self.functions.pairs.values)
        wanted = max(POLICY.functions_per_cluster * K, POLICY.least_functions)
        further = min(wanted - K, POLICY.most_further, known.n_facts)
        P = max(K, min(K + further, int(functions.pairs.takes_part.sum()) // 2))
        if P == K:
            return functions
        pairs = pairs_of_groups(
            self.graph,
            functions.affinity,
            functions.cut,
            P,
            components=self.relaxed.components,
            groups=self.relaxed.groups,
        )
        return replace(functions, pairs=pairs)


def guided_cut(
    unguided: UnguidedCut, known: Known
) -> tuple[Eigenfunctions, Partition, LabelMap | None]:
    """Return functions that agree with labels and pairs, their clusters, and the label map."""
    with blas_threads(1):
        functions, rotation, agreement = _combined(unguided, known)
        functions = _with_linked_rows(functions, rotation, known)
        rows, weight = normalize_rows(functions.eigenvectors()), unguided.graph.multiplicity
        scores = rows @ rotation
        labels = assign(scores)
        # The rotation is given, so the partition has one step: how well its clusters fit.
        objective = float(weight @ scores[np.arange(len(scores)), labels])
        total = float(weight.sum() + weight[rows.any(axis=1)].sum())
        gap, fit = np.sqrt(max(total - 2 * objective, 0.0)), np.array([objective])
        partition = Partition(labels, rotation, fit, np.array([gap]), n_iter=1, converged=True)
        _report_pairs(functions, rotation, known)
        return functions, partition, agreement


def _combined(unguided: UnguidedCut, known: Known) -> tuple[Eigenfunctions, Array, LabelMap | None]:
    """Return K functions, the rotation that turns them to clusters, and the map of labels."""
    own, weight = unguided.functions.eigenvectors(), unguided.graph.multiplicity
    plain = unguided.discretized(own) if unguided.partition is None else unguided.partition
    wide, K = unguided.wider(known), len(plain.rotation)
    U, values, eigenvalues = wide.eigenvectors(), wide(known.rows_at(known.rows)), wide.pairs.values
    rotation = align(U[:, :K], plain, own, weight)
    basis = basis_for_pairs(
        unguided, LinkedRows.of(known), U, values=values, eigenvalues=eigenvalues, rotation=rotation
    )
    if basis is not None:
        combination, eigenvalues = basis
        rotation = unguided.discretized(U @ combination[:, :K]).rotation
        values = values @ combination
    matrix, order, agreement = np.eye(len(eigenvalues), K) @ rotation, np.arange(K), None
    if len(known.labelled):
        values = values[np.searchsorted(known.rows, known.labelled)]
        classes = known.labels[known.labelled]
        order = numbered_like(normalize_rows(values[:, :K]) @ rotation, classes, K)
        agreement = label_map(values, classes, rotation[:, order], eigenvalues)
        matrix = agreement.matrix
    if basis is not None:
        matrix = combination @ matrix
    elif agreement is None or not agreement.is_corrected:
        return unguided.functions, plain.rotation[:, order], agreement
    # Write scores u A as functions u B, B orthogonal, smoothest first, times a rotation.
    left, singular, right = np.linalg.svd(matrix, full_matrices=False)
    singular = np.maximum(singular, _LEAST * singular[0])
    order = np.argsort(wide.pairs.values @ np.square(left), kind="stable")
    functions = CombinedFunctions.combine(wide, (left * singular)[:, order])
    return functions, np.ascontiguousarray(right[order]), agreement


def _roughness_unit(eigenvalues: Array, n_clusters: int) -> float:
    """Return lambda_(K+1), or more if the graph is nearly in more than K pieces."""
    least = max(POLICY.least_share * float(eigenvalues[-1]), _LEAST)
    return max(float(eigenvalues[min(n_clusters, len(eigenvalues) - 1)]), least)


def _is_clear(gain: Array) -> bool:
    """Return whether the mean gain is positive by more than its standard error."""
    if len(gain) < 2:
        return False
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    return bool(gain.mean() > POLICY.standard_errors * error)


def numbered_like(scores: Array, classes: Indices, n_clusters: int) -> Indices:
    """Match each class with a cluster; unseen classes take those that remain, in order."""
    votes = np.zeros((n_clusters, n_clusters))
    np.add.at(votes.T, classes, scores)
    seen = np.unique(classes)
    clusters, places = linear_sum_assignment(votes[:, seen], maximize=True)
    cluster_of = np.full(n_clusters, -1, dtype=np.intp)
    cluster_of[seen[places]] = clusters
    cluster_of[cluster_of < 0] = np.setdiff1d(np.arange(n_clusters), clusters)
    return cluster_of


def label_map(values: Array, classes: Indices, rotation: Array, eigenvalues: Array) -> LabelMap:
    """Fit the map from functions at known rows to classes, around the clusters of ``rotation``."""
    targets = np.eye(len(rotation))[classes]
    is_seen = targets.any(axis=0)
    tried = _tried(values, targets, rotation, eigenvalues)
    of_clusters = np.square(tried[0][1]).sum(axis=1)
    # Both errors are at rows not left out: of shares, and of clusters matched with classes.
    of_shares = np.square(targets - targets.mean(axis=0)).sum(axis=1)
    is_trusted = _is_clear(of_shares - of_clusters)
    if not is_trusted and is_seen.all():
        tried += _tried(values, targets, np.zeros_like(rotation), eigenvalues)
    matrices, left_out = (np.array(each) for each in zip(*tried, strict=True))
    errors = np.square(left_out).sum(axis=2)
    means = errors.mean(axis=1)
    best = int(np.argmin(means))
    is_better = _is_clear(of_clusters - errors[best])
    if is_seen.sum() < POLICY.least_classes or (is_trusted and not is_better):
        return LabelMap(matrices[0], float(of_clusters.mean()), is_corrected=False)
    behind = POLICY.sharpness * len(classes) * (means - means[best])
    weights = np.exp(-behind / (2 * max(means[best], _LEAST)))
    weights /= weights.sum()
    missing = np.tensordot(weights, left_out, 1)
    error = float(np.square(missing).sum(axis=1).mean())
    return LabelMap(np.tensordot(weights, matrices, 1), error, is_corrected=True)


def _tried(
    values: Array, targets: Array, rotation: Array, eigenvalues: Array
) -> list[tuple[Array, Array]]:
    """Return maps and their errors at rows left out; the first is the clusters uncorrected."""
    n_functions, K = values.shape[1], len(rotation)
    unit = _roughness_unit(eigenvalues, K)
    counts = {int(factor * K) for factor in POLICY.factors} | {*POLICY.counts, n_functions}
    tried = []
    for P in sorted(P for P in counts if K <= P <= n_functions):
        phi = normalize_rows(values[:, :P])
        scores = phi[:, :K] @ rotation
        # Otherwise a correction could look better by only making scores larger.
        scale = float((scores * targets).sum() / max(float(np.square(scores).sum()), _LEAST))
        start = np.zeros((n_functions, K))
        start[:K] = max(scale, POLICY.least_scale) * rotation
        missing = np.where(targets.any(axis=0), targets - phi @ start[:P], 0.0)
        tried.append((start, missing))
        for gamma in POLICY.gammas:
            penalty = gamma * (eigenvalues[:P] / unit + 1.0)
            correction, left_out = regularized_least_squares(phi, missing, penalty)
            matrix = start + np.pad(correction, ((0, n_functions - P), (0, 0)))
            tried.append((matrix, left_out))
    return tried


def regularized_least_squares(phi: Array, targets: Array, penalty: Array) -> tuple[Array, Array]:
    """Return ``argmin |targets - phi A|^2 + sum_k penalty_k |A_k|^2``, and leave-one-out errors."""
    gram = phi.T @ phi + np.diag(penalty)
    inverse = np.linalg.solve(gram, phi.T)
    coefficients = inverse @ targets
    leverage = np.einsum("ij,ji->i", phi, inverse)
    remaining = np.maximum(1 - leverage, _LEAST)[:, np.newaxis]
    return coefficients, (targets - phi @ coefficients) / remaining


@dataclass(frozen=True)
class LinkedRows:
    """Pairs of known rows, by their index in ``Known.rows``, and whether each is a must-link."""

    places: Indices
    is_must: Any

    @classmethod
    def of(cls, known: Known) -> LinkedRows:
        """Return pairs of the first row of each group with its others, and cannot-link pairs."""
        stars = [np.column_stack([np.full(len(g) - 1, g[0]), g[1:]]) for g in known.groups]
        pairs = np.concatenate([np.empty((0, 2), dtype=np.intp), *stars, known.apart])
        is_must = np.arange(len(pairs)) < len(pairs) - len(known.apart)
        return cls(np.searchsorted(known.rows, pairs), is_must)

    def __getitem__(self, some: Any) -> LinkedRows:
        return LinkedRows(self.places[some], self.is_must[some])

    def respected(self, labels: Indices) -> Array:
        """Return 1 for each pair that the labels of the known rows respect, else 0."""
        is_same = labels[self.places[:, 0]] == labels[self.places[:, 1]]
        return np.asarray(is_same == self.is_must, dtype=np.float64)


def penalized_basis(
    values: Array, pairs: LinkedRows, eigenvalues: Array, n_clusters: int, strength: float
) -> tuple[Array, Array]:
    """Return B and theta of the eigenproblem for pairs, given values at known rows."""
    first, second = (normalize_rows(values)[places] for places in pairs.places.T)
    must, cannot = pairs.is_must, ~pairs.is_must
    difference = first[must] - second[must]
    product = first[cannot].T @ second[cannot]
    penalty = difference.T @ difference + product + product.T
    smooth = np.diag(eigenvalues / _roughness_unit(eigenvalues, n_clusters))
    theta, matrix = np.linalg.eigh(smooth + strength * penalty)
    return matrix, theta - theta[0]


def basis_for_pairs(
    unguided: UnguidedCut,
    pairs: LinkedRows,
    U: Array,
    *,
    values: Array,
    eigenvalues: Array,
    rotation: Array,
) -> tuple[Array, Array] | None:
    """Return ``penalized_basis`` with the best strength for left-out pairs; None without a gain."""
    K, n_pairs = len(rotation), len(pairs.places)
    some = slice(None, None, -(-len(U) // POLICY.some_vertices))
    before = pairs.respected(assign(normalize_rows(values[:, :K]) @ rotation))
    if before.all():
        return None
    if n_pairs < POLICY.least_pairs * POLICY.folds:
        return penalized_basis(values, pairs, eigenvalues, K, strength=POLICY.strengths[0])
    fold = np.arange(n_pairs) % POLICY.folds
    respected = {strength: np.empty(n_pairs) for strength in POLICY.strengths}
    for strength, of_pairs in respected.items():
        for f in range(POLICY.folds):
            basis, _ = penalized_basis(values, pairs[fold != f], eigenvalues, K, strength=strength)
            partition = pod(
                U[some] @ basis[:, :K],
                sample_weight=unguided.graph.multiplicity[some],
                n_init=POLICY.starts,
                random_state=unguided.starts.get("random_state"),
            )
            labels = assign(normalize_rows(values @ basis[:, :K]) @ partition.rotation)
            of_pairs[fold == f] = pairs[fold == f].respected(labels)
    best = max(respected, key=lambda strength: float(respected[strength].mean()))
    if not _is_clear(respected[best] - before):
        return None
    return penalized_basis(values, pairs, eigenvalues, K, strength=best)


def _with_linked_rows(functions: Eigenfunctions, rotation: Array, known: Known) -> Eigenfunctions:
    """Return functions with one value in each group whose rows would get different labels."""
    torn: list[tuple[Indices, Array]] = []
    for group in known.groups:
        values = functions(known.rows_at(group))
        units = normalize_rows(values)
        if len(np.unique(assign(units @ rotation))) > 1:
            label = known.labels[group[0]]
            direction = rotation[:, label] if label >= 0 else units.sum(axis=0)
            value = np.linalg.norm(values, axis=1).mean() * normalize_rows(direction[np.newaxis])
            torn.append((group, np.repeat(value, len(group), axis=0)))
    if not torn:
        return functions
    rows, fixed_values = map(np.concatenate, zip(*torn, strict=True))
    fixed = FixedRows.from_rows(known.rows_at(rows), fixed_values)
    if isinstance(functions, CombinedFunctions):
        return replace(functions, fixed=fixed)
    return CombinedFunctions.combine(functions, np.eye(len(rotation)), fixed)


def _report_pairs(functions: Eigenfunctions, rotation: Array, known: Known) -> None:
    """Warn about cannot-link pairs whose rows have the same label."""
    if not len(known.apart):
        return
    rows, places = np.unique(known.apart, return_inverse=True)
    labels = assign(normalize_rows(functions(known.rows_at(rows))) @ rotation)
    first, second = labels[places.reshape(-1, 2)].T
    if n_same := int((first == second).sum()):
        warn_user(
            f"{n_same} of {len(first)} cannot-link pairs have the same label: {len(rotation)} "
            "clusters do not separate them. Raise n_clusters, or drop pairs that may be wrong."
        )
