"""``compare``: scores of clusterings from any method, which need no true labels.

    leaves(x) = the share of the votes of a row's neighbours for other clusters

Neighbours are from one half of the rows, and the rows x are from the other half. An estimator with
``predict`` is fitted on the first half only.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import (
    adjusted_mutual_info_score,
    adjusted_rand_score,
    normalized_mutual_info_score,
    silhouette_score,
)

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import check_count, needed, real_array, shown
from eigencut.affinities import RankedNeighbors
from eigencut.exceptions import invalid
from eigencut.inspection.leaving import leaving_of_rows
from eigencut.theory.betting import limits_of_mean


@dataclass(frozen=True)
class ComparedMethod(JsonReady):
    """The scores of one clustering; NaN where a score is not defined.

    Leaving shares are measured on rows that played no part in the fit. Given labels, and estimators
    without ``predict``, have used all rows, so their leaving shares have no limit.
    """

    n_clusters: int
    labelled: float  # the share of rows whose label is not below 0
    leaves: float  # the mean share of a row's neighbours outside its cluster, or without a label
    leaves_at_most: float  # the upper limit of ``leaves`` at 95 % confidence
    stability: float  # mean adjusted Rand index of two fits, on the half of their rows they share
    silhouette: float  # of the rows with a label
    seconds: float  # of the fit on all rows
    ari: float  # against true labels, if given; also nmi and ami
    nmi: float
    ami: float


@dataclass(frozen=True)
class Comparison(JsonReady):
    """Clusterings side by side. ``print`` it to read it.

    Attributes
    ----------
    methods, labels : dict of str to ComparedMethod, and to array of shape (n_rows,)
    agreement : array of shape (n_methods, n_methods)
        The adjusted Rand index of each two methods.
    """

    methods: dict[str, ComparedMethod]
    labels: dict[str, Indices]
    agreement: Array

    def to_frame(self) -> Any:
        """Return the scores as a pandas data frame, a line for each method."""
        rows = [asdict(one) for one in self.methods.values()]
        return needed("pandas", "pandas").DataFrame(rows, index=list(self.methods))

    def __str__(self) -> str:
        width = max(map(len, self.methods))
        names = ("labelled", "leaves", "stability", "silhouette", "seconds", "ari")
        lines = [f"{'':{width}}  clusters  " + "  ".join(f"{name:>10}" for name in names)]
        for name, one in self.methods.items():
            scores = "  ".join(f"{getattr(one, score):10.3f}" for score in names)
            lines.append(f"{name:{width}}  {one.n_clusters:8d}  {scores}")
        return "\n".join(lines)


def compare(
    X: ArrayLike,
    methods: Mapping[str, Any],
    *,
    y: ArrayLike | None = None,
    n_refits: int = 5,
    random_state: int = 0,
) -> Comparison:
    """Compare estimators and labels on the same rows; true labels are optional.

    No score is neutral: see ``docs/guide/compare.md`` for what each of them rewards.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_features)
    methods : dict of str to estimator or labels
        An estimator with ``fit_predict``, or a label for each row; below 0 means no label.
    y : array-like of shape (n_rows,), optional
        True labels.
    n_refits : int, default=5
        The number of pairs of fits for ``stability``.
    random_state : int, default=0

    Returns
    -------
    Comparison

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> found = compare(X, {"gpod": GPOD(2), "kmeans": KMeans(2, random_state=0)})
    >>> found.methods["gpod"].leaves < found.methods["kmeans"].leaves
    True
    """
    rows = real_array("X", X)
    if rows.ndim != 2 or len(rows) < 20 or not np.isfinite(rows).all():
        raise invalid("X", "be 20 rows or more, all finite", f"shape {rows.shape}", "pass others")
    if not isinstance(methods, Mapping) or not methods:
        got = "an empty one" if isinstance(methods, Mapping) else shown(methods)
        raise invalid("methods", "be a dict with a name for each", got, "use e.g. {'a': GPOD(3)}")
    check_count("n_refits", n_refits, "use the default of 5")
    truth = None if y is None else _checked_labels("y", y, len(rows))
    order = np.random.default_rng(random_state).permutation(len(rows))
    half = len(rows) // 2
    first, second = order[:half], order[half:]
    neighbors = RankedNeighbors()
    graph: Any = neighbors.fit_graph(rows[first])
    compared, labels = {}, {}
    for name, method in methods.items():
        start, is_estimator = time.perf_counter(), hasattr(method, "fit_predict")
        given = clone(method).fit_predict(rows) if is_estimator else method
        seconds = time.perf_counter() - start if is_estimator else np.nan
        own = labels[name] = _checked_labels(f"methods[{name!r}]", given, len(rows))
        is_held_out = is_estimator and hasattr(method, "predict")
        known, new = own[first], own[second]
        if is_held_out:
            fitted = clone(method).fit(rows[first])
            known, new = fitted.predict(rows[first]), fitted.predict(rows[second])
        leaves = _leaves(neighbors, graph.vertex_of_row, known, rows[second], new)
        is_in = own >= 0
        n_clusters, silhouette = len(np.unique(own[is_in])), np.nan
        if 1 < n_clusters < is_in.sum():
            some = 5000 if is_in.sum() > 5000 else None
            silhouette = silhouette_score(rows[is_in], own[is_in], sample_size=some, random_state=0)
        compared[str(name)] = ComparedMethod(
            n_clusters=n_clusters,
            labelled=float(is_in.mean()),
            leaves=float(leaves.mean()) if len(leaves) else np.nan,
            leaves_at_most=float(limits_of_mean(leaves, 0.05)[1]) if is_held_out else np.nan,
            stability=_stability(method, rows, n_refits, random_state) if is_estimator else np.nan,
            silhouette=float(silhouette),
            seconds=seconds,
            ari=np.nan if truth is None else adjusted_rand_score(truth, own),
            nmi=np.nan if truth is None else normalized_mutual_info_score(truth, own),
            ami=np.nan if truth is None else adjusted_mutual_info_score(truth, own),
        )
    each = list(labels.values())
    agreement = np.array([[adjusted_rand_score(a, b) for b in each] for a in each])
    return Comparison(compared, {str(name): one for name, one in labels.items()}, agreement)


def _checked_labels(name: str, labels: Any, n_rows: int) -> Indices:
    numbers = np.asarray(labels)
    if numbers.shape != (n_rows,) or numbers.dtype.kind not in "iub":
        expected = f"be an estimator, or an integer label for each of the {n_rows} rows"
        raise invalid(name, expected, shown(labels), "use -1 for rows without a label")
    return numbers.astype(np.intp)


def _leaves(
    neighbors: RankedNeighbors, vertex_of_row: Indices, known: Any, X: Array, labels: Any
) -> Array:
    """Return for each labelled row the share of its neighbours outside its cluster."""
    numbers = np.unique(np.concatenate([known, labels]), return_inverse=True)[1].ravel()
    of_vertices = np.zeros(vertex_of_row.max() + 1, dtype=np.intp)
    of_vertices[vertex_of_row] = numbers[: len(known)]
    is_in = np.asarray(labels) >= 0
    own = numbers[len(known) :][is_in]
    if not len(own):
        return np.empty(0)
    return leaving_of_rows(neighbors, X[is_in], of_vertices, own, int(numbers.max()) + 1)


def _stability(method: Any, rows: Array, n_refits: int, random_state: int) -> float:
    """Return the mean agreement of fits on two halves of the rows that share half of theirs."""
    rng, quarter, scores = np.random.default_rng(random_state), len(rows) // 4, []
    for _ in range(n_refits):
        order = rng.permutation(len(rows))
        one, other = order[: 2 * quarter], np.delete(order[: 3 * quarter], np.s_[quarter:-quarter])
        labels = [clone(method).fit_predict(rows[some])[:quarter] for some in (one, other)]
        scores.append(adjusted_rand_score(*labels))
    return float(np.mean(scores))
