"""``stability`` of labels, ``label_sets`` and ``significance``, all from refits of a model.

A refit is the same estimator with the fitted K, fitted again on other rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse
from scipy.sparse import vstack as sparse_vstack
from sklearn.base import clone
from sklearn.utils import check_random_state

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady, json_ready
from eigencut._utils.running import counted, threads, without_progress
from eigencut._utils.validation import check_count, check_fraction
from eigencut.affinities import Neighbors, refuse_metric_of_no_numbers
from eigencut.discretization import assign
from eigencut.exceptions import GraphWarning, invalid
from eigencut.inspection.policy import POLICY
from eigencut.io.sample import seeded_by
from eigencut.theory.errors import measured_on, ratio


def refits(model: Any, samples: Iterable[Any], n_samples: int, **changes: Any) -> Iterator[Any]:
    """Yield the model's estimator with the fitted K, fitted on each sample of rows."""
    estimator = clone(model).set_params(
        n_clusters=model.n_clusters_, n_jobs=None, verbose=False, **changes
    )
    for _, rows in zip(counted(range(n_samples), "refits"), samples, strict=True):
        # One at a time: each has all threads and all memory. Warnings about the graph of a sample
        # are silenced, because the results measure such samples.
        with threads(model.n_jobs), warnings.catch_warnings(), without_progress():
            warnings.simplefilter("ignore", GraphWarning)
            fitted = clone(estimator).fit(rows)
        yield fitted


def training_rows(gpod: Any, rows: Any = None) -> Any:
    """Return the rows to fit again: those given, or the sorted rows that a model keeps."""
    affinity = gpod.affinity_
    if affinity.pairwise:
        expected = "be one of rows of features, for samples of rows are fitted again"
        remedy = "use e.g. affinity='gaussian'"
        raise invalid("affinity", expected, "a matrix of affinities", remedy)
    if rows is not None:
        if rows.shape[0] < 2:
            raise invalid("X", "have at least 2 rows", rows.shape[0], "pass more rows")
        return rows
    rows = getattr(affinity, "rows_", None)
    if rows is None:
        kind = type(affinity).__name__
        expected = f"be given for a model with {kind}, which does not keep its training rows"
        raise invalid("X", expected, None, "pass the rows that it was fitted on")
    counts = np.rint(affinity.multiplicity_).astype(np.intp)
    is_whole = (counts == affinity.multiplicity_).all()
    if not is_whole or counts.sum() > POLICY.most_copies * len(counts):
        expected = "have small whole weights, for samples of its rows to be fitted again"
        got = f"weights that add up to {affinity.n_rows_:g} on {len(counts)} different rows"
        raise invalid("model", expected, got, "pass X, a sample of rows by their weights")
    return rows[np.repeat(np.arange(len(counts)), counts)]


def renumbered(labels: Indices, like: Indices, n_clusters: int) -> Indices:
    """Match clusters of ``labels`` one to one with those of ``like``, by most rows in common."""
    together = np.zeros((n_clusters, n_clusters))
    np.add.at(together, (labels, like), 1)
    return linear_sum_assignment(together, maximize=True)[1]


@dataclass(frozen=True)
class Stability(JsonReady):
    """How often refits give rows the label of the model. ``print`` it to read it.

    Attributes
    ----------
    per_row, labels : arrays of shape (n,)
        Share of refits that give each row its label, and the labels of the model.
    per_cluster, mean : array of shape (K,) and float
        The mean of ``per_row`` in each cluster (NaN without rows), and over all rows.
    chance : float
        The mean agreement of random labels. It is above 1 / K, because the clusters of each refit
        are numbered so that most rows agree.
    n_refits : int
    """

    per_row: Array
    per_cluster: Array
    mean: float
    chance: float
    labels: Indices
    n_refits: int

    def __str__(self) -> str:
        shaky = POLICY.shaky_agreement
        lines = [
            f"Stability of {len(self.per_cluster)} clusters on {len(self.per_row)} rows, by "
            f"{self.n_refits} refits on bootstrap samples",
            "",
            f"{'cluster':>8}  {'rows':>8}  {'agreement':>10}  {f'below {shaky:.0%}':>10}",
        ]
        clusters = (self.per_row[self.labels == k] for k in range(len(self.per_cluster)))
        for name, rows in (*enumerate(clusters), ("all", self.per_row)):
            cells = (f"{rows.mean():.1%}", f"{(rows < shaky).mean():.1%}") if len(rows) else "--"
            lines.append(f"{name:>8}  {len(rows):8d}  {cells[0]:>10}  {cells[1]:>10}")
        lines.append(f"{'chance':>8}  {'':8}  {self.chance:10.1%}")
        return "\n".join(lines)


