"""Is it real? The value of the cut against that of rows which are one cluster."""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import fill
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import check_random_state

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import json_ready
from eigencut._utils.validation import check_count
from eigencut.affinities import refuse_metric_of_no_numbers
from eigencut.exceptions import invalid
from eigencut.inspection.policy import POLICY
from eigencut.inspection.refits import refits, training_rows
from eigencut.theory.errors import measured_on


@dataclass(frozen=True)
class Significance:
    """Cut values of the rows, and of as many rows that are one cluster. ``print`` it.

    Attributes
    ----------
    statistic : float
        The relaxed cut of the rows: the sum of the K smallest eigenvalues. Small is clear.
    null_statistics : dict of str to array of shape (n_null,)
        The same of each null's samples: "gaussian" and "one cluster".
    n_rows, n_clusters : int
        Of the rows that were compared.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD, Gaussian
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> result = significance(model, X[:100], n_null=9)
    >>> sorted(result.null_statistics)
    ['gaussian', 'one cluster']
    >>> result.p_value == max(result.p_values.values())
    True
    """

    statistic: float
    null_statistics: dict[str, Array]
    n_rows: int
    n_clusters: int

    @property
    def p_values(self) -> dict[str, float]:
        """``(1 + #{null <= statistic}) / (1 + n_null)`` of each null."""
        largest = self.statistic + 1e-12  # values that differ by less are equal
        return {
            name: float((1 + (values <= largest).sum()) / (1 + len(values)))
            for name, values in self.null_statistics.items()
        }

    @property
    def p_value(self) -> float:
        """The largest of them: clusters are believed if no null explains the cut."""
        return max(self.p_values.values())

    @property
    def sentence(self) -> str:
        """What it says about the clusters."""
        if self.p_value <= POLICY.small_p:
            return (
                f"The rows are not one cluster (p = {self.p_value:.3g}): both nulls have larger "
                "cuts. That they are more than one does not say that they are "
                f"{self.n_clusters}; eigencut.select compares numbers of clusters."
            )
        worst = max(self.p_values, key=lambda name: self.p_values[name])
        return (
            f"The rows may be one cluster (p = {self.p_value:.3g}): samples of the null {worst!r} "
            "have cuts as small as theirs. Do not rely on these clusters being there."
        )

    def to_dict(self) -> dict[str, Any]:
        """The fields, p-values and the sentence as plain Python, ready for JSON."""
        derived = {"p_value": self.p_value, "p_values": self.p_values, "sentence": self.sentence}
        return json_ready(self) | json_ready(derived)

    def __str__(self) -> str:
        n_null = len(next(iter(self.null_statistics.values())))
        lines = [
            f"Significance of a cut into {self.n_clusters} clusters, on {self.n_rows} rows "
            f"against {n_null} samples of each null",
            "",
            f"{'':12}  {'cut value':>10}  {'5 % to 95 % of samples':>24}  {'p':>6}",
            f"{'rows':12}  {self.statistic:10.4g}",
        ]
        for name, values in self.null_statistics.items():
            low, middle, high = np.quantile(values, [0.05, 0.5, 0.95])
            between = f"{low:.4g} to {high:.4g}"
            p = self.p_values[name]
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
    """Compare the cut of the rows with cuts of samples that are one cluster.

    The estimator is fitted again on each of ``n_null`` samples of two nulls, which have as many
    rows, the same mean and exactly the same covariance as X:

    - "gaussian": normal rows.
    - "one cluster": a smoothed bootstrap of the rows of one of the clusters found (drawn anew for
      each sample, by size), stretched to the covariance of all rows. If the clusters are pieces
      of one cluster of whatever shape, a piece alone is cut as easily as the whole.

    Parameters
    ----------
    model : fitted GPOD or TableModel
        Its parameters and number of clusters are used; the rows are fitted again.
    X : array-like of shape (n, n_features), optional
        The rows. Default: the training rows that the model keeps.
    n_null : int, default=99
        Samples of each null; p-values are multiples of 1 / (n_null + 1).
    max_rows : int, default=2000
        Of more rows than this so many are drawn at random, to save time.
    random_state : int, RandomState or None, default=0
        Of the samples. None means 0.

    Returns
    -------
    Significance

    Notes
    -----
    For normal rows the p-value of "gaussian" is exact, whatever n, d, mean, covariance and
    affinity: given the sample mean and covariance, which are sufficient, normal rows are
    distributed as the samples are [1]_. The probability of p <= a is then at most a, and is a for a
    multiple of 1 / (n_null + 1) where no two cut values are equal. The null "one cluster" is
    approximate. The larger p-value is that of the composite hypothesis. Both nulls are
    continuous: columns with few different values look clustered next to them. A ring, or another
    curve that is one piece but not one heap, is no null and can have a small p-value.

    K must have been chosen beforehand: "auto" chose it on the same rows.

    References
    ----------
    .. [1] O. Langsrud, "Rotation tests", Statistics and Computing 15, 53-60, 2005.
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
    check_count("max_rows", max_rows, "use the default of 2000")
    rng = check_random_state(0 if random_state is None else random_state)
    with measured_on(model, X) as (gpod, rows, _):
        refuse_metric_of_no_numbers(gpod.affinity_, "significance", "eigencut.stability instead")
        rows = training_rows(gpod, rows)
    if issparse(rows):
        expected = "be a dense array, for samples of its covariance are not sparse"
        raise invalid("X", expected, "a sparse one", "pass X.toarray(), or components of it")
    if rows.shape[0] > max_rows:
        rows = rows[np.sort(rng.permutation(rows.shape[0])[:max_rows])]
    # Only eigenvalues are compared: one start of the discretization is enough.
    ((_, whole),) = refits(gpod, [0], lambda _: rows, n_init=1)
    null = SameCovariance(rows)
    nulls, labels = ("gaussian", "one cluster"), whole.partition_.labels
    seeds = rng.randint(2**31 - 1, size=(len(nulls), n_null))
    samples = [(name, int(seed)) for name, own in zip(nulls, seeds, strict=True) for seed in own]

    def rows_of(sample: tuple[str, int]) -> Array:
        own = np.random.RandomState(sample[1])
        if sample[0] == "gaussian":
            return null.sample(own.standard_normal(null.scores.shape))
        return null.sample(smoothed_cluster(null.scores, labels, own))

    fits = refits(gpod, samples, rows_of, n_init=1)
    statistics = np.array([float(fitted.eigenvalues_.sum()) for _, fitted in fits])
    return Significance(
        statistic=float(whole.eigenvalues_.sum()),
        null_statistics=dict(zip(nulls, statistics.reshape(len(nulls), -1), strict=True)),
        n_rows=rows.shape[0],
        n_clusters=gpod.n_clusters_,
    )


class SameCovariance:
    """Turns rows into rows with exactly the mean and the covariance of X.

    ``scores`` is X with mean 0 and covariance 1; of ``most`` principal components at most.
    """

    def __init__(self, X: Array, most: int | None = None) -> None:
        self._mean = X.mean(axis=0)
        U, values, Vt = np.linalg.svd(X - self._mean, full_matrices=False)
        rank = int((values > values.max() * max(X.shape) * np.finfo(float).eps).sum())
        rank = rank if most is None else min(rank, most)
        self._back = values[:rank, np.newaxis] * Vt[:rank]
        self.scores = U[:, :rank] * np.sqrt(len(X))

    def sample(self, draw: Array) -> Array:
        """Return the nearest rows with the mean and covariance of X: the polar decomposition."""
        # For independent normal rows the frame U Vt is uniform, as that of normal rows is.
        U, _, Vt = np.linalg.svd(draw - draw.mean(axis=0), full_matrices=False)
        return np.asarray(self._mean + (U @ Vt) @ self._back)


def smoothed_cluster(scores: Array, labels: Indices, rng: Any) -> Array:
    """As many rows as there are, drawn around the rows of one cluster."""
    n_rows, d = scores.shape
    cluster = scores[labels == labels[rng.randint(n_rows)]]
    # Half of Silverman's bandwidth: all of it would round off what has sharp edges.
    bandwidth = 0.5 * (4 / ((d + 2) * len(cluster))) ** (1 / (d + 4))
    _, values, Vt = np.linalg.svd(cluster - cluster.mean(axis=0), full_matrices=False)
    covariance_root = values[:, np.newaxis] * Vt / np.sqrt(len(cluster))
    along = rng.standard_normal((n_rows, len(values))) @ covariance_root
    # A cluster that is flat in some direction, or has few rows, is normal in that direction.
    thickness = 1e-3 * (np.linalg.norm(covariance_root) or 1.0) / np.sqrt(d)
    chosen = cluster[rng.randint(len(cluster), size=n_rows)]
    return np.asarray(chosen + bandwidth * along + thickness * rng.standard_normal((n_rows, d)))
