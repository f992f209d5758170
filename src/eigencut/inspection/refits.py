"""What refits say of labels: how firmly rows keep them, and sets that hold them with a guarantee.

A refit is the same estimator with the fitted K, fitted again on other rows.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import linear_sum_assignment
from scipy.sparse import issparse
from scipy.sparse import vstack as sparse_vstack
from sklearn.base import clone
from sklearn.utils import check_random_state

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady, json_ready
from eigencut._utils.progress import counted, without_progress
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_count, check_fraction
from eigencut.discretization import assign
from eigencut.exceptions import GraphWarning, invalid
from eigencut.inspection.policy import POLICY
from eigencut.theory.errors import measured_on

Item = TypeVar("Item")


def refits(
    model: Any, samples: Sequence[Item], rows_of: Callable[[Item], Any], **changes: Any
) -> Iterator[tuple[Item, Any]]:
    """Give each sample, and the model's estimator with the fitted K, fitted on its rows."""
    estimator = clone(model).set_params(
        n_clusters=model.n_clusters_, n_jobs=None, verbose=False, **changes
    )
    for sample in counted(samples, "refits"):  # each has all threads and all memory
        with threads(model.n_jobs), warnings.catch_warnings(), without_progress():
            # What is odd about a sample is part of what is measured.
            warnings.simplefilter("ignore", GraphWarning)
            fitted = clone(estimator).fit(rows_of(sample))
        yield sample, fitted


def training_rows(gpod: Any, rows: Any = None) -> Any:
    """Return rows to fit again on: those given, or the sorted rows that a model keeps."""
    affinity = gpod.affinity_
    if affinity.pairwise:
        raise invalid(
            "affinity",
            "be one of rows of features, for samples of rows are fitted again",
            "a matrix of affinities",
            "use e.g. affinity='gaussian'",
        )
    if rows is not None:
        if rows.shape[0] < 2:
            raise invalid("X", "have at least 2 rows", rows.shape[0], "pass more rows")
        return rows
    rows = getattr(affinity, "rows_", None)
    if rows is None:
        raise invalid(
            "X",
            f"be given for a model with {type(affinity).__name__}, which does not keep its "
            "training rows",
            None,
            "pass the rows that it was fitted on",
        )
    counts = np.rint(affinity.multiplicity_).astype(np.intp)
    is_whole = (counts == affinity.multiplicity_).all()
    if not is_whole or counts.sum() > POLICY.most_copies * len(counts):
        raise invalid(
            "model",
            "be fitted on rows that are there once, or a few times, for samples of them to be "
            "fitted again",
            f"weights that add up to {affinity.n_rows_:g} on {len(counts)} different rows",
            "pass X, a sample of rows by their weights",
        )
    return rows[np.repeat(np.arange(len(counts)), counts)]


def renumbered(labels: Indices, like: Indices, n_clusters: int) -> Indices:
    """Return for each cluster of ``labels`` that of ``like`` with most rows in common, 1 to 1."""
    together = np.zeros((n_clusters, n_clusters))
    np.add.at(together, (labels, like), 1)
    return linear_sum_assignment(together, maximize=True)[1]


@dataclass(frozen=True)
class Stability(JsonReady):
    """Agreement of refits with the model's labels. ``print`` it to read it.

    Attributes
    ----------
    per_row : array of shape (n,)
        Share of refits that give each row its label.
    per_cluster : array of shape (K,)
        Their mean over the rows of each cluster; NaN for a cluster without rows.
    mean : float
        Over all rows.
    labels : array of shape (n,)
        The labels of the model.
    n_refits : int

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> result = stability(model, X[:100], n_refits=5)
    >>> result.per_row.shape, result.per_cluster.shape
    ((100,), (2,))
    """

    per_row: Array
    per_cluster: Array
    mean: float
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
        for k, agreement in enumerate(self.per_cluster):
            mine = self.per_row[self.labels == k]
            cells = (f"{agreement:.1%}", f"{(mine < shaky).mean():.1%}") if len(mine) else "--"
            lines.append(f"{k:8d}  {len(mine):8d}  {cells[0]:>10}  {cells[1]:>10}")
        share = f"{(self.per_row < shaky).mean():.1%}"
        lines.append(f"{'all':>8}  {len(self.per_row):8d}  {self.mean:10.1%}  {share:>10}")
        return "\n".join(lines)


