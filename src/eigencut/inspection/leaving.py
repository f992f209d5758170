"""The leaving share of each cluster on new data, with limits that hold.

    y(x) = 1 - h_k(x),    h_k(x) = (W 1_k)(x) / d(x),    k the label of x:

the share of a row's weight that goes to training rows of other clusters. It lies between 0 and 1
for every affinity and is independent from row to row given the fit, so bets on it (see
``theory/betting.py``) give limits of its mean in every cluster, whatever the distribution.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from eigencut._utils.arrays import Array, Indices, are_counts
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import check_fraction
from eigencut.exceptions import invalid
from eigencut.theory.betting import STAKES, limits_of_mean
from eigencut.theory.errors import measured_on, ratio


@dataclass(frozen=True)
class LeavingShares(JsonReady):
    """How much of a row's similarity leaves its cluster, on new data. ``print`` it to read it.

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
    model: Any,
    X: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    confidence: float = 0.95,
) -> LeavingShares:
    """Return how much of a row's similarity leaves its cluster on new data, with limits.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X : array-like of shape (m, n_features)
        Rows that played no part in the fit.
    sample_weight : array-like of shape (m,), optional
        How many rows each row stands for, as integers.
    confidence : float, default=0.95
        Of the limits of all clusters together.

    Returns
    -------
    LeavingShares

    Notes
    -----
    **What is guaranteed.** Given the model, rows of X that are independent draws from one
    distribution, and m chosen beforehand, the mean of ``1 - h_k(x)`` over the rows that the model
    labels k lies within the limits, for all K clusters at once, with probability ``confidence`` at
    least. It is a statement on the clusters as they are, not on whether they are the right ones.
    ``LeavingSequence`` has limits that may be looked at every night.

    References
    ----------
    .. [1] I. Waudby-Smith, A. Ramdas, "Estimating means of bounded random variables by betting",
       Journal of the Royal Statistical Society B 86, 1-27, 2024.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> X = np.random.default_rng(0).normal(size=(500, 2))
    >>> X[::2, 0] += 9
    >>> model = GPOD(2, affinity=Gaussian(sigma=1.0)).fit(X[:200])
    >>> print(leaving_share(model, X[200:]).sentence.partition(" (")[0])
    On new data at most 4.4 % of the rows' similarity goes to other clusters
    """
    confidence = check_fraction("confidence", confidence, 0.95)
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


@dataclass
class LeavingSequence:
    """Leaving shares of rows that come in night by night: limits that hold on all nights at once.

    The limits of each night may be looked at, and one may stop or go on because of them: with
    probability ``confidence``, no night's limits miss, for as long as rows come from one
    distribution. Where ``most`` is given, a cluster whose lower limit rises above it leaks.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    confidence : float, default=0.95
    most : float or array of shape (K,), optional
        The share that may leave a cluster, e.g. ``leaving_share(model, X).high``, which has a
        confidence of its own.

    Attributes
    ----------
    low, high : array of shape (K,)
        The limits so far.
    leaking_since : dict of int to object
        Of each cluster that leaks: the night from which on its rows speak for it.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(900, 2)) + np.repeat([[0, 0], [6, 0]], 450, axis=0)
    >>> rng.shuffle(X)
    >>> model = GPOD(2, affinity=Gaussian(sigma=1.0)).fit(X[:300])
    >>> nights = LeavingSequence(model, most=leaving_share(model, X[300:600]).high)
    >>> _ = nights.add(X[600:700], when="Monday")
    >>> nights.leaking_since
    {}
    >>> for night in ("Tuesday", "Wednesday", "Thursday"):
    ...     _ = nights.add(rng.normal(size=(200, 2)) + [3, 0], when=night)
    >>> sorted(set(nights.leaking_since.values()))
    ['Tuesday']
    """

    model: Any
    confidence: float = 0.95
    most: ArrayLike | None = None
    low: Array = field(init=False)
    high: Array = field(init=False)
    leaking_since: dict[int, Any] = field(init=False, default_factory=dict)

    _rows_at_once: ClassVar[int] = 1024

    def __post_init__(self) -> None:
        self.confidence = check_fraction("confidence", self.confidence, 0.95)
        fitted = self.model.one_cut().fitted_cut_
        K = fitted.n_clusters
        self.low, self.high = np.zeros(K), np.ones(K)
        self._sizes, self._sums = np.zeros(K, dtype=np.intp), np.zeros(K)
        # Fortunes are kept at means that lie closer together near 0 and 1.
        self._means = np.sin(np.linspace(0, np.pi / 2, 402)[1:-1]) ** 2
        self._fortunes = np.zeros((K, 2, len(STAKES), len(self._means)))
        limits = 1.0 if self.most is None else self.most
        self._most = np.broadcast_to(np.asarray(limits, dtype=np.float64), (K,))
        self._against = np.zeros((K, len(STAKES)))
        self._lowest: list[tuple[float, Any]] = [(math.inf, None)] * K

    def add(self, X: ArrayLike, when: Any = None) -> LeavingShares:
        """Count more rows, and return what is known now.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        when : object, optional
            What to call these rows by in ``leaking_since``. Default: how many rows came before.

        Returns
        -------
        LeavingShares
        """
        with measured_on(self.model, X) as (gpod, rows, _):
            labels, leaves = _leaves(gpod.fitted_cut_, rows)
        when = int(self._sizes.sum()) if when is None else when
        K = len(self.low)
        enough = math.log(2 * K / (1 - self.confidence))
        for k in range(K):
            mine = leaves[labels == k]
            self._bet(k, mine, when, enough)
            self._sizes[k] += len(mine)
            self._sums[k] += mine.sum()
        mean, low, high = ratio(self._sums, self._sizes), self.low.copy(), self.high.copy()
        return LeavingShares(mean, low, high, sizes=self._sizes.copy(), confidence=self.confidence)

    def _bet(self, k: int, values: Array, when: Any, enough: float) -> None:
        if not len(values):
            return
        means = self._means
        for some in np.array_split(values, -(-len(values) // self._rows_at_once)):
            for side, of in enumerate((some[:, None] / means, (1 - some[:, None]) / (1 - means))):
                for place, stake in enumerate(STAKES):
                    self._fortunes[k, side, place] += np.log1p(stake * (of - 1)).sum(axis=0)
        rich = logsumexp(self._fortunes[k], axis=1) - math.log(len(STAKES)) >= enough
        # Fortunes of bets above a mean fall with it, and those of bets below it rise.
        self.low[k] = max(self.low[k], means[rich[0]].max(initial=0.0))
        self.high[k] = min(self.high[k], means[rich[1]].min(initial=1.0))
        most = self._most[k]
        if not 0 < most < 1:
            return
        before = logsumexp(self._against[k])
        if before <= self._lowest[k][0]:
            self._lowest[k] = (before, when)
        self._against[k] += np.log1p(STAKES[:, np.newaxis] * (values / most - 1)).sum(axis=1)
        fortune = logsumexp(self._against[k]) - math.log(len(STAKES))
        if fortune >= enough and k not in self.leaking_since:
            self.leaking_since[k] = self._lowest[k][1]
