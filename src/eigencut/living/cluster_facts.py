"""What rows tell about the clusters of a fitted cut, added up: support, shares, and what leaves.

The share of a row's weight that goes to training rows of cluster k is ``h_k(x) = (W 1_k)(x) /
d(x)``. With ``t_k(x)`` how far the row belongs to cluster k itself, a population has the cut value

    sum_k  E d(x) t_k(x) (1 - h_k(x)) / E m(x) t_k(x),    m = d (NCut) or 1 (RatioCut).

t_k is 1 or 0 by the label; with landmarks it is the sum of the memberships in landmarks of cluster
k, so that these means over all training rows follow from the sums that the landmarks keep.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from eigencut.affinity import Landmarks
from eigencut.discretization import assign
from eigencut.extension.labelling import Mask, is_outlier, scores_and_support
from eigencut.fitted import FittedCut
from eigencut.runtime.arrays import Array, Indices


@dataclass(frozen=True)
class ClusterFacts:
    """Of some rows.

    Attributes
    ----------
    is_outside : array of shape (n_rows,)
        Whether the row is without support.
    belongs : array of shape (n_rows, K)
        t.
    leaves, mass : arrays of shape (n_rows, K)
        ``d t (1 - h)`` and ``m t``.
    degrees : array of shape (n_rows,)
        d.
    weight : array of shape (n_rows,)
        How many times each row counts.
    """

    is_outside: Mask
    belongs: Array
    leaves: Array
    mass: Array
    degrees: Array
    weight: Array

    @classmethod
    def of(cls, fitted: FittedCut, X: Array, weight: Array | None = None) -> ClusterFacts:
        """Of the rows of X."""
        K, affinity = len(fitted.rotation), fitted.affinity
        of_vertices = np.eye(K)[fitted.partition.labels]
        scores, support = scores_and_support(fitted.functions, fitted.rotation, X)
        if isinstance(affinity, Landmarks):
            members = affinity._memberships(X)
            masses = affinity._masses_of(members)
            belongs = members.average(of_vertices)
            to = members.average(_steps(affinity, of_vertices))
            degrees = np.ones(X.shape[0]) if masses is None else masses
        else:
            belongs = np.eye(K)[assign(scores)]
            product = affinity.apply(X, of_vertices)
            to = product.values / product.degrees[:, np.newaxis]
            degrees = np.exp(np.minimum(product.log_degrees, 700.0))
        leaves = degrees[:, np.newaxis] * belongs * np.clip(1 - to, 0.0, 1.0)
        mass = fitted.functions.cut.mass(degrees)[:, np.newaxis] * belongs
        counts = np.ones(X.shape[0]) if weight is None else weight
        is_outside = is_outlier(support, fitted.least_support)
        return cls(is_outside, belongs, leaves, mass, degrees, counts)

    def __getitem__(self, rows: Indices) -> ClusterFacts:
        of_clusters = (self.belongs[rows], self.leaves[rows], self.mass[rows])
        return ClusterFacts(
            self.is_outside[rows], *of_clusters, self.degrees[rows], self.weight[rows]
        )

    def each_row(self) -> ClusterFacts:
        """Every row on its own, where weights are numbers of identical rows."""
        if (self.weight != np.rint(self.weight)).any():
            return self
        rows = np.repeat(np.arange(len(self.weight)), self.weight.astype(np.intp))
        return replace(self[rows], weight=np.ones(len(rows)))

    def of_clusters(self, columns: Indices) -> ClusterFacts:
        """With clusters in another order."""
        of_rows = (self.belongs[:, columns], self.leaves[:, columns], self.mass[:, columns])
        return ClusterFacts(self.is_outside, *of_rows, self.degrees, self.weight)

    @property
    def totals(self) -> FactTotals:
        w = self.weight
        n = float(w.sum() ** 2 / (w @ w))  # of rows that count the same, as good as these
        unit = n / w.sum()
        return FactTotals(
            n,
            unit * float(w @ self.is_outside),
            unit * (w @ self.belongs),
            unit * (w @ self.leaves),
            unit * (w @ self.mass),
        )

    @property
    def largest(self) -> Array:
        """The largest weight of a row that could leave each cluster."""
        return np.asarray((self.degrees[:, np.newaxis] * self.belongs).max(axis=0))


@dataclass(frozen=True)
class FactTotals:
    """The same, added up over ``n_rows`` rows."""

    n_rows: float
    n_outside: float
    belongs: Array
    leaves: Array
    mass: Array

    @classmethod
    def of_sums(cls, fitted: FittedCut) -> FactTotals:
        """Of the training rows of landmarks, by the sums that they keep."""
        affinity = fitted.affinity
        assert isinstance(affinity, Landmarks)
        if affinity.sums_ is None:
            raise ValueError(
                "model must have kept the sums over its rows to be compared with others. Got a "
                "model from a file of format 1, which has none; fit it anew and save it."
            )
        of_vertices = np.eye(len(fitted.rotation))[fitted.partition.labels]
        gram = affinity.sums_.all_pairs().gram
        volume = gram.sum(axis=1) @ of_vertices
        inside = ((gram @ of_vertices) * _steps(affinity, of_vertices)).sum(axis=0)
        rows = affinity.multiplicity_ @ of_vertices
        mass = volume if fitted.functions.cut.mass_power else rows
        judged, n = fitted.judged, float(affinity.n_rows_)
        return cls(n, judged.share * n, rows, np.maximum(volume - inside, 0.0), mass)

    def cut_value(self, of: Mask) -> float:
        """The sum over some clusters."""
        return float((self.leaves[of] / self.mass[of]).sum())


def _steps(affinity: Landmarks, of_vertices: Array) -> Array:
    """``V^-1 E 1_k`` of each landmark: where its weight goes."""
    assert affinity.sums_ is not None
    gram = affinity.sums_.all_pairs().gram
    return np.asarray(gram @ of_vertices / gram.sum(axis=1, keepdims=True))
