"""Sets of clusters that hold a new row's label with a probability that is guaranteed."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from scipy.sparse import vstack as sparse_vstack
from sklearn.utils import check_random_state

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import json_ready
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_count, check_fraction
from eigencut.discretization import assign
from eigencut.inspection.refits import refits, renumbered, training_rows
from eigencut.io.validation import check_rows

_SHOWN = (0.8, 0.9, 0.95)  # coverages of the text


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
    >>> from eigencut.inspection import label_sets
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

    @property
    def agreement(self) -> float:
        """Share of calibration rows whose label in the refit is the one that ``predict`` gives."""
        return float((self._of_labels() == 0).mean())

    def _of_labels(self) -> Array:
        """The deficit of each calibration row's own label."""
        return np.take_along_axis(self.deficits, self.labels[..., np.newaxis], axis=2)[..., 0]

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
            raise ValueError(
                f"coverage must be at most {self.largest_coverage:.4g}, which is n_batches / "
                f"(n_batches + 1). Got {coverage!r}; calibrate with a larger n_batches."
            )
        return batch_quantile(self._of_labels(), coverage)

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
        return _deficits(self.model, check_rows(self.model, X, reset=False)) <= threshold

    def _lines(self) -> list[dict[str, float]]:
        lines = []
        for coverage in _SHOWN:
            if coverage <= self.largest_coverage:
                sizes = (self.deficits <= self.threshold(coverage)).sum(axis=2)
                single, mean = float((sizes == 1).mean()), float(sizes.mean())
                lines.append({"coverage": coverage, "mean_size": mean, "single": single})
        return lines

    def to_dict(self) -> dict[str, Any]:
        """What the text says, as plain Python, ready for JSON."""
        found = {
            "n_batches": self.n_batches,
            "batch_size": self.batch_size,
            "agreement": self.agreement,
            "sets": self._lines(),
        }
        return dict(json_ready(found))

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
    model : fitted GPOD
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
    model.numbering_.refuse_gaps("label sets")
    rng = check_random_state(0 if random_state is None else random_state)
    rows, held_out = training_rows(model, X), check_rows(model, X_heldout, reset=False)
    batch_size = held_out.shape[0] // n_batches
    if batch_size == 0:
        raise ValueError(
            f"X_heldout must have at least n_batches={n_batches} rows. Got {held_out.shape[0]}; "
            "hold out more rows, or lower n_batches."
        )
    dealt = rng.permutation(held_out.shape[0])[: n_batches * batch_size]
    batches = dealt.reshape(n_batches, batch_size)
    with threads(model.n_jobs):
        before = model.fitted_cut_.labels(rows)
    labels = np.empty(batches.shape, dtype=np.intp)
    for g, fitted in refits(
        model, range(n_batches), lambda g: _stacked(rows, held_out[batches[g]])
    ):
        found = fitted.partition_.labels
        numbers = renumbered(found[: len(before)], before, model.n_clusters_)
        labels[g] = numbers[found[len(before) :]]
    deficits = _deficits(model, held_out[dealt]).reshape(*batches.shape, -1)
    return LabelSets(model, deficits, labels)


def batch_quantile(values: Array, coverage: float) -> float:
    """The value that the values of a further batch do not exceed, with this probability.

    Parameters
    ----------
    values : array of shape (G, b)
        Of G exchangeable batches.
    coverage : float
        At most G / (G + 1).

    Returns
    -------
    float

    Notes
    -----
    Of all G + 1 batches the q-quantile of the pooled values covers a share q on average. Not to
    know one of them, and to count its values as infinite, can only raise the quantile.

    Examples
    --------
    >>> import numpy as np
    >>> batch_quantile(np.array([[0.0], [1.0], [2.0], [3.0]]), 0.6)
    2.0
    """
    n_batches, batch_size = values.shape
    # Rounding must not ask for one value more: 0.9 * 200 is 180, and not a little more.
    rank = math.ceil(round(coverage * (n_batches + 1) * batch_size, 9))
    return float(np.sort(values, axis=None)[max(rank, 1) - 1])


def _deficits(model: Any, rows: Any) -> Array:
    """By how much the score of each cluster is below the largest; 0 for the label of predict."""
    with threads(model.n_jobs):
        scores = model.fitted_cut_.scores(rows)
    below = scores.max(axis=1, keepdims=True) - scores
    below[np.arange(len(scores)), assign(scores)] = 0.0
    return np.asarray(below)


def _stacked(first: Any, second: Any) -> Any:
    return sparse_vstack([first, second]) if issparse(first) else np.vstack([first, second])
