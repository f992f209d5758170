"""Pairs of rows in the cut: an eigenproblem among the smoothest eigenfunctions.

For functions ``u B`` in the span of P eigenfunctions the cut is ``tr(B^T Lambda B)``. Each pair
that must be linked adds ``|f_i - f_j|^2``, each pair that cannot be adds ``2 f_i . f_j``, f being
rows of unit length times B; so the constrained cut is the eigenproblem

    (Lambda / lambda_(K+1) + mu Q) b = theta b,    B^T B = I,

of P x P numbers. Its functions are combinations of eigenfunctions, and so they are known at any
row, which needs no constraints. How much pairs count, mu, is chosen by pairs that are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut.discretization import Partition, assign, normalize_rows, pod
from eigencut.runtime.arrays import Array, Indices

_STRENGTHS = (0.1, 0.3, 1.0, 3.0)  # mu
_FOLDS = 4
_SOME_VERTICES = 2000  # on which strengths are compared
_STARTS = 4  # of POD, for each
_LEAST_PAIRS = 2 * _FOLDS  # fewer cannot tell strengths apart: then
_USUAL_STRENGTH = 0.1
_LEAST_SHARE = 0.1
_LEAST = 1e-9


@dataclass(frozen=True)
class Basis:
    """Functions ``u C``, smoothest first, and their eigenvalues theta, from 0 on."""

    matrix: Array
    eigenvalues: Array


@dataclass(frozen=True)
class RowPairs:
    """Pairs of known rows, by their place among these; whether each must be linked."""

    places: Indices
    is_must: Any

    def __getitem__(self, some: Any) -> RowPairs:
        return RowPairs(self.places[some], self.is_must[some])

    def respected(self, labels: Indices) -> Array:
        """1 for each pair that labels of the known rows respect, 0 for others."""
        is_same = labels[self.places[:, 0]] == labels[self.places[:, 1]]
        return np.asarray(is_same == self.is_must, dtype=np.float64)


def penalized_basis(
    values: Array, pairs: RowPairs, eigenvalues: Array, n_clusters: int, strength: float
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
    pairs: RowPairs,
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
    pairs : RowPairs
    eigenvalues : array of shape (P,)
    unconstrained : Partition
        Whose rotation is that of the first K of these eigenfunctions.
    random_state : as of ``pod``
    """
    K = len(unconstrained.rotation)
    some = slice(None, None, -(-len(U) // _SOME_VERTICES))

    def basis_of(chosen: RowPairs, strength: float) -> Basis:
        return penalized_basis(values, chosen, eigenvalues, K, strength)

    def labels_of(basis: Basis) -> Indices:
        columns = basis.matrix[:, :K]
        starts = {"n_init": _STARTS, "random_state": random_state}
        found = pod(U[some] @ columns, sample_weight=weight[some], **starts)
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
