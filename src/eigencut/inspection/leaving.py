"""The leaving share of each cluster on new data, with limits that hold.

    y(x) = 1 - h_k(x),    h_k(x) = (W 1_k)(x) / d(x),    k the label of x:

the share of a row's weight that goes to training rows of other clusters. It lies between 0 and 1
for every affinity and is independent from row to row given the fit, so bets on it (see
``theory/betting.py``) give limits of its mean in every cluster, whatever the distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array, Indices, are_counts
from eigencut._utils.json_ready import JsonReady
from eigencut.exceptions import invalid
from eigencut.theory.betting import limits_of_mean
from eigencut.theory.errors import measured_on, ratio


@dataclass(frozen=True)
class LeavingShares(JsonReady):
    """How much of a row's similarity leaves its cluster, on new data. ``print`` it to read it.

    Given the model, rows that are independent draws from one distribution, and a number of rows
    that was chosen beforehand, the mean of ``1 - h_k(x)`` over the rows that the model labels k
    lies within the limits. It is a statement on the clusters as they are, not on whether they are
    the right ones. The limits are by betting [1]_.

    Attributes
    ----------
    mean : array of shape (K,)
        The mean over the rows of each cluster; NaN for a cluster without rows.
    low, high : array of shape (K,)
        Limits of the mean of the population. All of them hold together with probability
        ``confidence``, whatever the distribution and the number of rows.
    sizes : array of shape (K,)
        Rows of each cluster.
    confidence : float

    References
    ----------
    .. [1] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting",
       Journal of the Royal Statistical Society B 86, 1-27, 2024.

    Examples
    --------
    A part of an assessment::

        eigencut.inspection.assess(model, X_heldout).leaving
    """

    mean: Array
    low: Array
    high: Array
    sizes: Indices
    confidence: float

    @property
    def at_most(self) -> float:
        """The largest of the upper limits."""
        return float(self.high.max())

    @property
    def sentence(self) -> str:
        """The certificate."""
        step = 10.0 ** (math.floor(math.log10(100 * self.at_most)) - 1)
        percent = min(step * math.ceil(100 * self.at_most / step), 100.0)  # never below the limit
        return (
            f"On new data at most {percent:.3g} % of the rows' similarity goes to other clusters "
            f"({100 * self.confidence:g} % confidence)"
        )

    def __str__(self) -> str:
        lines = [self.sentence, "", f"{'cluster':>8}  {'rows':>8}  {'leaves':>8}  {'limits':>16}"]
        for k, (size, mean) in enumerate(zip(self.sizes, self.mean, strict=True)):
            limits = f"{self.low[k]:.2%} to {self.high[k]:.2%}"
            shown = f"{mean:.2%}" if size else "no rows"
            lines.append(f"{k:8d}  {size:8d}  {shown:>8}  {limits:>16}")
        return "\n".join(lines)


def leaving_share(
    model: Any, X: ArrayLike, *, sample_weight: ArrayLike | None = None, confidence: float = 0.95
) -> LeavingShares:
    """Return how much of the similarity of rows leaves their clusters, with limits."""
    with measured_on(model, X, sample_weight) as (gpod, rows, counts):
        labels, leaves = _leaves(gpod.fitted_cut_, rows)
    if counts is not None:
        times = np.rint(counts)
        if not (are_counts(times) and np.allclose(times, counts, rtol=1e-9)):
            expected = "be integers, of at most 2^24 together, for limits of a mean"
            remedy = "leave it out, or repeat rows in proportion"
            raise invalid("sample_weight", expected, "others", remedy)
        each = np.repeat(np.arange(len(times)), times.astype(np.intp))
        labels, leaves = labels[each], leaves[each]
    K = gpod.fitted_cut_.n_clusters
    sizes, sums = np.bincount(labels, minlength=K), np.bincount(labels, leaves, K)
    alpha = (1 - confidence) / K
    low, high = np.transpose([limits_of_mean(leaves[labels == k], alpha) for k in range(K)])
    return LeavingShares(ratio(sums, sizes), low, high, sizes=sizes, confidence=confidence)


def _leaves(fitted: Any, rows: Any) -> tuple[Indices, Array]:
    """Return the label of each row, and the share of its weight that goes to other clusters."""
    # Not predict(): a row that it leaves out still has a place in the population.
    labels, voters = fitted.labels(rows), fitted.partition.labels
    return labels, leaving_of_rows(fitted.affinity, rows, voters, labels, fitted.n_clusters)


def leaving_of_rows(
    affinity: Any, rows: Any, voters: Indices, labels: Indices, n_clusters: int
) -> Array:
    """Return the share of the weight of each row that goes to vertices of other clusters."""
    shares = affinity.shares(rows, voters, n_clusters)[0]
    stays = np.asarray(shares[np.arange(len(labels)), labels]).ravel()
    return np.clip(1.0 - stays, 0.0, 1.0)
