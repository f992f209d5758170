"""How much weight there is between clusters: the graph of the clusters themselves.

    B_kl = sum over x in k, y in l of W(x, y),

with the factor 1/n of the graph. A model that keeps its rows is asked for W times the indicators,
which is exact. Others (landmarks, precomputed affinities) know their graph by K eigenfunctions.
With the indicators Z, ``A = Z^T M U`` and the masses m of the clusters,

    Z^T L Z = A Lambda A^T + sum over the unknown eigenpairs of lambda_j a_j a_j^T,

and the ``a_j a_j^T`` add up to ``diag(m) - A A^T``, which is known. No unknown lambda_j is below
the largest known one; with that one in their place no cut is overestimated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut.fitted import FittedCut
from eigencut.graph.base import EDGE
from eigencut.runtime.arrays import Array

_SOLVED = 1e-8  # what is left of a weight that is zero, where it comes from eigenvectors


@dataclass(frozen=True)
class ClusterWeights:
    """The weights between clusters.

    Attributes
    ----------
    weights : array of shape (K, K)
        Symmetric, B; the diagonal is what stays within clusters.
    mass : array of shape (K,)
        Of each cluster: its volume for NCut, its rows for RatioCut, in the units of the weights.
    rows : array of shape (K,)
        How many rows there are in each cluster.
    means : array of shape (K, n_features) or None
        Of the rows of each cluster, where they are known.
    exact : bool
    """

    weights: Array
    mass: Array
    rows: Array
    means: Array | None
    exact: bool


def cluster_weights(fitted: FittedCut) -> ClusterWeights:
    """Of a fitted cut, on the rows that it was fitted on."""
    functions, affinity = fitted.functions, fitted.affinity
    K, count = len(fitted.rotation), affinity.multiplicity_
    is_in = fitted.partition.labels[:, np.newaxis] == np.arange(K)
    mass = (count * functions.cut.mass(functions.degrees)) @ is_in
    places = getattr(affinity, "rows_", None)
    exact = places is not None
    weights = _asked(fitted, places, is_in) if exact else _estimated(fitted, is_in)
    weights = (weights + weights.T) / 2
    # What is no edge for the eigensolver is none here.
    least = (EDGE if exact else _SOLVED) * np.sqrt(np.outer(mass, mass))
    weights = np.where(weights > least, weights, 0.0)
    places = getattr(affinity, "landmark_rows_", None) if places is None else places
    return ClusterWeights(weights, mass, count @ is_in, _means(places, is_in, count), exact)


def _asked(fitted: FittedCut, rows: Any, is_in: Array) -> Array:
    product = fitted.affinity.apply(rows, is_in.astype(np.float64))
    to_clusters = np.exp(product.log_scale)[:, np.newaxis] * product.values
    return np.asarray((fitted.affinity.multiplicity_[:, np.newaxis] * is_in).T @ to_clusters)


def _estimated(fitted: FittedCut, is_in: Array) -> Array:
    functions = fitted.functions
    pairs, count = functions.pairs, fitted.affinity.multiplicity_
    part, weight = pairs.takes_part, count * functions.cut.mass(functions.degrees)
    coefficients = (weight[part, np.newaxis] * is_in[part]).T @ pairs.vectors[part]
    unknown = np.diag(weight[part] @ is_in[part]) - coefficients @ coefficients.T
    laplacian = (coefficients * pairs.values) @ coefficients.T + pairs.values[-1] * unknown
    return np.asarray(np.diag((count * functions.degrees) @ is_in) - laplacian)


def _means(places: Any, is_in: Array, count: Array) -> Array | None:
    if places is None:
        return None
    share = count[:, np.newaxis] * is_in
    share = share / np.maximum(share.sum(axis=0), 1.0)
    found = places.T @ share
    return np.asarray(found.toarray() if issparse(found) else found).T