def stability(
    model: Any, X: ArrayLike | None = None, *, n_refits: int = 30, random_state: Any = 0
) -> Stability:
    """Fit again on bootstrap samples, and count how often each row keeps its label.

    A sample has as many rows as X, drawn from them with replacement. The refit labels all rows of X
    by ``predict``; its clusters take the numbers of the model's so that most rows agree.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X : array-like of shape (n, n_features), optional
        The rows. Default: the training rows that the model keeps, sorted.
    n_refits : int, default=30
    random_state : int, RandomState or None, default=0
        None means 0.

    Returns
    -------
    Stability

    Notes
    -----
    Stable clusters need not be real: a cut through the middle of one long cluster can be stable
    too. ``significance`` tests whether clusters are real.

    References
    ----------
    .. [1] C. Hennig, "Cluster-wise assessment of cluster stability", Computational Statistics and
       Data Analysis 52, 258-271, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD
    >>> X = np.random.default_rng(0).normal(size=(80, 2))
    >>> X[:40, 0] += 9
    >>> stability(GPOD(n_clusters=2).fit(X), X, n_refits=5).mean
    1.0
    """
    check_count("n_refits", n_refits, "use the default of 30")
    rng = check_random_state(0 if random_state is None else random_state)
    with measured_on(model, X) as (gpod, rows, _):
        gpod.numbering_.refuse_gaps("stability")
        rows, K = training_rows(gpod, rows), gpod.n_clusters_
        n_rows, labels = rows.shape[0], gpod.fitted_cut_.labels(rows)
        agreement, chance, shuffle = np.zeros(n_rows), 0.0, np.random.RandomState(0)
        samples = (rows[rng.randint(n_rows, size=n_rows)] for _ in range(n_refits))
        for fitted in refits(gpod, samples, n_refits):
            of_refit = fitted.fitted_cut_.labels(rows)
            agreement += renumbered(of_refit, labels, K)[of_refit] == labels
            dealt = shuffle.permutation(of_refit)
            chance += float((renumbered(dealt, labels, K)[dealt] == labels).mean()) / n_refits
    per_row = agreement / n_refits
    return Stability(
        per_row=per_row,
        per_cluster=ratio(np.bincount(labels, per_row, K), np.bincount(labels, minlength=K)),
        mean=float(per_row.mean()),
        chance=chance,
        labels=labels,
        n_refits=n_refits,
    )


