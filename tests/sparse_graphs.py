"""Sparse graphs for tests, and their eigenvalues by LAPACK."""

import numpy as np
import scipy.linalg
from scipy.sparse import csr_array
from scipy.spatial import cKDTree

from eigencut.cut import CUTS
from eigencut.graphs.base import SparseGraph, connected_components
from eigencut.solvers.relaxed_cut import eigenpairs


def neighbours_graph(X, k=10, weights="binary", multiplicity=None):
    """The symmetric graph of k neighbours, self-weights included, on distinct rows."""
    distance, index = cKDTree(X).query(X, k + 1)
    values = np.ones_like(distance)
    if weights == "local":
        scale = distance[:, -1]
        values = np.exp(-(distance**2) / (scale[:, None] * scale[index]))
    n = len(X)
    rows = np.repeat(np.arange(n), k + 1)
    A = csr_array((values.ravel(), (rows, index.ravel())), shape=(n, n))
    return sparse_graph((A + A.T) / 2, multiplicity)


def sparse_graph(weights, multiplicity=None):
    n = weights.shape[0]
    counts = np.ones(n, dtype=int) if multiplicity is None else multiplicity
    return SparseGraph(csr_array(weights), counts.astype(float), np.repeat(np.arange(n), counts))


def solve(graph, cut, K, **options):
    groups = connected_components(graph)
    return eigenpairs(graph, CUTS[cut].mass(graph.degrees), K, groups, **options)


def reference(graph, cut, K):
    """``C (D - W C) u = lambda C M u`` by LAPACK."""
    C = np.diag(graph.multiplicity)
    W = C @ graph.dense() @ C / graph.n_rows
    mass = graph.multiplicity * CUTS[cut].mass(graph.degrees)
    L = np.diag(W.sum(axis=1)) - W
    return scipy.linalg.eigh(L, np.diag(mass), eigvals_only=True)[:K]
