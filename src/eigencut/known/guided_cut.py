"""The cut that knows something: more eigenfunctions, combined to agree with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from eigencut.discretization import Partition, align, assign, normalize_rows, pod
from eigencut.extension.combined import CombinedFunctions, FixedRows
from eigencut.extension.eigenfunctions import Eigenfunctions
from eigencut.graph.base import Graph
from eigencut.known.information import Known
from eigencut.known.label_map import Agreement, label_map, numbered_like
from eigencut.known.pair_penalty import Basis, RowPairs, basis_for_pairs
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.threads import blas_threads
from eigencut.runtime.warn import warn_user
from eigencut.solvers.relaxed_cut import RelaxedCut, further_pairs

_FUNCTIONS_PER_CLUSTER, _LEAST_FUNCTIONS, _MOST_FURTHER = 5, 30, 120
_LEAST = 1e-9  # of a singular value, relative to the largest


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
        of_graph = (self.relaxed, self.graph, self.functions.affinity, self.functions.cut)
        return replace(self.functions, pairs=further_pairs(*of_graph, n_functions))


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
    return CombinedFunctions.of(wide, combination), np.ascontiguousarray(right[order])


def _row_pairs(known: Known) -> RowPairs:
    """Pairs by the places of rows among the known ones: those linked as stars, and those apart."""
    stars = [np.column_stack([np.full(len(g) - 1, g[0]), g[1:]]) for g in known.groups]
    linked = np.concatenate([np.empty((0, 2), dtype=np.intp), *stars])
    is_must = np.arange(len(linked) + len(known.apart)) < len(linked)
    places = np.searchsorted(known.rows, np.concatenate([linked, known.apart]))
    return RowPairs(places, is_must)


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
    fixed = FixedRows.of(known.rows_at(np.concatenate(fixed_rows)), np.concatenate(fixed_values))
    if isinstance(functions, CombinedFunctions):
        return replace(functions, fixed=fixed)
    return CombinedFunctions.of(functions, np.eye(len(rotation)), fixed)


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