@dataclass(frozen=True)
class LabelSets:
    """Calibrated sets of labels, which ``predict_set`` returns for any row. ``print`` it.

    Attributes
    ----------
    model : fitted GPOD or TableModel
    deficits : array of shape (n_batches, batch_size, K)
        How much the score of each cluster is below the largest score, for each held-out row.
    labels : array of shape (n_batches, batch_size)
        The clusters that the refits gave these rows, in the numbers of the model.
    """

    model: Any = field(repr=False)
    deficits: Array = field(repr=False)
    labels: Indices = field(repr=False)

    @property
    def n_batches(self) -> int:
        """The number of refits, one per batch."""
        return self.labels.shape[0]

    @property
    def batch_size(self) -> int:
        """The number of held-out rows in each refit."""
        return self.labels.shape[1]

    @property
    def largest_coverage(self) -> float:
        """The largest possible ``coverage`` with this number of refits."""
        return self.n_batches / (self.n_batches + 1)

    @cached_property
    def _own_deficits(self) -> Array:
        """The deficit of each held-out row at its label in the refit."""
        return np.take_along_axis(self.deficits, self.labels[..., np.newaxis], axis=2)[..., 0]

    @property
    def agreement(self) -> float:
        """The share of held-out rows whose label in the refit is that of ``predict``."""
        return float((self._own_deficits == 0).mean())

    def _threshold(self, coverage: float) -> float:
        """Return the largest deficit of a cluster in a set with this coverage."""
        coverage = check_fraction("coverage", coverage, 0.9)
        if coverage > self.largest_coverage:
            most = f"{self.largest_coverage:.4g}, which is n_batches / (n_batches + 1)"
            remedy = "calibrate with a larger n_batches"
            raise invalid("coverage", f"be at most {most}", repr(coverage), remedy)
        return batch_quantile(self._own_deficits, coverage)

    def predict_set(self, X: ArrayLike, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Return which clusters each row may belong to; see ``GPOD.predict_set``."""
        return np.asarray(self.model.predict_set(X, coverage, calibration=self))

    def _of_prepared(self, rows: Any, coverage: float) -> NDArray[np.bool_]:
        return _deficits(self.model.gpod, rows) <= self._threshold(coverage)

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers that ``print`` shows as plain Python, ready for JSON."""
        sets = []
        for coverage in POLICY.shown_coverages:
            if coverage <= self.largest_coverage:
                sizes = (self.deficits <= self._threshold(coverage)).sum(axis=2)
                single, mean = float((sizes == 1).mean()), float(sizes.mean())
                sets.append({"coverage": coverage, "mean_size": mean, "single": single})
        counts = {"n_batches": self.n_batches, "batch_size": self.batch_size}
        return json_ready({**counts, "agreement": self.agreement, "sets": sets})

    def __str__(self) -> str:
        others = f"{self.batch_size - 1} other new rows" if self.batch_size > 1 else "nothing else"
        lines = [
            f"Label sets, calibrated on {self.labels.size} rows in {self.n_batches} batches",
            "",
            f"{'coverage':>10}  {'one cluster':>12}  {'mean size':>10}",
        ]
        lines += [
            f"{one['coverage']:10.0%}  {one['single']:12.1%}  {one['mean_size']:10.2f}"
            for one in self.to_dict()["sets"]
        ]
        lines += [
            "",
            f"predict and the refit agree on {self.agreement:.1%} of these rows.",
            f"The sets cover the label of a refit on the training rows, the new row and {others}.",
        ]
        return "\n".join(lines)


def label_sets(
    model: Any,
    X_heldout: ArrayLike,
    X: ArrayLike | None = None,
    *,
    n_batches: int = 20,
    random_state: Any = 0,
) -> LabelSets:
    """Calibrate sets of clusters that contain the label of a row if a few new rows join a fit.

    The held-out rows are divided into G batches of b rows, and the estimator is fitted again with
    each batch. The labels of the held-out rows in these refits tell how many clusters the set of a
    new row needs. See ``docs/guide/uncertainty.md``.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X_heldout : array-like of shape (m, n_features)
        Rows that played no part in the fit, at least ``n_batches``.
    X : array-like of shape (n, n_features), optional
        The rows that the model was fitted on. Default: those that it keeps.
    n_batches : int, default=20
        The number G of batches; ``coverage`` can be at most G / (G + 1).
    random_state : int, RandomState or None, default=0
        None means 0.

    Returns
    -------
    LabelSets

    Notes
    -----
    **What is guaranteed.** Let x be a new row, and let Y(x) be the label of x, in the numbers of
    the model, when the same estimator (with the fitted K) is fitted on the training rows together
    with a batch of b new rows, x among them. If held-out and new rows are exchangeable given the
    training rows, as independent draws from one distribution are, then for every n, b and G

        P( Y(x) in predict_set(x, coverage) ) >= coverage,

    on average over the held-out rows and the new batch. It is *not* a statement on true classes, on
    a single row or cluster, or on rows of another distribution. Only batches are exchangeable, so
    the quantile is that of hierarchical conformal prediction [1]_.

    References
    ----------
    .. [1] Y. Lee, R. F. Barber, R. Willett, "Distribution-free inference with hierarchical data",
       arXiv:2306.06342, 2023.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, _ = make_moons(240, noise=0.05, random_state=0)
    >>> model = GPOD(n_clusters=2).fit(X[:160])
    >>> sets = label_sets(model, X[160:220])
    >>> sets.predict_set(X[220:], coverage=0.9).sum(axis=1).max()
    np.int64(1)
    """
    check_count("n_batches", n_batches, "use the default of 20")
    with measured_on(model, X) as (gpod, rows, _):
        gpod.numbering_.refuse_gaps("label sets")
        rows = training_rows(gpod, rows)
    with measured_on(model, X_heldout) as (_, held_out, _):
        n_held = 0 if held_out is None else held_out.shape[0]
        if not (batch_size := n_held // n_batches):
            expected = f"have at least n_batches={n_batches} rows"
            raise invalid("X_heldout", expected, n_held, "hold out more rows, or lower n_batches")
        dealt = seeded_by(held_out, random_state).permutation(n_held)[: n_batches * batch_size]
        batches = dealt.reshape(n_batches, batch_size)
        before, labels = gpod.fitted_cut_.labels(rows), np.empty(batches.shape, dtype=np.intp)
        stack = sparse_vstack if issparse(rows) else np.vstack
        samples = (stack([rows, held_out[batch]]) for batch in batches)
        for g, fitted in enumerate(refits(gpod, samples, n_batches)):
            of_refit = fitted.partition_.labels
            numbers = renumbered(of_refit[: len(before)], before, gpod.n_clusters_)
            labels[g] = numbers[of_refit[len(before) :]]
        deficits = _deficits(gpod, held_out[dealt]).reshape(*batches.shape, -1)
    return LabelSets(copy(model), deficits, labels)  # an update changes the model


def batch_quantile(values: Array, coverage: float) -> float:
    """Return the quantile of the values of all G + 1 batches; those of the new one are infinite."""
    n_batches, batch_size = values.shape
    # Rounding must not raise the rank: 0.9 * 200 is 180, and not a little more.
    rank = math.ceil(round(coverage * (n_batches + 1) * batch_size, 9))
    return float(np.sort(values, axis=None)[max(rank, 1) - 1])


def _deficits(model: Any, rows: Any) -> Array:
    """Return how much each cluster's score is below the largest; 0 for the label of ``predict``."""
    scores = model.fitted_cut_.scores(rows)
    below = scores.max(axis=1, keepdims=True) - scores
    below[np.arange(len(scores)), assign(scores)] = 0.0
    return np.asarray(below)


@dataclass(frozen=True)
class Significance(JsonReady):
    """A p-value, with cut values of the rows and of simulated rows. ``print`` it to read it.

    Attributes
    ----------
    statistic, null_statistics : float and dict of str to array of shape (n_null,)
        The relaxed cut of the rows, the sum of the K smallest eigenvalues, which is small if
        clusters are clear; and those of samples of each null, "gaussian" and "one cluster".
    n_rows, n_clusters : int
        The number of rows that were compared, and of their clusters.
    """

    statistic: float
    null_statistics: dict[str, Array]
    n_rows: int
    n_clusters: int

    @property
    def p_values(self) -> dict[str, float]:
        """The p-value ``(1 + #{null <= statistic}) / (1 + n_null)`` of each null."""
        largest = self.statistic + 1e-12  # values that differ by less are equal
        return {
            name: float((1 + (values <= largest).sum()) / (1 + len(values)))
            for name, values in self.null_statistics.items()
        }

    @property
    def p_value(self) -> float:
        """The larger of the two p-values; a small one means more than one cluster."""
        return max(self.p_values.values())

    @property
    def sentence(self) -> str:
        """What the p-value means for the clusters, in words."""
        if self.p_value <= POLICY.small_p:
            return (
                f"The rows are not one cluster (p = {self.p_value:.3g}): simulated rows of one "
                f"cluster have larger cuts. This does not show that there are {self.n_clusters} "
                "clusters; eigencut.select compares numbers of clusters."
            )
        worst = max(self.p_values, key=lambda name: self.p_values[name])
        n_null = len(self.null_statistics[worst])
        if self.p_value == 1 / (1 + n_null):
            return (
                f"{n_null} simulations are too few to say whether the rows are one cluster "
                f"(p = {self.p_value:.3g}): all have larger cuts. Use the default n_null=99."
            )
        return (
            f"The rows may be one cluster (p = {self.p_value:.3g}): simulated rows of one cluster "
            f"({worst!r}) have cuts as small as theirs. Do not rely on these clusters."
        )

    def to_dict(self) -> dict[str, Any]:
        """Return fields, p-values and ``sentence`` as plain Python, ready for JSON."""
        return super().to_dict() | json_ready({"p_value": self.p_value, "p_values": self.p_values})

    def __str__(self) -> str:
        n_null = len(next(iter(self.null_statistics.values())))
        lines = [
            f"Significance of a cut into {self.n_clusters} clusters, on {self.n_rows} rows "
            f"against {n_null} samples of each null",
            "",
            f"{'':12}  {'cut value':>10}  {'5 % to 95 % of samples':>24}  {'p':>6}",
            f"{'rows':12}  {self.statistic:10.4g}",
        ]
        for name, p in self.p_values.items():
            low, middle, high = np.quantile(self.null_statistics[name], [0.05, 0.5, 0.95])
            between = f"{low:.4g} to {high:.4g}"
            lines.append(f"{name:12}  {middle:10.4g}  {between:>24}  {p:6.3g}")
        return "\n".join([*lines, "", fill(self.sentence, 96)])


def significance(
    model: Any,
    X: ArrayLike | None = None,
    *,
    n_null: int = 99,
    max_rows: int = 2000,
    random_state: Any = 0,
) -> Significance:
    """Test whether the rows are more than one cluster: ``print`` shows a p-value.

    The estimator is fitted again on each of ``n_null`` samples of two nulls, which have as many
    rows, the same mean and exactly the same covariance as X:

    - "gaussian": normal rows.
    - "one cluster": a smoothed bootstrap of the rows of one of the clusters (drawn again for each
      sample, by size), stretched to the covariance of all rows. If the clusters are pieces of one
      cluster of whatever shape, a piece alone is cut as easily as the whole.

    The test compares values of relaxed cuts. With ``affinity="auto"``, and for discrete cuts, it
    uses the graph of nearest neighbours.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X : array-like of shape (n, n_features), optional
        The rows. Default: the training rows that the model keeps.
    n_null : int, default=99
        The number of samples of each kind; p-values are multiples of 1 / (n_null + 1).
    max_rows : int, default=2000
        If there are more rows, this many are drawn at random, to save time.
    random_state : int, RandomState or None, default=0
        None means 0.

    Returns
    -------
    Significance

    Notes
    -----
    For normal rows the p-value of "gaussian" is exact: given the sample mean and covariance, normal
    rows are distributed as the samples are [1]_. The null "one cluster" is approximate. The larger
    p-value is that of the composite hypothesis. Both nulls are continuous: columns with few
    different values look clustered next to them. Neither null covers a ring, or another curve in
    one piece, which can have a small p-value.

    If K was chosen on the same rows, for example by "auto", the p-value is too small.

    References
    ----------
    .. [1] Langsrud, O., "Rotation tests", Statistics and Computing 15, 53-60, 2005.
    .. [2] Y. Liu, D. N. Hayes, A. Nobel, J. S. Marron, "Statistical Significance of Clustering for
       High-Dimension, Low-Sample Size Data", JASA 103, 1281-1293, 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> X[:100, 0] += 12
    >>> significance(GPOD(n_clusters=2).fit(X), n_null=19).p_value
    0.05
    """
    check_count("n_null", n_null, "use the default of 99")
    with measured_on(model, X) as (gpod, rows, _):
        check_count("max_rows", max_rows, "use the default of 2000", least=gpod.n_clusters_)
        refuse_metric_of_no_numbers(gpod.affinity_)
        rows = training_rows(gpod, rows)
    if issparse(rows):
        expected = "be a dense array, for samples of its covariance are not sparse"
        raise invalid("X", expected, "a sparse one", "pass X.toarray(), or components of it")
    rng = seeded_by(rows, random_state)
    if rows.shape[0] > max_rows:
        rows = rows[np.sort(rng.permutation(rows.shape[0])[:max_rows])]
    # Only eigenvalues are compared: one start of the discretization is enough.
    changes: dict[str, Any] = {"n_init": 1, "solver": "relaxed"}
    is_auto = isinstance(gpod.affinity, str) and gpod.affinity == "auto"
    if is_auto or getattr(gpod.affinity, "solver", None) == "discrete":  # one graph for all samples
        changes["affinity"] = Neighbors(metric=getattr(gpod.affinity_, "metric", "euclidean"))
    (whole,) = refits(gpod, [rows], 1, **changes)
    null = SameCovariance(rows)
    nulls: dict[str, Callable[[Any], Array]] = {
        "gaussian": lambda own: own.standard_normal(null.scores.shape),
        "one cluster": lambda own: smoothed_cluster(null.scores, whole.partition_.labels, own),
    }
    seeds = rng.randint(2**31 - 1, size=(len(nulls), n_null))
    samples = (
        null.sample(draw(np.random.RandomState(seed)))
        for draw, of_null in zip(nulls.values(), seeds, strict=True)
        for seed in of_null
    )
    fits = refits(gpod, samples, seeds.size, **changes)
    statistics = np.array([float(fitted.eigenvalues_.sum()) for fitted in fits])
    return Significance(
        statistic=float(whole.eigenvalues_.sum()),
        null_statistics=dict(zip(nulls, statistics.reshape(seeds.shape), strict=True)),
        n_rows=rows.shape[0],
        n_clusters=gpod.n_clusters_,
    )


class SameCovariance:
    """Gives rows exactly the mean and covariance of X; ``scores`` are X with covariance 1."""

    def __init__(self, X: Array, most: int | None = None) -> None:
        X = np.asarray(X, dtype=np.float64)  # LAPACK has no half precision
        self._mean = X.mean(axis=0)
        U, values, Vt = np.linalg.svd(X - self._mean, full_matrices=False)
        rank = int((values > values.max() * max(X.shape) * np.finfo(float).eps).sum())
        rank = rank if most is None else min(rank, most)
        self._back = values[:rank, np.newaxis] * Vt[:rank]
        self.scores = U[:, :rank] * np.sqrt(len(X))

    def sample(self, draw: Array) -> Array:
        """Return the nearest rows with X's mean and covariance, by a polar decomposition."""
        # For independent normal rows, the frame U Vt is uniformly distributed.
        U, _, Vt = np.linalg.svd(draw - draw.mean(axis=0), full_matrices=False)
        return np.asarray(self._mean + (U @ Vt) @ self._back)


def smoothed_cluster(scores: Array, labels: Indices, rng: Any) -> Array:
    """Draw as many rows as ``scores`` has, around the rows of one random cluster."""
    n_rows, d = scores.shape
    cluster = scores[labels == labels[rng.randint(n_rows)]]
    # Half of Silverman's bandwidth: the whole would blur sharp edges.
    bandwidth = 0.5 * (4 / ((d + 2) * len(cluster))) ** (1 / (d + 4))
    _, values, Vt = np.linalg.svd(cluster - cluster.mean(axis=0), full_matrices=False)
    covariance_root = values[:, np.newaxis] * Vt / np.sqrt(len(cluster))
    along = rng.standard_normal((n_rows, len(values))) @ covariance_root
    # Add a little noise in directions in which a cluster is flat, or has too few rows.
    thickness = 1e-3 * (np.linalg.norm(covariance_root) or 1.0) / np.sqrt(d)
    chosen = cluster[rng.randint(len(cluster), size=n_rows)]
    return np.asarray(chosen + bandwidth * along + thickness * rng.standard_normal((n_rows, d)))
