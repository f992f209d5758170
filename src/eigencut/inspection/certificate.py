"""Whether every partition that is as good as the clusters found is close to them.

Partitions are projections. With y_k the indicator of cluster k, of unit norm in the masses of the
vertices, ``X = sum_k y_k y_k^T`` has trace K, ``0 <= X <= I``, keeps the constant, and its cut is
``tr(L X)``. So over all partitions X' into K clusters with a cut of c at most

    <A, X'>  >=  max over mu >= 0 of  (sum of the K smallest eigenvalues of A + mu L) - mu c,

those of the constant counted apart. With ``A = y_k y_k^T`` this bounds from above how impure the
counterpart of cluster k is, ``e_k = 1 - y_k^T X' y_k``. If every ``e_k < 1/2``, more than half of
one cluster of X' is of cluster k, another one for each k, and what they hold of others is at most

    G / (2 (1 - max e_k)),    G = 1 - <sum_k p_k y_k y_k^T, X'>,

as a share of all mass, p_k the masses of clusters: G is the mean Gini impurity, at least
``2 m (1 - m)`` in a cluster of which m is of others, and ``m <= e_k``. Of L only some smallest
eigenpairs are needed; the others count as the largest of these, which makes the bounds larger.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize_scalar
from sklearn.base import clone

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut.cut import Cut
from eigencut.exceptions import invalid
from eigencut.graphs.base import Graph, connected_components
from eigencut.inspection.policy import POLICY
from eigencut.solvers.relaxed_cut import eigenpairs
from eigencut.theory.errors import kept_rows, measured_on


@dataclass(frozen=True)
class Certificate(JsonReady):
    """How far a partition as good as the clusters found can be from them. ``print`` it.

    Attributes
    ----------
    differs_at_most : float
        Share of the mass of all vertices (degrees for NCut, rows for RatioCut) that any partition
        into K clusters with a cut that is not larger puts elsewhere, its clusters numbered to agree
        most. NaN where nothing can be said.
    per_cluster : array of shape (K,)
        Share of the counterpart of each cluster, in any such partition, that is of other clusters,
        at most. 1/2 and above say nothing.
    cut : float
        The cut value of the clusters on the graph of the fit, self-weights included.
    relaxed : float
        The sum of the eigenvalues: no partition has a smaller cut.
    next_eigenvalue : float
        That after the K of the relaxed cut; the clearer the clusters, the farther above ``cut``.
    aside : float
        Share of the rows in components of the graph that are far smaller than every cluster, of
        which nothing is said.
    """

    differs_at_most: float
    per_cluster: Array
    cut: float
    relaxed: float
    next_eigenvalue: float
    aside: float

    @property
    def holds(self) -> bool:
        """Whether there is a bound."""
        return not math.isnan(self.differs_at_most)

    @property
    def sentence(self) -> str:
        """The certificate."""
        if not self.holds:
            return (
                "There may be quite different partitions of the training rows with as small a cut"
            )
        percent = f"{math.ceil(1e4 * self.differs_at_most - 1e-6) / 100:.3g} %"
        return (
            f"No partition of the training rows with as small a cut differs in more than {percent} "
            "of their weight"
        )

    def __str__(self) -> str:
        return self.sentence


def certificate(model: Any) -> Certificate:
    """Bound how far any partition as good as the clusters found is from them.

    Parameters
    ----------
    model : fitted GPOD or TableModel
        One that keeps its training rows. Their graph is made again.

    Returns
    -------
    Certificate

    Notes
    -----
    **What is guaranteed.** Whatever the distribution: of all partitions into K clusters of the
    training rows that the fit cut, those with a cut on its graph that is not larger than that of
    the clusters found. The statement is on these rows; ``leaving_share`` and ``label_sets`` are on
    new ones. Where the eigenvalue after the K smallest is not well above the cut, as between
    clusters that touch, the relaxation can not tell and there is no bound. That is not evidence
    against the clusters.

    References
    ----------
    .. [1] M. Meila, H. Zhang, "Distribution free optimality intervals for clustering",
       arXiv:2107.14442, 2021.
    .. [2] G. Tyler, L. Zanetti, "An Improved and Generalised Analysis for Spectral Clustering",
       arXiv:2511.23261, 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> X = np.random.default_rng(0).random((300, 2))  # a square has two halves, and two others
    >>> print(certificate(GPOD(2, affinity=Gaussian(sigma=0.2)).fit(X)))
    There may be quite different partitions of the training rows with as small a cut
    """
    with measured_on(model) as (gpod, _, _):
        fitted = gpod.fitted_cut_
        remedy = "fit with affinity='neighbors' or 'gaussian'"
        rows = kept_rows(fitted.affinity, ", of which the graph is made again", remedy)
        graph = clone(fitted.affinity).fit_graph(rows, fitted.affinity.multiplicity_)
        if graph.n_vertices != len(fitted.partition.labels):
            got = f"{graph.n_vertices} different ones for {len(fitted.partition.labels)} labels"
            raise invalid("rows of the model", "all be different", got, "fit it again")
        return certified(graph, fitted.cut, fitted.partition.labels, fitted.n_clusters)


def certified(graph: Graph, cut: Cut, labels: Indices, K: int) -> Certificate:
    """Return the certificate of a partition of the vertices of a graph."""
    components = connected_components(graph)
    n_rows = np.bincount(components, graph.multiplicity)
    rows_of_clusters = np.bincount(labels, graph.multiplicity, K)
    n_pieces = int((n_rows >= POLICY.least_piece * rows_of_clusters.min()).sum())
    takes_part = components < n_pieces
    part = np.flatnonzero(takes_part)
    mass = cut.mass(graph.degrees)
    is_in = (labels[:, np.newaxis] == np.arange(K)) & takes_part[:, np.newaxis]
    count = graph.multiplicity[:, np.newaxis]
    sizes = (count[:, 0] * mass) @ is_in
    to = graph.matmat(count * is_in)
    leaves = (count * is_in * (to.sum(axis=1, keepdims=True) - to)).sum(axis=0)
    value = float((leaves / np.where(sizes > 0, sizes, 1.0)).sum())
    n_pairs = min(K + POLICY.further_pairs, len(part))
    values, of_others, differs = np.zeros(K + 1), np.ones(K), math.nan
    if n_pairs > K and n_pieces <= n_pairs and sizes.all():
        pairs = eigenpairs(graph, mass, n_pairs, np.where(takes_part, components, -1))
        values, root = pairs.values, np.sqrt(count * mass[:, np.newaxis])[part]
        shares = sizes / sizes.sum()
        Y = root * is_in[part] / np.sqrt(sizes)
        least = _least_within(
            value, U=root * pairs.vectors[part], values=values, Y=Y, shares=shares
        )
        of_others = np.array([1 - least(one) for one in np.eye(K)])
        if of_others.max() < 0.5:
            impurity = 1 - least(shares)
            differs = float(impurity / (2 * (1 - of_others.max())))
    return Certificate(
        differs_at_most=differs,
        per_cluster=of_others,
        cut=value,
        relaxed=float(values[:K].sum()),
        next_eigenvalue=float(values[K]),
        aside=float(1 - graph.multiplicity[part].sum() / graph.n_rows),
    )


def _least_within(
    cut: float, *, U: Array, values: Array, Y: Array, shares: Array
) -> Callable[[Array], float]:
    """Return what bounds ``<sum_k weights_k y_k y_k^T, X'>`` from below, as a function of weights.

    All is computed in the span of eigenvectors and indicators, less the constant. Outside of it,
    every eigenvalue counts as the largest that is known.
    """
    K, n_pairs, largest = Y.shape[1], len(values), float(values[-1])
    inside = U.T @ Y
    Y_in_span = np.vstack([inside, np.linalg.qr(Y - U @ inside)[1]])
    constant = Y_in_span @ np.sqrt(shares)
    others = np.linalg.svd(constant[np.newaxis])[2][1:].T
    diagonal = np.append(values, np.full(len(Y_in_span) - n_pairs, largest))
    laplacian = others.T @ (diagonal[:, np.newaxis] * others)
    indicators = others.T @ Y_in_span
    n_outside = min(max(len(U) - n_pairs - K, 0), K)

    def least(weights: Array) -> float:
        A = (indicators * weights) @ indicators.T

        def minus_dual(log_mu: float) -> float:
            mu = math.exp(log_mu)
            known = np.linalg.eigvalsh(A + mu * laplacian)
            smallest = np.sort(np.append(known, np.full(n_outside, mu * largest)))[: K - 1]
            return -float(smallest.sum() - mu * cut + shares @ weights)

        middle = -math.log(max(largest, 1e-300))  # every mu gives a bound; this is its scale
        ends = (middle - 7, middle + 14)
        found = minimize_scalar(minus_dual, bounds=ends, method="bounded")
        return min(max(-float(found.fun), 0.0), 1.0)

    return least
