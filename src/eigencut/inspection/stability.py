"""How firmly each row and each cluster stands: labels of refits on bootstrap samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_count
from eigencut.inspection.refits import refits, renumbered, training_rows
from eigencut.io.of_tables import takes_tables

_SHAKY = 0.8  # agreement below which rows are counted in the text


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
    >>> from eigencut.inspection import stability
    >>> X, _ = make_moons(150, noise=0.05, random_state=0)
    >>> model = GPOD(2, affinity=Gaussian(sigma=0.3)).fit(X[:100])
    >>> found = stability(model, X[:100], n_refits=5)
    >>> found.per_row.shape, found.per_cluster.shape
    ((100,), (2,))
    """

    per_row: Array
    per_cluster: Array
    mean: float
    labels: Indices
    n_refits: int

    def __str__(self) -> str:
        lines = [
            f"Stability of {len(self.per_cluster)} clusters on {len(self.per_row)} rows, by "
            f"{self.n_refits} refits on bootstrap samples",
            "",
            f"{'cluster':>8}  {'rows':>8}  {'agreement':>10}  {f'below {_SHAKY:.0%}':>10}",
        ]
        for k, agreement in enumerate(self.per_cluster):
            mine = self.per_row[self.labels == k]
            shaky = f"{(mine < _SHAKY).mean():.1%}" if len(mine) else "-"
            shown = f"{agreement:.1%}" if len(mine) else "-"
            lines.append(f"{k:8d}  {len(mine):8d}  {shown:>10}  {shaky:>10}")
        shaky = f"{(self.per_row < _SHAKY).mean():.1%}"
        lines.append(f"{'all':>8}  {len(self.per_row):8d}  {self.mean:10.1%}  {shaky:>10}")
        return "\n".join(lines)


@takes_tables
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
    model.numbering_.refuse_gaps("stability")
    rng = check_random_state(0 if random_state is None else random_state)
    rows, K = training_rows(model, X), model.n_clusters_
    n_rows = rows.shape[0]
    with threads(model.n_jobs):
        labels = model.fitted_cut_.labels(rows)
    agreement = np.zeros(n_rows)
    samples = range(n_refits)
    for _, fitted in refits(model, samples, lambda _: rows[rng.randint(n_rows, size=n_rows)]):
        with threads(model.n_jobs):
            found = fitted.fitted_cut_.labels(rows)
        agreement += renumbered(found, labels, K)[found] == labels
    per_row = agreement / n_refits
    count = np.bincount(labels, minlength=K)
    sums = np.bincount(labels, per_row, minlength=K)
    per_cluster = np.divide(sums, count, out=np.full(K, np.nan), where=count > 0)
    return Stability(per_row, per_cluster, float(per_row.mean()), labels, n_refits)