def stability(
    model: Any, X: ArrayLike | None = None, *, n_refits: int = 30, random_state: Any = 0
) -> Stability:
    """Fit again on bootstrap samples, and count how often each row keeps its label.

    A sample has as many rows as X, drawn from them with replacement. The refit labels all rows of X
    by ``predict``, also those that are not in its sample; its clusters take the numbers of the
    model's so that most rows agree, one to one.

    Parameters
    ----------
    model : fitted GPOD or TableModel
        Its parameters and number of clusters are used.
    X : array-like of shape (n, n_features), optional
        The rows. Default: the training rows that the model keeps, sorted.
    n_refits : int, default=30
    random_state : int, RandomState or None, default=0
        Of the samples. None means 0.

    Returns
    -------
    Stability

    Notes
    -----
    Unstable clusters are not there or not so many; stable ones need not be real: one cut through a
    long cluster is stable too. ``significance`` asks that. With K clusters, labels drawn at random
    would agree with a share of about 1 / K.

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
        agreement = np.zeros(n_rows)
        for _, fitted in refits(
            gpod, range(n_refits), lambda _: rows[rng.randint(n_rows, size=n_rows)]
        ):
            of_refit = fitted.fitted_cut_.labels(rows)
            agreement += renumbered(of_refit, labels, K)[of_refit] == labels
    per_row = agreement / n_refits
    count = np.bincount(labels, minlength=K)
    sums = np.bincount(labels, per_row, minlength=K)
    per_cluster = np.divide(sums, count, out=np.full(K, np.nan), where=count > 0)
    return Stability(per_row, per_cluster, float(per_row.mean()), labels, n_refits)


@dataclass(frozen=True)
class LabelSets:
    """A model whose label sets are calibrated: ``predict_set`` gives them. ``print`` it.

    Attributes
    ----------
    model : fitted GPOD
    deficits : array of shape (n_batches, batch_size, K)
        Of the calibration rows: by how much the score of each cluster is below the largest.
    labels : array of shape (n_batches, batch_size)
        The clusters that refits with those rows gave them, in the numbers of the model.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> sets = label_sets(model, X[100:], n_batches=10)
    >>> sets.n_batches, sets.batch_size
    (10, 5)
    >>> sets.predict_set(X[:3], coverage=0.9).shape
    (3, 2)
    """

    model: Any = field(repr=False)
    deficits: Array = field(repr=False)
    labels: Indices = field(repr=False)

    @property
    def n_batches(self) -> int:
        """G, the number of refits that gave labels."""
        return self.labels.shape[0]

    @property
    def batch_size(self) -> int:
        """New rows in the training set of each refit."""
        return self.labels.shape[1]

    @property
    def largest_coverage(self) -> float:
        """More cannot be guaranteed with so few batches."""
        return self.n_batches / (self.n_batches + 1)

    @cached_property
    def _own_deficits(self) -> Array:
        """The deficit of each calibration row's own label."""
        return np.take_along_axis(self.deficits, self.labels[..., np.newaxis], axis=2)[..., 0]

    @property
    def agreement(self) -> float:
        """Share of calibration rows whose label in the refit is the one that ``predict`` gives."""
        return float((self._own_deficits == 0).mean())

    def threshold(self, coverage: float = 0.9) -> float:
        """The largest deficit of a cluster that is in the set.

        Parameters
        ----------
        coverage : float, default=0.9

        Returns
        -------
        float
        """
        coverage = check_fraction("coverage", coverage, 0.9)
        if coverage > self.largest_coverage:
            most = f"{self.largest_coverage:.4g}, which is n_batches / (n_batches + 1)"
            remedy = "calibrate with a larger n_batches"
            raise invalid("coverage", f"be at most {most}", repr(coverage), remedy)
        return batch_quantile(self._own_deficits, coverage)

    def predict_set(self, X: ArrayLike, coverage: float = 0.9) -> NDArray[np.bool_]:
        """The clusters that each row may belong to.

        Parameters
        ----------
        X : array-like of shape (m, n_features)
        coverage : float, default=0.9
            The probability that the set holds the label of a new row; ``label_sets`` says of what.

        Returns
        -------
        sets : array of bool of shape (m, K)
            Whether each cluster is in the set of each row. The label of ``predict`` always is.
        """
        threshold = self.threshold(coverage)
        with measured_on(self.model, X) as (gpod, rows, _):
            return _deficits(gpod, rows) <= threshold

    def _lines(self) -> list[dict[str, float]]:
        lines = []
        for coverage in POLICY.shown_coverages:
            if coverage <= self.largest_coverage:
                sizes = (self.deficits <= self.threshold(coverage)).sum(axis=2)
                single, mean = float((sizes == 1).mean()), float(sizes.mean())
                lines.append({"coverage": coverage, "mean_size": mean, "single": single})
        return lines

    def to_dict(self) -> dict[str, Any]:
        """What the text says, as plain Python, ready for JSON."""
        return {
            "n_batches": self.n_batches,
            "batch_size": self.batch_size,
            "agreement": json_ready(self.agreement),
            "sets": json_ready(self._lines()),
        }

    def __str__(self) -> str:
        others = f"{self.batch_size - 1} other new rows" if self.batch_size > 1 else "nothing else"
        lines = [
            f"Label sets, calibrated on {self.labels.size} rows in {self.n_batches} batches",
            "",
            f"{'coverage':>10}  {'one cluster':>12}  {'mean size':>10}",
        ]
        lines += [
            f"{line['coverage']:10.0%}  {line['single']:12.1%}  {line['mean_size']:10.2f}"
            for line in self._lines()
        ]
        lines += [
            "",
            f"The label of predict is that of the refit for {self.agreement:.1%} of these rows.",
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
    """Calibrate sets of clusters that hold the label which a refit would give a new row.

    The held-out rows are dealt into G batches of b rows. The estimator is fitted again on the
    training rows with each batch, G fits, which gives each calibration row the label that it has
    as a training row. By how much the fitted model's score of that label is below its largest
    score, over all calibration rows, tells how many clusters the set of a new row needs.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    X_heldout : array-like of shape (m, n_features)
        Rows that played no part in the fit, at least ``n_batches``.
    X : array-like of shape (n, n_features), optional
        The rows that the model was fitted on. Default: those that it keeps.
    n_batches : int, default=20
        G. Coverage up to G / (G + 1) can be asked for.
    random_state : int, RandomState or None, default=0
        Of the dealing. None means 0.

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

    on average over the held-out rows and the new batch. It needs no assumption on the clusters,
    and does not need the fit to be stable: an unstable one has large sets. It is *not* a
    statement on classes that someone may have in mind, nor on a single row or a single cluster,
    and it does not hold for rows of another distribution.

    Batches are exchangeable, rows of different batches are not; so it is the quantile of
    hierarchical conformal prediction [1]_ that is taken: each row weighs 1 / ((G + 1) b), and the
    new batch has the weight 1 / (G + 1) at infinity. The label sets of [2]_ and [3]_ are for a
    latent label; they need soft labels that are consistent and a clustering that is stable.

    References
    ----------
    .. [1] Y. Lee, R. F. Barber, R. Willett, "Distribution-free inference with hierarchical data",
       arXiv:2306.06342, 2023.
    .. [2] Y. Hur, A. Nath, G. Allen, "Inference for Clustering: Conformal Sets for Cluster
       Labels", arXiv:2604.03488, 2026.
    .. [3] A. Nath, Y. Hur, G. Allen, "Weighted Conformal Clustering", arXiv:2606.00436, 2026.

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
    rng = check_random_state(0 if random_state is None else random_state)
    gpod = model.one_cut()
    gpod.numbering_.refuse_gaps("label sets")
    with measured_on(model, X) as (_, rows, _):
        rows = training_rows(gpod, rows)
    with measured_on(model, X_heldout) as (_, held_out, _):
        batch_size = held_out.shape[0] // n_batches
        if batch_size == 0:
            raise invalid(
                "X_heldout",
                f"have at least n_batches={n_batches} rows",
                held_out.shape[0],
                "hold out more rows, or lower n_batches",
            )
        dealt = rng.permutation(held_out.shape[0])[: n_batches * batch_size]
        batches = dealt.reshape(n_batches, batch_size)
        before = gpod.fitted_cut_.labels(rows)
        labels = np.empty(batches.shape, dtype=np.intp)
        stack = sparse_vstack if issparse(rows) else np.vstack
        for g, fitted in refits(
            gpod, range(n_batches), lambda g: stack([rows, held_out[batches[g]]])
        ):
            of_refit = fitted.partition_.labels
            numbers = renumbered(of_refit[: len(before)], before, gpod.n_clusters_)
            labels[g] = numbers[of_refit[len(before) :]]
        deficits = _deficits(gpod, held_out[dealt]).reshape(*batches.shape, -1)
    return LabelSets(gpod, deficits, labels)


def batch_quantile(values: Array, coverage: float) -> float:
    """Return the quantile of all G + 1 batches, the values of the unknown one being infinite."""
    n_batches, batch_size = values.shape
    # Rounding must not ask for one value more: 0.9 * 200 is 180, and not a little more.
    rank = math.ceil(round(coverage * (n_batches + 1) * batch_size, 9))
    return float(np.sort(values, axis=None)[max(rank, 1) - 1])


def _deficits(model: Any, rows: Any) -> Array:
    """Return how far the score of each cluster is below the largest; 0 for the label of predict."""
    scores = model.fitted_cut_.scores(rows)
    below = scores.max(axis=1, keepdims=True) - scores
    below[np.arange(len(scores)), assign(scores)] = 0.0
    return np.asarray(below)
