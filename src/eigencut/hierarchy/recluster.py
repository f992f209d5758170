"""``recluster``: split one cluster of a fitted model, while all others stay the same.

A row is labelled in stages: the base model gives its cluster, and if that was split, a model fitted
on the rows of the cluster gives the part. The first part keeps the number of the cluster, and the
others get the next free numbers. So splits change no other number.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import TransformerMixin
from sklearn.exceptions import NotFittedError

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import all_or_nothing, one_at_a_time, threads
from eigencut._utils.validation import check_count, check_sample_weight, is_integer
from eigencut.exceptions import invalid
from eigencut.fitted import Answers
from eigencut.gpod import GPOD
from eigencut.hierarchy.hierarchy import Hierarchy, Joining
from eigencut.io.state_reader import StateReader
from eigencut.model import Mask, Model, check_model, spread
from eigencut.tables.table_model import TableModel, table_model

_MOST_SPLITS = 10_000  # most splits of a model in a file


@dataclass(frozen=True)
class Split:
    """One cluster that was split into parts."""

    cluster: int  # its number
    numbers: Indices  # of the parts; the first is the number of the cluster
    part: GPOD  # fitted on the rows of the cluster


def _asks_base(name: str) -> Any:
    """Return a property or method that gives the result of the base model."""
    asked = getattr(TableModel, name)
    is_property = isinstance(asked, property)

    @wraps(asked.fget if is_property else asked)
    def ask(self: Reclustered, *args: Any, **params: Any) -> Any:
        self.check_fitted()
        answer = getattr(self.base_, name)
        return answer if is_property else answer(*args, **params)

    return property(ask) if is_property else ask


class Reclustered(Model):
    """What ``recluster`` returns: a fitted model with split clusters.

    Attributes
    ----------
    base_ : GPOD or TableModel
        The model before the split.
    splits_ : tuple of Split
        The splits, in the order in which they were made.
    n_clusters_ : int
        The number of all clusters; each part is one.
    labels_ : array of shape (n_rows,)
        The labels of the rows X of the last ``recluster``; not set without X.
    """

    _saved_as: ClassVar[str] = "Reclustered"

    base_: GPOD | TableModel
    splits_: tuple[Split, ...]
    labels_: Indices

    def __init__(self) -> None:
        pass

    @classmethod
    def _from_splits(cls, base: Any, splits: Sequence[Split] = ()) -> Reclustered:
        model = cls()
        model.base_, model.splits_ = base, tuple(splits)
        return model

    def _with_split(self, cluster: int, part: GPOD) -> Reclustered:
        """Return the model with one more split; the parts have the next free numbers."""
        others = self.n_clusters_ + np.arange(part.n_clusters_ - 1)
        split = Split(cluster, np.array([cluster, *others], dtype=np.intp), part)
        return self._from_splits(self.base_, (*self.splits_, split))

    @property
    def n_clusters_(self) -> int:
        """The number of clusters, in which parts count as clusters."""
        return self.gpod.n_clusters_ + sum(len(split.numbers) - 1 for split in self.splits_)

    @property
    def class_names_(self) -> Sequence[str]:
        """The names of clusters and parts; a part with a new number has no name yet."""
        return self.base_.class_names_

    @class_names_.setter
    def class_names_(self, names: Sequence[str]) -> None:
        self.base_ = copy(self.base_)  # the caller may use the base too
        self.base_.class_names_ = names

    def predict_set(self, X: Any, coverage: float = 0.9, *, calibration: Any) -> Mask:
        """Raise an error: label sets need refits of one cut; see ``GPOD.predict_set``."""
        return self.one_cut().predict_set(X, coverage, calibration=calibration)

    # Results of the base model; ``splits_[0].part`` has the embedding of a part.
    score_samples = _asks_base("score_samples")
    transform = _asks_base("transform")
    score = _asks_base("score")
    drift = _asks_base("drift")

    def hierarchy(self) -> Hierarchy:
        """Return the tree, which joins the parts of splits first; see ``GPOD.hierarchy``."""
        self.check_fitted()
        self.base_.gpod.numbering_.refuse_gaps("hierarchy")
        whole = self.base_.hierarchy()
        sizes = np.zeros(self.n_clusters_)
        sizes[: len(whole.sizes)] = whole.sizes
        trees = [split.part.hierarchy() for split in self.splits_]
        for split, tree in zip(self.splits_, trees, strict=True):
            sizes[split.numbers] = tree.sizes
        joinings: list[Joining] = []
        for split, tree in zip(reversed(self.splits_), reversed(trees), strict=True):
            for step in tree.joinings:
                kept, joined = split.numbers[[step.kept, step.joined]].tolist()
                n_groups = self.n_clusters_ - len(joinings)
                joinings.append(replace(step, kept=kept, joined=joined, n_groups=n_groups))
        values = [step.cut_value for step in reversed(joinings)]
        return replace(
            whole,
            sizes=sizes,
            joinings=(*joinings, *whole.joinings),
            cut_values=np.concatenate([whole.cut_values, values]),
            numbers=np.arange(len(sizes)),
        )

    def update(self, X: Any, *, sample_weight: Any = None, decay: float = 1.0) -> Self:
        """Update the model with these rows; clusters and parts keep their numbers.

        All rows update the base, and those of split clusters the parts (see ``GPOD.update``).
        If clusters or parts would come or go, an error leaves the model unchanged.
        """
        self.check_fitted()
        with one_at_a_time(self):
            base = copy(self.base_).update(X, sample_weight=sample_weight, decay=decay)
            updated = Reclustered._from_splits(base)
            with updated.preparing(X) as (rows, complete):
                weight = check_sample_weight(sample_weight, len(complete))
                counts = None if weight is None else weight[complete]
                for split in self.splits_:
                    inside = np.flatnonzero(updated.labels_of(rows) == split.cluster)
                    part = copy(split.part)
                    if len(inside):
                        own = None if counts is None else counts[inside]
                        part.update(rows[inside], sample_weight=own, decay=decay)
                    updated.splits_ = (*updated.splits_, replace(split, part=part))
            pairs = [(self.gpod, updated.gpod)]
            pairs += [(a.part, b.part) for a, b in zip(self.splits_, updated.splits_, strict=True)]
            if any(list(a.cluster_numbers_) != list(b.cluster_numbers_) for a, b in pairs):
                expected = "keep the clusters of the model, since the parts are numbered after them"
                remedy = "update the model before the split, model.unsplit.update(X), and split it "
                raise invalid("X", expected, "rows that add or remove clusters", f"{remedy}again")
            with all_or_nothing(self) as fresh:
                fresh.base_, fresh.splits_ = updated.base_, updated.splits_
                fresh.labels_ = updated.predict(X)
            return self

    def check_fitted(self) -> None:
        """Raise NotFittedError if no cluster was split."""
        if not hasattr(self, "base_"):
            raise NotFittedError("Reclustered has no clusters yet; use eigencut.recluster.")

    @property
    def gpod(self) -> GPOD:
        """The GPOD of the base model."""
        return self.base_.gpod

    @property
    def unsplit(self) -> Model:
        """The model before any split."""
        return self.base_

    def one_cut(self) -> GPOD:
        """Raise an error: each part has a cut of its own."""
        expected = "be one whose clusters all come from one cut"
        remedy = "ask about the model before the split, model.unsplit, or a part, "
        remedy += "model.splits_[0].part"
        raise invalid("model", expected, "one whose clusters were split", remedy, TypeError)

    @property
    def cluster_numbers_(self) -> Indices:
        """The numbers of the clusters and parts, ascending."""
        return np.arange(self.n_clusters_)

    columns_ = _asks_base("columns_")
    is_plane = _asks_base("is_plane")
    is_numeric = _asks_base("is_numeric")
    in_units = _asks_base("in_units")
    as_columns = _asks_base("as_columns")
    from_units = _asks_base("from_units")
    described_columns = _asks_base("described_columns")
    prepare = _asks_base("prepare")
    prepared_blocks = _asks_base("prepared_blocks")
    naming_rows = _asks_base("naming_rows")

    def labels_of(self, rows: Any) -> Indices:
        """Return the numbers of the clusters and parts of prepared rows."""
        labels = self.gpod.labels_of(rows)
        for split in self.splits_:
            inside = np.flatnonzero(labels == split.cluster)
            if len(inside):
                labels[inside] = split.numbers[split.part.labels_of(rows[inside])]
        return labels

    def margins_of(self, rows: Any) -> Array:
        """Return how clearly rows belong to their clusters and parts: the smaller margin."""
        return self.answers_of(rows).margins

    def probabilities_of(self, rows: Any) -> Array:
        """Return the probabilities of clusters and parts; the largest is that of the label."""
        return self.answers_of(rows).probabilities

    @property
    def n_numbers(self) -> int:
        """The number of clusters, in which parts count as clusters."""
        return self.n_clusters_

    def answers_of(self, rows: Any) -> Answers:
        """Return labels, margins, similarities and probabilities of prepared rows."""
        answers = self.gpod.answers_of(rows)
        of_parts = [split.part.answers_of(rows) for split in self.splits_]
        labels, margins, odds = answers.labels.copy(), answers.margins.copy(), answers.probabilities
        for split, of_part in zip(self.splits_, of_parts, strict=True):
            parts = of_part.probabilities / of_part.probabilities.max(axis=1, keepdims=True)
            parts *= odds[:, [split.cluster]]
            odds = np.column_stack([odds, parts[:, 1:]])
            odds[:, split.cluster] = parts[:, 0]
            inside = labels == split.cluster
            labels[inside] = split.numbers[of_part.labels[inside]]
            margins[inside] = np.minimum(margins[inside], of_part.margins[inside])
        probabilities = odds / odds.sum(axis=1, keepdims=True)
        # argmax takes the first of equals, but the part that is the label can come later.
        wrong = np.flatnonzero((probabilities.argmax(axis=1) != labels) & (labels >= 0))
        probabilities[wrong, labels[wrong]] = np.nextafter(probabilities[wrong].max(axis=1), 1)
        return Answers(labels, margins, answers.support, probabilities)

    def of_tables(self) -> Reclustered:
        """Return this model with a base that takes tables, whose columns it finds by name."""
        if self.base_.finds_columns:
            return self
        model = copy(self)
        model.base_ = table_model(self.base_)
        return model

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        """Return the base, and for each split its cluster and its part."""
        self.check_fitted()
        clusters = np.array([split.cluster for split in self.splits_], dtype=np.int64)
        parts = {_part_name(place): split.part for place, split in enumerate(self.splits_)}
        state = {"base": self.base_, "clusters": clusters, **parts}
        has_labels = include_training_data and "labels_" in self.__dict__
        return state | ({"labels": self.labels_} if has_labels else {})

    def _restore(self, state: StateReader) -> None:
        """Restore a saved ``_state()`` instead of a fit."""
        base: Any = state.fitted("base", TransformerMixin)
        clusters = state.indices("clusters", (None,), below=2**31)
        if len(clusters) > _MOST_SPLITS:
            raise ValueError(f"a model can have {_MOST_SPLITS} splits at most.")
        model = self._from_splits(base)
        if model.gpod.affinity_.pairwise:
            raise ValueError("clusters of precomputed affinities cannot be split.")
        for place, cluster in enumerate(clusters):
            part = state.fitted(_part_name(place), GPOD)
            is_of_rows = not part.affinity_.pairwise and part.outliers == "keep"
            has_columns = part.n_features_in_ == model.gpod.n_features_in_
            if cluster >= model.n_clusters_ or not (is_of_rows and has_columns):
                raise ValueError(f"{_part_name(place)} must be of a cluster of the model.")
            model = model._with_split(int(cluster), part)
        self.base_, self.splits_ = model.base_, model.splits_
        if "labels" in state:
            self.labels_ = state.indices("labels", (None,), model.n_clusters_, least=-1)


def recluster(model: Any, X: Any = None, *, cluster: int, n_clusters: int | str = 2) -> Reclustered:
    """Split one cluster of a fitted model; all other clusters keep their rows and numbers.

    Parameters
    ----------
    model : fitted GPOD, TableModel or Reclustered
        The model itself does not change.
    X : array-like of shape (n_samples, n_features), optional
        Rows of all clusters; those of the cluster are used. Default: the training rows that the
        model keeps, with their weights. With landmarks it keeps none.
    cluster : int
        The number of the cluster.
    n_clusters : int or "auto", default=2
        The number of parts. The largest keeps the number of the cluster; the others get new ones.

    Returns
    -------
    Reclustered
        A model that labels any row, and can be saved, described and reclustered.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import GPOD
    >>> X, _ = make_blobs(300, centers=[[0, 0], [0, 6], [40, 0]], random_state=0)
    >>> finer = recluster(GPOD(2).fit(X), cluster=0)
    >>> finer.predict([[40.0, 0.0]])
    array([1])
    """
    before = check_model(model)
    gpod = before.gpod
    if gpod.affinity_.pairwise:
        expected, got = "be of rows of features to split a cluster", "one of precomputed affinities"
        remedy = "fit GPOD on the affinities among the rows of the cluster instead"
        raise invalid("model", expected, got, remedy)
    if not isinstance(before, Reclustered):
        before = Reclustered._from_splits(before)
    gpod.numbering_.refuse_gaps("recluster")
    if n_clusters != "auto":
        remedy = "use the number of parts you expect, or 'auto'"
        check_count("n_clusters", n_clusters, remedy, least=2)
    K = before.n_clusters_
    if not (is_integer(cluster) and 0 <= cluster < K):
        expected = f"be the number of a cluster, from 0 to {K - 1}"
        raise invalid("cluster", expected, repr(cluster), "use one that predict gives")
    affinity, counts = gpod.affinity_, None
    if X is not None:
        rows, complete = before.prepare(X)
    elif getattr(affinity, "rows_", None) is None:
        expected = "be given for a model that has not kept its rows, as landmarks do not"
        remedy = "pass the rows of the fit, or others like them (on the command line: a TABLE)"
        raise invalid("X", expected, None, remedy)
    else:
        rows, counts = affinity.rows_, affinity.multiplicity_
    with threads(gpod.n_jobs):
        inside = np.flatnonzero(before.labels_of(rows) == cluster)
    if len(inside) < 2:
        expected = f"hold rows of cluster {cluster} to split it"
        got = f"{len(inside)} among {rows.shape[0]}"
        raise invalid("X", expected, got, "pass more rows, or another cluster")
    part = gpod.for_prepared_rows().set_params(n_clusters=n_clusters, outliers="keep")
    part.fit(rows[inside], sample_weight=None if counts is None else counts[inside])
    after = before._with_split(int(cluster), part)
    if X is not None:
        with threads(gpod.n_jobs):
            after.labels_ = spread(after.labels_of(rows), complete, -1)
    return after


def _part_name(place: int) -> str:
    """Return part_a, part_b, ..., part_z, part_ba, ...: names in files consist of letters."""
    letters = ""
    while place or not letters:
        place, digit = divmod(place, 26)
        letters = chr(ord("a") + digit) + letters
    return f"part_{letters}"
