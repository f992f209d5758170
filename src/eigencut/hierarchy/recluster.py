"""Splitting one cluster of a fitted model, while all others stay what they are.

A row is labelled in stages: the base model says its cluster, and if that is one that was split, a
model of its own rows says which part. The first part keeps the number of the cluster, the others
have the next free numbers; so no other number changes, however often clusters are split.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_count
from eigencut.affinities.base import whole_or_real
from eigencut.fitted import Answers
from eigencut.gpod import GPOD
from eigencut.inspection.describe import DescribingMixin
from eigencut.io.saving import SavableMixin
from eigencut.io.state_reader import StateReader
from eigencut.io.validation import check_rows
from eigencut.tables.preparation import spread
from eigencut.tables.table_model import TableModel, table_model

if TYPE_CHECKING:
    from eigencut.inspection.description import Labelled

# What a model whose clusters were split does not have, and where to find it.

ELSEWHERE = {
    "labels_": "it was split by the rows that the model has kept, which are in another order; use "
    "predict(X)",
    "transform": "each part has an embedding of its own; use base_.transform(X), or "
    "splits_[0].part.transform of rows of one cluster",
    "score": "there is no one cut to measure; use base_.score(X), or splits_[0].part.score of rows "
    "of one cluster",
    "hierarchy": "it is a tree of the clusters before the split; use base_.hierarchy(), and "
    "splits_ for what became of them",
    "update": "update the model that was split, base_.update(X), and split it again",
    "drift": "ask the model that was split: base_.drift(X)",
}


_MOST_SPLITS = 10_000  # of a model in a file


@dataclass(frozen=True)
class Split:
    """One cluster in parts.

    Attributes
    ----------
    cluster : int
        Its number.
    numbers : array of shape (n_parts,)
        Of the parts; the first is that of the cluster.
    part : GPOD
        Fitted on the rows of the cluster.
    """

    cluster: int
    numbers: Indices
    part: GPOD


class Reclustered(DescribingMixin, SavableMixin, BaseEstimator):
    """A fitted model of which clusters were split; ``recluster`` makes it.

    Attributes
    ----------
    base_ : GPOD or TableModel
        Whose clusters were split.
    splits_ : tuple of Split
        In the order in which they were made; a part can be split again.
    n_clusters_ : int
        Clusters in all, parts counted.
    labels_ : array of shape (n_rows,)
        Of the rows X that the last cluster was split by, as ``predict`` gives them. Not there where
        these were the rows that the model has kept, which has them in another order.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import GPOD, recluster
    >>> X, _ = make_blobs(300, centers=[[0, 0], [0, 6], [40, 0]], random_state=0)
    >>> model = GPOD(2).fit(X)
    >>> finer = recluster(model, X, cluster=0, n_clusters=2)
    >>> finer.n_clusters_, sorted(set(finer.predict(X).tolist()))
    (3, [0, 1, 2])
    """

    _saved_as: ClassVar[str] = "Reclustered"

    base_: GPOD | TableModel
    splits_: tuple[Split, ...]
    labels_: Indices

    def __init__(self) -> None:
        pass

    @classmethod
    def _of(cls, base: GPOD | TableModel, splits: Sequence[Split]) -> Reclustered:
        found = cls()
        found.base_, found.splits_ = base, tuple(splits)
        return found

    def __getattr__(self, name: str) -> Any:
        # Only for what is not there: the sentence says where to find it.
        instead = ELSEWHERE.get(name)
        if instead is None or "base_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        raise AttributeError(f"A model whose clusters were split has no {name}: {instead}.")

    @property
    def n_clusters_(self) -> int:
        """Clusters in all, parts counted."""
        return self._gpod.n_clusters_ + sum(len(split.numbers) - 1 for split in self.splits_)

    @property
    def columns_(self) -> list[str]:
        """Names of the columns of a model of tables, in the order of the fit."""
        return self.base_.columns_

    @property
    def _gpod(self) -> GPOD:
        return gpod_of(self.base_)

    def predict(self, X: Any) -> Indices:
        """The cluster, or the part of one, of each row; -1 where the base model says so."""
        rows, complete = self._prepared(X)
        return spread(self._labels(rows), complete, -1)

    def predict_margin(self, X: Any) -> Array:
        """How clearly each row belongs to its cluster and to its part: the smaller margin."""
        return self.answers(X).margins

    def predict_proba(self, X: Any) -> Array:
        """The probability of each cluster or part, for each row; the largest is its label.

        What the base model says of two clusters, and a split of its parts, are odds. They are
        kept: the most probable part takes the place of its cluster, others follow by their odds.
        """
        return self.answers(X).probabilities

    def score_samples(self, X: Any) -> Array:
        """Support of each row; see ``GPOD.score_samples``."""
        self._check_made()
        return self.base_.score_samples(X)

    def answers(self, X: Any) -> Answers:
        """Labels, margins, support and probabilities of each row."""
        rows, complete = self._prepared(X)
        found = self._answers(rows)
        return Answers(
            spread(found.labels, complete, -1),
            spread(found.margins, complete, np.nan),
            spread(found.support, complete, np.nan),
            spread(found.probabilities, complete, np.nan),
        )

    def of_tables(self) -> Reclustered:
        """The same with a base that takes tables, its columns found by name."""
        if isinstance(self.base_, TableModel):
            return self
        found = self._of(table_model(self._gpod), self.splits_)
        if "labels_" in self.__dict__:
            found.labels_ = self.labels_
        return found

    # ----------------------------------------------------------- prepared rows

    def _prepared(self, X: Any) -> tuple[Any, NDArray[np.bool_]]:
        self._check_made()
        return prepared(self.base_, X)

    def _check_made(self) -> None:
        if not hasattr(self, "base_"):
            raise NotFittedError("Reclustered has no clusters yet; use eigencut.recluster.")

    def _labels(self, rows: Any) -> Indices:
        if not rows.shape[0]:
            return np.empty(0, dtype=np.intp)
        with threads(self._gpod.n_jobs):
            labels = self._gpod._labels(rows)
            for split in self.splits_:
                inside = np.flatnonzero(labels == split.cluster)
                if len(inside):
                    labels[inside] = split.numbers[split.part._labels(rows[inside])]
        return labels

    def _answers(self, rows: Any) -> Answers:
        gpod, n = self._gpod, rows.shape[0]
        if not n:
            no = np.empty(0)
            return Answers(no.astype(np.intp), no, no, np.empty((0, self.n_clusters_)))
        with threads(gpod.n_jobs):
            found = gpod.fitted_cut_.answers(rows, mark_outliers=gpod.outliers == "label")
            of_parts = [split.part.fitted_cut_.answers(rows) for split in self.splits_]
        labels, margins, odds = found.labels.copy(), found.margins.copy(), found.probabilities
        for split, of_part in zip(self.splits_, of_parts, strict=True):
            parts = of_part.probabilities / of_part.probabilities.max(axis=1, keepdims=True)
            parts *= odds[:, [split.cluster]]
            odds = np.column_stack([odds, parts[:, 1:]])
            odds[:, split.cluster] = parts[:, 0]
            inside = labels == split.cluster
            labels[inside] = split.numbers[of_part.labels[inside]]
            margins[inside] = np.minimum(margins[inside], of_part.margins[inside])
        probabilities = odds / odds.sum(axis=1, keepdims=True)
        # Of equal ones the first is the label, and a part comes after all clusters.
        wrong = np.flatnonzero((probabilities.argmax(axis=1) != labels) & (labels >= 0))
        probabilities[wrong, labels[wrong]] = np.nextafter(probabilities[wrong].max(axis=1), 1)
        return Answers(labels, margins, found.support, probabilities)

    def _labelled(self, X: Any) -> Labelled:
        from eigencut.inspection.description import Labelled

        rows, complete = self._prepared(X)
        found = self._answers(rows)
        metric = getattr(self._gpod.affinity_, "metric", "euclidean")
        return Labelled(
            spread(found.labels, complete, -1),
            spread(found.margins, complete, np.nan),
            spread(rows, complete, 0.0),
            self.n_clusters_,
            str(metric),
        )

    def _described_columns(self, X: Any) -> Sequence[str] | None:
        return self.base_._described_columns(X)

    # ------------------------------------------------------------------ saving

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        """The base, and for each split its cluster and its part."""
        self._check_made()
        parts = {_part_name(place): split.part for place, split in enumerate(self.splits_)}
        found = {"base": self.base_, "clusters": _clusters(self.splits_), **parts}
        has_labels = include_training_data and "labels_" in self.__dict__
        return found | ({"labels": self.labels_} if has_labels else {})

    def _restore(self, state: StateReader) -> None:
        """Take back a saved ``_state()``, instead of a fit."""
        base: Any = state.fitted("base", ClusterMixin)
        clusters = state.indices("clusters", (None,), below=2**31)
        if len(clusters) > _MOST_SPLITS:
            raise ValueError(f"a model can have {_MOST_SPLITS} splits at most.")
        found = self._of(base, ())
        if found._gpod.affinity_.pairwise:
            raise ValueError("clusters of precomputed affinities cannot be split.")
        for place, cluster in enumerate(clusters):
            part = state.fitted(_part_name(place), GPOD)
            is_of_rows = not part.affinity_.pairwise and part.outliers == "keep"
            has_columns = part.n_features_in_ == found._gpod.n_features_in_
            if cluster >= found.n_clusters_ or not (is_of_rows and has_columns):
                raise ValueError(f"{_part_name(place)} must be of a cluster of the model.")
            found.splits_ = (*found.splits_, split_of(found, int(cluster), part))
        self.base_, self.splits_ = found.base_, found.splits_
        if "labels" in state:
            self.labels_ = state.indices("labels", (None,), found.n_clusters_, least=-1)


def recluster(
    model: Any,
    X: Any = None,
    *,
    cluster: int,
    n_clusters: int | str = 2,
    affinity: Any = None,
) -> Reclustered:
    """Split one cluster of a fitted model; all other clusters keep their rows and numbers.

    Parameters
    ----------
    model : fitted GPOD, TableModel or Reclustered
        Stays as it is.
    X : array-like of shape (n_samples, n_features), optional
        Rows as ``model.predict`` takes them; those that belong to the cluster are clustered.
        Default: the rows that the model has kept, with their weights. Landmarks keep none.
    cluster : int
        The number of the cluster.
    n_clusters : int or "auto", default=2
        Its parts. The first, which is the largest, keeps the number of the cluster; the others
        have the next free numbers.
    affinity : str, Affinity or callable, optional
        The graph of the rows of the cluster. Default: as the model was told.

    Returns
    -------
    Reclustered
        Labels any row, and can be saved, described and reclustered.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import GPOD
    >>> X, _ = make_blobs(300, centers=[[0, 0], [0, 6], [40, 0]], random_state=0)
    >>> finer = recluster(GPOD(2).fit(X), cluster=0)
    >>> finer.predict([[40.0, 0.0]])
    array([1])
    """
    before = model if isinstance(model, Reclustered) else _unsplit(model)
    gpod = gpod_of(before.base_)
    gpod.numbering_.refuse_gaps("recluster")
    if n_clusters != "auto":
        check_count("n_clusters", n_clusters, "use the number of parts you expect, or 'auto'")
    K = before.n_clusters_
    is_number = isinstance(cluster, (int, np.integer)) and not isinstance(cluster, bool)
    if not (is_number and 0 <= cluster < K):
        raise ValueError(
            f"cluster must be the number of a cluster, from 0 to {K - 1}. Got {cluster!r}; use one "
            "that predict gives."
        )
    rows, counts, complete = _rows_and_counts(before, X)
    inside = np.flatnonzero(before._labels(rows) == cluster)
    if len(inside) < 2:
        raise ValueError(
            f"X must hold rows of cluster {cluster} to split it. Got {len(inside)} among "
            f"{rows.shape[0]}; pass more rows, or another cluster."
        )
    part: GPOD = clone(gpod).set_params(n_clusters=n_clusters, outliers="keep")
    if affinity is not None:
        part.set_params(affinity=affinity)
    part.fit(rows[inside], sample_weight=None if counts is None else counts[inside])
    split = split_of(before, int(cluster), part)
    found = Reclustered._of(before.base_, (*before.splits_, split))
    if X is not None:
        found.labels_ = spread(found._labels(rows), complete, -1)
    return found


def sizes_of_parts(model: Reclustered, X: Any = None) -> list[float]:
    """How many rows, of X or of those that the model has kept, the parts of the last split have."""
    rows, counts, _ = _rows_and_counts(model, X)
    labels = model._labels(rows)
    each = np.ones(rows.shape[0]) if counts is None else counts
    return [whole_or_real(each[labels == k].sum()) for k in model.splits_[-1].numbers]


def gpod_of(base: GPOD | TableModel) -> GPOD:
    """What clusters the rows of a model, once they are prepared."""
    return base.model_ if isinstance(base, TableModel) else base


def prepared(base: GPOD | TableModel, X: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Rows as the model inside wants them, without incomplete ones; and which are complete."""
    if isinstance(base, TableModel):
        return base.prepare(X)
    rows = check_rows(base, X, reset=False)
    return rows, np.ones(rows.shape[0], dtype=bool)


