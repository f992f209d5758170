"""The leaving share of each cluster on new data, with confidence limits.

    y(x) = 1 - h_k(x),    h_k(x) = (W 1_k)(x) / d(x),    k the label of x:

is the share of a row's weight that goes to training rows of other clusters. It lies between 0 and
1 for every affinity, and given the fit, the shares of rows are independent. So bets (see
``theory/betting.py``) give limits of its mean in every cluster, for any distribution of rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array, Indices, are_counts
from eigencut._utils.json_ready import JsonReady
from eigencut.graphs.base import listed
from eigencut.theory.betting import limits_of_mean
from eigencut.theory.errors import measured_on, ratio


@dataclass(frozen=True)
class LeavingShares(JsonReady):
    """How similar new rows are to rows of other clusters, as a share. ``print`` it to read it.

    A row's leaving share is the share of its weight that goes to training rows of other clusters.
    If held-out rows are independent draws from one distribution, the mean over all rows of this
    distribution lies within the limits [1]_. This does not mean that the clusters are the right
    ones.

    Attributes
    ----------
    mean, sizes, numbers : arrays of shape (K,)
        The mean over the held-out rows of each cluster (NaN without rows), the number of these
        rows, and the number that ``predict`` gives the cluster.
    low, high, confidence : arrays of shape (K,), and float
        Limits of the mean of each cluster. All limits hold together with the probability
        ``confidence``, for any distribution and number of rows.

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
    numbers: Indices
    confidence: float

    @property
    def sentence(self) -> str:
        """The largest limit in words, and the clusters without rows, which have no limit."""
        at_most = 100 * float(self.high[self.sizes > 0].max())
        step = 10.0 ** (math.floor(math.log10(at_most)) - 1)
        percent = min(step * math.ceil(at_most / step), 100.0)  # never below the limit
        text = f"On new data at most {percent:.3g} % of any cluster's similarity goes to other "
        text += f"clusters ({100 * self.confidence:g} % confidence)"
        empty = listed(self.numbers[self.sizes == 0])
        return f"{text}. No held-out rows are in cluster {empty}" if empty else text

    def __str__(self) -> str:
        lines = [self.sentence, "", f"{'cluster':>8}  {'rows':>8}  {'leaves':>8}  {'limits':>16}"]
        for k, (size, mean) in enumerate(zip(self.sizes, self.mean, strict=True)):
            limits = f"{self.low[k]:.2%} to {self.high[k]:.2%}"
            shown = f"{mean:.2%}" if size else "no rows"
            lines.append(f"{self.numbers[k]:8d}  {size:8d}  {shown:>8}  {limits:>16}")
        return "\n".join(lines)


def leaving_share(
    model: Any, X: ArrayLike, *, sample_weight: ArrayLike | None = None, confidence: float = 0.95
) -> LeavingShares | None:
    """Return the leaving share of each cluster; None if weights are not numbers of rows."""
    with measured_on(model, X, sample_weight) as (gpod, rows, counts):
        if counts is not None:
            times = np.rint(counts)
            if not (are_counts(times) and np.allclose(times, counts, rtol=1e-9)):
                return None
        fitted = gpod.fitted_cut_
        # Not predict(): rows that it labels as outliers still belong to the population.
        labels, K = fitted.labels(rows), fitted.n_clusters
        leaves = leaving_of_rows(fitted.affinity, rows, fitted.partition.labels, labels, K)
    if counts is not None:
        each = np.repeat(np.arange(len(times)), times.astype(np.intp))
        labels, leaves = labels[each], leaves[each]
    sizes, sums = np.bincount(labels, minlength=K), np.bincount(labels, leaves, K)
    alpha = (1 - confidence) / K
    low, high = np.transpose([limits_of_mean(leaves[labels == k], alpha) for k in range(K)])
    return LeavingShares(ratio(sums, sizes), low, high, sizes, gpod.cluster_numbers_, confidence)


def leaving_of_rows(
    affinity: Any, rows: Any, voters: Indices, labels: Indices, n_clusters: int
) -> Array:
    """Return the share of the weight of each row that goes to vertices of other clusters."""
    shares = affinity.shares(rows, voters, n_clusters)[0]
    stays = np.asarray(shares[np.arange(len(labels)), labels]).ravel()
    return np.clip(1.0 - stays, 0.0, 1.0)
