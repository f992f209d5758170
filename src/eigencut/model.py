"""``Model``: the methods that GPOD, TableModel and the result of ``recluster`` share.

    X ──► prepare ──► rows ──► labels_of, answers_of, ... ──► one answer for each row of X

A model prepares the rows of a user (checks, scales, missing values), and answers for prepared rows.
Plots, reports, inspection, export and the command line use only these methods.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import one_at_a_time, threads
from eigencut._utils.validation import check_has_cut, shown
from eigencut.exceptions import invalid
from eigencut.fitted import Answers
from eigencut.io.column_kinds import labels_of, plain_names
from eigencut.io.rows import Rows, write_rows
from eigencut.neighbors.metrics import METRICS
from eigencut.semi_supervised.known_labels import named

if TYPE_CHECKING:
    from eigencut.gpod import GPOD
    from eigencut.hierarchy.hierarchy import Hierarchy
    from eigencut.inspection.describe import Column, Description
    from eigencut.updating.drift import Drift, Outliers

Mask = NDArray[np.bool_]
Prepared = tuple[Any, Mask]


class Model(ClusterMixin, BaseEstimator, ABC):
    """A fitted clustering that labels any row.

    Attributes
    ----------
    splits_ : tuple of Split
        The clusters that ``recluster`` has split; empty for other models.
    class_names_ : sequence of str
        The names of clusters 0, 1, ..., from known labels that are words or from ``set_names``;
        "" for clusters without a name. Model files and ``update`` keep the names.
    """

    splits_: tuple[Any, ...] = ()
    finds_columns: ClassVar[bool] = False  # whether columns of a table are found by their names
    class_names_: Sequence[str] = ()

    def fit_predict(self, X: Any, y: Any = None, **params: Any) -> Indices:
        """Call ``fit(X, **params)`` and return ``labels_``; for rows in blocks, use ``fit``."""
        fitted = cast(Any, self).fit(X, **params)
        if not hasattr(fitted, "labels_"):
            expected = "be rows in memory, for labels of a stream may not fit there"
            remedy = "the model is fitted: use predict_stream(rows, path)"
            raise invalid("X", expected, "eigencut.Rows", remedy, error=TypeError)
        return cast(Indices, fitted.labels_)

    @available_if(lambda model: not get_tags(model).input_tags.pairwise)
    def partial_fit(
        self, X: Any, y: Any = None, *, sample_weight: Any = None, decay: float = 1.0
    ) -> Self:
        """Fit at the first call, update at later calls; ``labels_`` belong to the rows of X.

        Only the first call decides kinds and scales of columns. ``update`` has the parameters.
        """
        from eigencut.updating.update import checked_decay

        model: Any = self
        with one_at_a_time(self):
            if model.__sklearn_is_fitted__():
                model.update(X, sample_weight=sample_weight, decay=decay)
            else:
                checked_decay(decay)
                model.fit(X, sample_weight=sample_weight)
        return self

    def set_names(self, names: Mapping[int, str]) -> Self:
        """Give clusters names, for descriptions, plots, reports and files.

        Parameters
        ----------
        names : mapping of int to str
            Names by cluster number. Clusters that you leave out keep their names.
        """
        self.check_fitted()
        numbers = self.cluster_numbers_
        called = self.names_of_clusters() | checked_names(names, numbers)
        checked_names(called, numbers)
        self.class_names_ = [called.get(number, "") for number in range(int(numbers[-1]) + 1)]
        return self

    def names_of_clusters(self) -> dict[int, str]:
        """Return the names of the clusters that have one, by number."""
        numbers = self.cluster_numbers_
        each = zip(numbers.tolist(), named(numbers, self.class_names_), strict=True)
        return {number: name for number, name in each if name}

    @property
    @abstractmethod
    def gpod(self) -> GPOD:
        """Return the GPOD that cuts the graph of the prepared rows."""

    def one_cut(self) -> GPOD:
        """Return the GPOD if its cut made all clusters; raise an error if clusters were split."""
        self.check_fitted()
        return self.gpod

    def check_fitted(self) -> None:
        """Raise NotFittedError if the model is not fitted."""
        check_is_fitted(self)

    @property
    def unsplit(self) -> Model:
        """Return the model before clusters were split; the model itself if none was."""
        return self

    @property
    def cluster_numbers_(self) -> Indices:
        """The numbers of the clusters, ascending; ``update`` can leave gaps between them."""
        return self.gpod.numbering_.numbers

    @property
    def columns_(self) -> list[str]:
        """Names of the columns, in the order of the fit; x1, x2, ... for an array."""
        names = getattr(self, "feature_names_in_", None)
        return list(plain_names(self.gpod.n_features_in_) if names is None else map(str, names))

    @property
    def is_plane(self) -> bool:
        """Return whether rows are points of the plane: two numbers, not affinities."""
        return not self.gpod.affinity_.pairwise and self.gpod.n_features_in_ == 2

    @property
    def is_numeric(self) -> bool:
        """Return whether all columns are numbers, so that prepared rows can be scaled back."""
        return True

    def in_units(self, rows: Array) -> Array:
        """Return prepared rows of numbers in the original units of the columns."""
        return np.asarray(rows, dtype=np.float64)

    def from_units(self, points: Array) -> Array:
        """Return points in the original units of the columns as prepared rows."""
        return points

    def refuse_other_kinds(self, other: Model) -> None:
        """Raise an error if another model of the same columns has a column of another kind."""

    def rows_from(self, other: Model, rows: Any) -> Any:
        """Return rows prepared by another model of the same columns as this model prepares them."""
        return rows if issparse(rows) else self.from_units(other.in_units(rows))

    @abstractmethod
    def prepare(self, X: Any, at_least: int = 1) -> Prepared:
        """Return the complete rows of X as the GPOD takes them, and a mask of these rows of X."""

    @abstractmethod
    def prepared_blocks(self, rows: Rows) -> Iterator[Prepared]:
        """Prepare a stream block by block."""

    @abstractmethod
    def naming_rows(self, X: Any, rows: Any, complete: Mask) -> AbstractContextManager[None]:
        """Return a context in which errors name refused rows by their place in X."""

    @contextmanager
    def preparing(self, X: Any, at_least: int = 1) -> Iterator[Prepared]:
        """Prepare X for a computation in the model's threads, with errors that name rows."""
        rows, complete = self.prepare(X, at_least)
        with threads(self.gpod.n_jobs), self.naming_rows(X, rows, complete):
            yield rows, complete

    def labels_of(self, rows: Any) -> Indices:
        """Return the numbers of the clusters of prepared rows."""
        return self.gpod.labels_of(rows)

    def margins_of(self, rows: Any) -> Array:
        """Return how clearly prepared rows belong to their clusters."""
        return self.gpod.fitted_cut_.margins(rows)

    def probabilities_of(self, rows: Any) -> Array:
        """Return the probabilities of the clusters of prepared rows, a column for each number."""
        return self.gpod.numbering_.of_columns(self.gpod.fitted_cut_.probabilities(rows))

    @property
    def n_numbers(self) -> int:
        """Return how many cluster numbers exist, with those of clusters that have disappeared."""
        return self.gpod.numbering_.n_given

    def answers_of(self, rows: Any) -> Answers:
        """Return labels, margins, similarities and probabilities of prepared rows."""
        return self.gpod.answers_of(rows)

    def answers(self, X: Any) -> Answers:
        """Return labels, margins, similarities and probabilities of each row, in one pass.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        Answers
        """
        with self.preparing(X) as (rows, complete):
            return self.answers_for_all(rows, complete)

    def answers_for_all(self, rows: Any, complete: Mask) -> Answers:
        """Return answers for all rows, given the complete rows, prepared; others get -1 and NaN."""
        answers, n = self.answers_of(at_least_one(rows)), rows.shape[0]
        return Answers(
            labels=spread(answers.labels[:n], complete, -1),
            margins=spread(answers.margins[:n], complete, np.nan),
            support=spread(answers.support[:n], complete, np.nan),
            probabilities=spread(answers.probabilities[:n], complete, np.nan),
        )

    def _ask(self, X: Any, question: Callable[[Any], NDArray[Any]], missing: float) -> Any:
        """Return the answer of ``question`` for each row of X, and ``missing`` if incomplete."""
        with self.preparing(X) as (rows, complete):
            answer = question(at_least_one(rows))[: rows.shape[0]]
        return spread(answer, complete, missing)

    def predict(self, X: ArrayLike) -> Indices:
        """Return the cluster of each row; a row's label does not depend on the other rows.

        Clusters are numbered as in ``labels_``. Outliers get -1 with ``outliers="label"``, and rows
        with missing values with ``missing="drop"`` (other methods return NaN for these).
        """
        return self._ask(X, self.labels_of, -1)

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return the probability of each cluster, for each row.

        It estimates how often fits on other training rows from the same source would give the row
        the label k (``docs/guide/uncertainty.md``). The label that ``predict`` gives with
        ``outliers="keep"`` has the largest probability. If a row resembles no training row, all
        its probabilities are equal.

        Returns
        -------
        probabilities : array of shape (n_samples, K)
            Column k is cluster k; columns of clusters that disappeared in an ``update`` are 0.
        """
        return self._ask(X, self.probabilities_of, np.nan)

    def predict_margin(self, X: ArrayLike) -> Array:
        """Return how clearly each row belongs to its cluster, from 0 (ambiguous) to 1 (clear).

        It is the difference of the two largest coordinates after the rotation, or of the two
        largest shares of a discrete cut. Outliers have less, and rows far from the training rows 0.
        """
        return self._ask(X, self.margins_of, np.nan)

    def score_samples(self, X: ArrayLike) -> Array:
        """Return how similar each row is to the training rows; the lower, the less similar.

        It is the logarithm of the mean similarity to them, or ``-(distance / radius)^2 / 2`` with
        ``RankedNeighbors`` and ``Landmarks``; the radius is that of the nearest row or landmark.
        It is ``-inf`` for a new row that a mutual graph leaves without any neighbour.
        """
        return self._ask(X, lambda rows: self.gpod.fitted_cut_.support(rows), np.nan)

    def predict_stream(self, rows: Rows, path: str | os.PathLike[str]) -> int:
        """Label the rows of ``eigencut.Rows`` into a ``.npy`` file, and return the number of rows.

        ``numpy.load(path, mmap_mode="r")`` reads the file.
        """
        self.check_fitted()
        dtype = np.min_scalar_type(-max(self.n_numbers, 1))  # holds all labels and -1
        return self._write(rows, path, self.labels_of, -1, dtype)

    def predict_proba_stream(self, rows: Rows, path: str | os.PathLike[str]) -> int:
        """Write probabilities as ``predict_stream`` writes labels; each row takes 8 K bytes."""
        self.check_fitted()
        return self._write(rows, path, self.probabilities_of, np.nan, np.float64, self.n_numbers)

    def _write(
        self, rows: Rows, path: Any, question: Any, missing: float, dtype: Any, *shape: int
    ) -> int:
        blocks = self.prepared_blocks(rows)

        def answers() -> Iterator[NDArray[Any]]:
            for block, complete in blocks:
                yield spread(question(at_least_one(block))[: block.shape[0]], complete, missing)

        with threads(self.gpod.n_jobs), self.naming_rows(rows, rows, np.ones(0, dtype=bool)):
            return write_rows(path, rows, answers(), dtype, shape)

    def hierarchy(self) -> Hierarchy:
        """Return the tree that joins clusters; ``print`` shows it. See ``docs/describe.md``."""
        from eigencut.hierarchy.hierarchy import hierarchy_of

        self.check_fitted()
        with threads(self.gpod.n_jobs):
            return hierarchy_of(self.gpod.fitted_cut_, self.gpod.numbering_.numbers)

    def predict_levels(
        self, X: Any, counts: Sequence[int] | str = "auto", *, min_children: int = 1
    ) -> Indices:
        """Return the group of each row at several levels, which are nested.

        Groups consist of whole clusters, as in ``hierarchy``. See ``docs/guide/levels.md``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        counts : sequence of int or "auto"
            The numbers of groups, the largest first and at most K, such as ``(20, 5)``. "auto"
            takes all clusters, and levels whose groups are clearly separate.
        min_children : int, default=1
            The least number of groups of the next finer level in each group.

        Returns
        -------
        array of shape (n_levels, n_samples)
            The group of each row at each level, the finest first; -1 where ``predict`` gives -1.
        """
        groups, labels = self.hierarchy().levels(counts, min_children), self.predict(X)
        return np.where(labels < 0, labels, groups[:, labels])

    def described_columns(self, X: Any) -> Sequence[str] | None:
        """Return the names of the columns of X that a description is about; None without names."""
        if hasattr(X, "columns"):
            return [str(name) for name in labels_of(X)]
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def describe(
        self,
        X: Any,
        *,
        columns: Any = None,
        documents: Sequence[str] | None = None,
        n_typical: int = 3,
        n_columns: int = 5,
    ) -> Description:
        """Describe each cluster by the rows of X: ``print(model.describe(X))``.

        The description has sizes, typical rows, the columns that distinguish a cluster, a rule of
        at most three conditions, and the words of documents, all in the units of X. See
        ``docs/describe.md``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as ``predict`` takes them: those of the fit, or others.
        columns : data frame or array of shape (n_samples, any), optional
            Describe the clusters by these columns, which may hold words, instead of those of X.
            Default: the columns of X, unless X holds affinities, or columns without names
            (embeddings) of ``documents``.
        documents : sequence of str, optional
            The text of each row, for the words of clusters.
        n_typical, n_columns : int
            The largest number of typical rows, and of columns that distinguish a cluster.

        Returns
        -------
        Description

        Notes
        -----
        Intervals have 95 % confidence, given the clusters: they do not show that the clusters are
        real (``eigencut.inspection.significance``). At most 5 % of the printed intervals are wrong
        on average, although the columns were chosen among many.
        """
        from eigencut.inspection.describe import describe_model

        return describe_model(
            self, X, columns=columns, documents=documents, n_typical=n_typical, n_columns=n_columns
        )

    def as_columns(self, rows: Any, X: Any = None) -> list[Column]:
        """Return prepared rows as columns for a description, or the columns of X if it is given."""
        from eigencut.inspection.describe import Column

        is_cosine = getattr(self.gpod.affinity_, "metric", None) == "cosine"
        rows = METRICS["cosine"].points(rows) if is_cosine else self.in_units(rows)
        return [Column(name, "number", rows[:, j]) for j, name in enumerate(self.columns_)]

    def complete_rows(self, X: Any) -> Prepared:
        """Prepare X as ``prepare`` does, and raise an error if no row is complete."""
        rows, complete = self.prepare(X)
        if not rows.shape[0]:
            remedy = "fill in missing values, or fit with missing='median'"
            raise invalid("X", "have at least one complete row", "none", remedy)
        return rows if issparse(rows) else np.ascontiguousarray(rows), complete

    def drift(self, X: Any, *, random_state: Any = None) -> Drift:
        """Return how new rows differ from the training rows; this does not change the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows in memory. Rows with missing values are left out if ``missing="drop"``, and
            raise an error if ``missing="refuse"``.
        random_state : int, RandomState or None
            The seed of the random choice of training rows for the comparison, which also depends
            on the rows. None means 0.
        """
        from eigencut.updating.drift import drift_of_model

        self.check_fitted()
        return drift_of_model(self, X, random_state)

    def explain_outliers(self, X: Any) -> Outliers:
        """Return which rows are unlike the training rows, and which values make them unlike.

        Each outlier is compared with the training rows (or landmarks) of its nearest cluster. You
        see its unusual values and the usual ones. The least similar row comes first.
        """
        from eigencut.updating.drift import explain_outliers

        return explain_outliers(self, X)

    def save(self, path: str | os.PathLike[str], *, include_training_data: bool = True) -> None:
        """Write the fitted model to a file that ``eigencut.load`` reads; see ``docs/models.md``.

        Parameters
        ----------
        path : path
            Any name, such as ``model.eigencut``. A file of this name is replaced.
        include_training_data : bool, default=True
            False leaves out training rows, ``labels_`` and ``embedding_``. This works only with
            ``Landmarks`` and ``Precomputed``.
        """
        from eigencut.io.state_reader import save_model

        save_model(self, path, include_training_data=include_training_data)

    def _repr_html_inner(self) -> str:
        from eigencut.inspection.describe import fitted_html

        return str(super()._repr_html_inner()) + fitted_html(self)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, str]:
        shown = dict(super()._repr_mimebundle_(**kwargs))
        if "text/html" in shown:
            shown["text/html"] = self._repr_html_inner()
        return shown


def checked_names(names: Any, numbers: Indices) -> dict[int, str]:
    """Return names by cluster number; raise an error for unknown clusters and equal names."""
    known = [int(number) for number in numbers]
    if not isinstance(names, Mapping):
        expected, remedy = "be a mapping from numbers of clusters to texts", "use e.g. {0: 'loyal'}"
        raise invalid("names", expected, shown(names), remedy)
    first: dict[str, int] = {}
    for number, name in names.items():
        if isinstance(number, bool) or number not in known:
            expected = f"be of clusters of the model, {', '.join(map(str, known))}"
            raise invalid("names", expected, f"a name of {shown(number)}", "leave it out")
        if not isinstance(name, str) or not name.strip():
            got = f"{shown(name)} for cluster {number}"
            raise invalid("names", "be texts that are not empty", got, "leave it out")
        if first.setdefault(name.strip(), number) != number:
            got = f"{shown(name)} for clusters {first[name.strip()]} and {number}"
            raise invalid("names", "be different", got, "give one of them another name")
    return {int(number): str(name) for number, name in names.items()}


def check_model(model: Any) -> Model:
    """Return the model; raise an error if it is not a Model, or not fitted."""
    check_has_cut(model)
    model.check_fitted()
    return cast(Model, model)


def at_least_one(rows: Any) -> Any:
    """Return the rows, or a row of ones if there are none, since affinities need a row."""
    if issparse(rows):
        return rows
    return np.ascontiguousarray(rows) if len(rows) else np.ones((1, rows.shape[1]))


def spread(answer: NDArray[Any], complete: Mask, missing: float) -> NDArray[Any]:
    """Return an array for all rows: the answers for complete rows, and ``missing`` elsewhere."""
    if complete.all():
        return answer
    everywhere = np.full((len(complete), *answer.shape[1:]), missing, dtype=answer.dtype)
    everywhere[complete] = answer
    return everywhere