def split_of(model: Reclustered, cluster: int, part: GPOD) -> Split:
    """A split whose parts have the next free numbers of a model."""
    others = model.n_clusters_ + np.arange(part.n_clusters_ - 1)
    return Split(cluster, np.array([cluster, *others], dtype=np.intp), part)


def _part_name(place: int) -> str:
    """part_a, part_b, ..., part_z, part_ba, ...: names in files are of letters."""
    letters = ""
    while place or not letters:
        place, digit = divmod(place, 26)
        letters = chr(ord("a") + digit) + letters
    return f"part_{letters}"


def _clusters(splits: Sequence[Split]) -> Indices:
    return np.array([split.cluster for split in splits], dtype=np.int64)


def _unsplit(model: Any) -> Reclustered:
    if not isinstance(model, (GPOD, TableModel)):
        raise ValueError(
            "model must be a GPOD, a TableModel or what recluster returns. Got "
            f"{type(model).__name__}; fit one."
        )
    check_is_fitted(model)
    if gpod_of(model).affinity_.pairwise:
        raise ValueError(
            "model must be of rows of features to split a cluster. Got one of precomputed "
            "affinities; fit GPOD on the affinities among the rows of the cluster instead."
        )
    return Reclustered._of(model, ())


def _rows_and_counts(model: Reclustered, X: Any) -> tuple[Any, Array | None, NDArray[np.bool_]]:
    """Prepared rows, how much each counts (the same for all if None), and which are complete."""
    if X is not None:
        rows, complete = model._prepared(X)
        return rows, None, complete
    affinity = gpod_of(model.base_).affinity_
    rows = getattr(affinity, "rows_", None)
    if rows is None:
        raise ValueError(
            "X must be given for a model that has not kept its rows, as landmarks do not. Got "
            "None; pass the rows of the fit, or others like them (on the command line: a TABLE)."
        )
    return rows, affinity.multiplicity_, np.ones(rows.shape[0], dtype=bool)
