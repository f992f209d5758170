"""``TableModel``: prepare the columns of a table, then cluster the prepared rows with a GPOD."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import all_or_nothing
from eigencut._utils.validation import check_choice, check_sample_weight
from eigencut.exceptions import invalid
from eigencut.extension.labelling import ClusterNumbers
from eigencut.gpod import GPOD
from eigencut.inspection.describe import Column, columns_of
from eigencut.io.column_kinds import check_columns, columns_from_text, columns_to_text, plain_names
from eigencut.io.refused_rows import naming_refused_rows, naming_rows_of_table
from eigencut.io.rows import Rows
from eigencut.io.state_reader import StateReader
from eigencut.io.table import Coding, Table, as_table
from eigencut.io.validation import check_is_stream, check_weights_of
from eigencut.model import Mask, Model, Prepared, spread
from eigencut.neighbors.metrics import refuse_units
from eigencut.semi_supervised.known_labels import Constraints, check_kind, read_known_labels
from eigencut.tables.preparation import (
    MISSING,
    UNITS,
    Preparation,
    TableSummary,
    learn_preparation,
    logged,
    preparation_state,
    restored_preparation,
    restored_table,
    summarize_preparation,
)
from eigencut.updating.update import refuse_nothing

if TYPE_CHECKING:
    from eigencut.updating.update import Updated


class TableModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Model):
    """A model of tables with numbers, words, dates and missing values.

    ``fit`` learns how to prepare the columns and clusters the prepared rows; ``predict`` prepares
    new rows in the same way. See ``docs/tables.md``.

    Parameters
    ----------
    model : GPOD, optional
        Clusters the prepared rows; a clone of it is fitted. Default: ``GPOD()``.
    columns : dict, list of str or None, default=None
        What columns hold, by name: "numeric", "boolean", "categorical", "date", "ignore", or a list
        of words in their order, the least first. Other kinds are recognized from dtypes and
        contents; ``summary`` shows them. A list of names chooses columns. None takes all.
    scale : {"auto", "standard", "robust", "minmax", "none"}, default="auto"
        "standard" brings columns to mean 0 and variance 1, "robust" to median 0 and the quartiles
        of a normal distribution, "minmax" to the range from 0 to 1, and "none" leaves them. "auto"
        is "standard", but takes the logarithm of columns with a long tail and no negative numbers
        (``summary`` names them), and brings ordered words to variance 0.25. Other words become
        points in the same units.
    missing : {"refuse", "drop", "mean", "median"}, default="refuse"
        "refuse" raises an error for missing values. "drop" leaves such rows out of the fit, and
        gives them the label -1 (and NaN for everything else). "mean" and "median" fill in values of
        the column; for words, the mean of their points or the most frequent word. If rows are
        read in blocks, the medians come from a sample of 65536 distinct rows.

    Attributes
    ----------
    columns_ : list of str
        Names of the columns, in the order of the fit; x1, x2, ... for an array.
    preparation_ : Preparation
        ``kinds``, ``shift``, ``scale`` and ``fill`` have one value for each column.
    model_ : GPOD
        The clusterer, fitted on the prepared rows.
    class_names_ : list of str
        Names of clusters 0, 1, ..., from known labels that are words, or from ``set_names``.
    labels_ : array of shape (n_rows,)
        The labels of the training rows. Not set by a fit on ``eigencut.Rows``.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import pandas as pd
    >>> frame = pd.DataFrame({"km": [1.0, 2, 1, 90, 91, None], "by": ["foot"] * 3 + ["train"] * 3})
    >>> model = TableModel(GPOD(2), missing="median").fit(frame)
    >>> model.predict(pd.DataFrame({"by": ["foot", "train"], "km": [1.5, 95]}))
    array([0, 1])
    >>> print(model.summary())
    column  kind         found
    km      numeric      mean 37, deviation 41.96; 16.7% missing
    by      categorical  foot, train
    """

    _saved_as: ClassVar[str] = "TableModel"
    finds_columns: ClassVar[bool] = True
    _parameter_kinds: ClassVar[dict[str, type]] = {"model": GPOD}
    model_: GPOD
    labels_: Indices
    preparation_: Preparation

    def __init__(
        self,
        model: GPOD | None = None,
        *,
        columns: Any = None,
        scale: str = "auto",
        missing: str = "refuse",
    ) -> None:
        self.model = model
        self.columns = columns
        self.scale = scale
        self.missing = missing

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        known_labels: Any = None,
        constraints: Constraints | None = None,
    ) -> Self:
        """Learn columns, their scales and clusters from a data frame, array or ``eigencut.Rows``.

        A stream is read in blocks: once to scale columns, once more if it has words, and as often
        as ``GPOD.fit`` reads it.

        Parameters
        ----------
        X : data frame, array of shape (n_samples, n_features) or Rows
        y : ignored
            As in every clusterer of scikit-learn.
        sample_weight : array-like of shape (n_samples,), optional
            The weight of each row, as in ``GPOD.fit``. Means and medians are weighted too.
        known_labels : array-like of shape (n_samples,), optional
            The class of each row: a number from 0 on, or a word; -1 or a missing value if it is
            unknown. See ``GPOD.fit``.
        constraints : eigencut.Constraints, optional
            Pairs of rows, by their place in the table from 0 on: see ``GPOD.fit``.
        """
        self._check_parameters()
        model = (GPOD() if self.model is None else self.model).for_prepared_rows()
        if isinstance(X, Rows):
            check_weights_of(X, sample_weight)
            preparation = learn_preparation(X, self.scale, self.missing, self.columns)
            model.set_params(affinity=preparation.affinity_for_stream(model))
            with naming_rows_of_table(X, None, preparation):
                model.fit(preparation.stream(X), known_labels=known_labels, constraints=constraints)
            return self._take(preparation, model)
        X = as_table(X, at_least=2)
        table = Table.from_data(X, coding=Coding(columns=self.columns))
        weight = check_sample_weight(sample_weight, len(table.values))
        preparation = learn_preparation(replace(table, weight=weight), self.scale, self.missing)
        rows, complete = preparation.apply(table)
        class_names: Sequence[str] = ()
        if known_labels is not None:
            known = read_known_labels(known_labels, len(table.values))
            known_labels, class_names = known.labels[complete], known.names
        pairs = None if constraints is None else check_kind(constraints)._among(complete)
        with naming_rows_of_table(table, complete, preparation):
            model.fit(
                rows,
                sample_weight=None if weight is None else weight[complete],
                known_labels=known_labels,
                constraints=pairs,
            )
        return self._take(preparation, model, complete, X, class_names)

    def _take(
        self,
        preparation: Preparation,
        model: GPOD,
        complete: Mask | None = None,
        X: Any = None,
        class_names: Sequence[str] = (),
    ) -> Self:
        """Store the results of a fit; ``complete`` marks the rows of X that were fitted on."""
        with all_or_nothing(self) as fresh:
            fresh.preparation_ = preparation
            fresh.model_, fresh.class_names_ = model, list(class_names)
            fresh._n_features_out = model.n_clusters_
            for name in ("labels_", "feature_names_in_"):
                fresh.__dict__.pop(name, None)
            fresh.n_features_in_ = len(preparation.columns)
            if X is not None:
                validate_data(fresh, X, reset=True, skip_check_array=True)  # n_features_in_, names
            if hasattr(model, "labels_"):
                rows = np.ones(len(model.labels_), dtype=bool) if complete is None else complete
                fresh.labels_ = spread(model.labels_, rows, -1)
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def predict_set(self, X: Any, coverage: float = 0.9, *, calibration: Any) -> Mask:
        """Return the clusters that each row may belong to; see ``GPOD.predict_set``."""
        is_ready = calibration is None or hasattr(calibration, "predict_set")
        sets = calibration if is_ready else self.prepare(calibration)[0]
        question = lambda rows: self.gpod.predict_set(rows, coverage, calibration=sets)  # noqa: E731
        return self._ask(X, question, False)

    def transform(self, X: Any) -> Array:
        """Return the spectral embedding of each row; see ``GPOD.transform``."""
        return self._ask(X, lambda rows: self.gpod.transform(rows), np.nan)

    def score(self, X: Any, y: Any = None) -> float:
        """Return minus the error per cluster on the complete rows of X; see ``GPOD.score``."""
        with self.preparing(X) as (rows, _):
            return self.gpod.score(rows)

    def update(self, X: Any, *, sample_weight: Any = None, decay: float = 1.0) -> Self:
        """Refit the model as if it had seen these rows too; see ``GPOD.update``."""
        check_is_fitted(self)
        refuse_nothing(X.values if isinstance(X, Table) else X, "update by")
        with all_or_nothing(self) as fresh:
            fresh.model_ = model = copy(fresh.model_)
            fresh.__dict__.pop("labels_", None)
            if isinstance(X, Rows):
                check_weights_of(X, sample_weight)
                with naming_rows_of_table(X, None, self.preparation_):
                    model.update(self.preparation_.stream(X), decay=decay)
            else:
                rows, complete = self.complete_rows(X)
                weight = check_sample_weight(sample_weight, len(complete))
                weight = None if weight is None else weight[complete]
                with self.naming_rows(X, rows, complete):
                    model.update(rows, sample_weight=weight, decay=decay)
                fresh.labels_ = spread(model.labels_, complete, -1)
        return self

    @property
    def gpod(self) -> GPOD:
        """Return the GPOD that was fitted on the prepared rows."""
        return self.model_

    @property
    def updated_(self) -> Updated:
        """What the last ``update`` changed; see ``GPOD.update``."""
        return self.model_.updated_

    @property
    def columns_(self) -> list[str]:
        """Names of the columns, in the order of the fit."""
        return self.preparation_.columns

    @property
    def is_plane(self) -> bool:
        """Return whether the table has two columns, both of numbers."""
        return self.preparation_.is_numeric and len(self.columns_) == 2

    @property
    def is_numeric(self) -> bool:
        """Return whether all columns are numbers."""
        return self.preparation_.is_numeric

    def in_units(self, rows: Array) -> Array:
        """Return prepared rows of numbers in the original units of the columns."""
        return self.preparation_.in_units(rows)

    def from_units(self, points: Array) -> Array:
        """Return points in the original units of the columns as prepared rows."""
        values = logged(points, self.preparation_.floor)
        return np.asarray((values - self.preparation_.shift) / self.preparation_.scale)

    def refuse_other_kinds(self, other: Any) -> None:
        """Raise an error if another model has a column of another kind."""
        held = dict(zip(other.columns_, other.preparation_.kinds, strict=True))
        for name, kind in zip(self.columns_, self.preparation_.kinds, strict=True):
            own, its = ((one.name, one.order) for one in (kind, held[name]))
            if own != its:
                expected = "be a data frame where columns hold different things"
                got = f"{name!r}, which is {own[0]} in the model and {its[0]} in the reference"
                remedy = "pass rows to compare labels on: align_labels(model, reference, frame)"
                raise invalid("X", expected, got, remedy)

    def rows_from(self, other: Any, rows: Array) -> Array:
        """Return rows prepared by another model of the same columns as this model prepares them."""
        table = restored_table(other.preparation_, rows)
        return np.ascontiguousarray(self.preparation_.apply(table)[0])

    def as_columns(self, rows: Array, X: Any = None) -> list[Column]:
        """Return prepared rows as columns of the table, or the columns of X if it is given."""
        if X is None:
            return columns_of(restored_table(self.preparation_, rows))
        needed, coding = self.columns_, self.preparation_.coding()
        return columns_of(Table.from_data(X, needed, coding))

    def _renumber(self, columns: Indices, numbers: ClusterNumbers) -> None:
        """Give the clusters this order and these numbers, in a copy of the GPOD."""
        before = self.gpod.numbering_
        self.model_ = copy(self.model_)
        self.model_._renumber(columns, numbers)
        if hasattr(self, "labels_"):
            number_of = np.full(before.n_given + 1, -1, dtype=np.intp)  # the last one is for -1
            number_of[before.numbers] = numbers.numbers[np.argsort(columns)]
            self.labels_ = number_of[self.labels_]

    def described_columns(self, X: Any) -> Sequence[str] | None:
        """Return the names of the columns of the fit."""
        return self.columns_

    def summary(self) -> TableSummary:
        """Return the kind of each column and how it is prepared; prints as a table."""
        check_is_fitted(self)
        return summarize_preparation(self.preparation_)

    def prepare(self, X: Any, at_least: int = 0) -> Prepared:
        """Return the complete rows of X, prepared, and a mask of the complete rows."""
        check_is_fitted(self)
        X, n_columns = as_table(X), self.n_features_in_
        width = X.shape[1] if isinstance(X, np.ndarray) else n_columns
        if width not in (n_columns, len(self.columns_)):
            raise ValueError(
                f"X has {width} features, but TableModel is expecting {n_columns} features as "
                "input; give it the columns of the fit."
            )
        return self.preparation_.apply(X)

    def prepared_blocks(self, rows: Rows) -> Iterator[Prepared]:
        """Prepare a stream of tables block by block."""
        check_is_stream(rows)
        return map(self.preparation_.apply, rows.tables(self.preparation_.coding()))

    @contextmanager
    def naming_rows(self, X: Any, rows: Any, complete: Mask) -> Iterator[None]:
        """Let errors about rows name their line in the file or their number, and the column."""
        of_model = nullcontext() if isinstance(rows, Rows) else naming_refused_rows(rows)
        with naming_rows_of_table(X, complete, self.preparation_), of_model:
            yield

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        check_is_fitted(self)
        found = {**preparation_state(self.preparation_), "model": self.model_}
        if self.n_features_in_ != len(self.columns_):
            found["n_columns"] = self.n_features_in_
        if hasattr(self, "feature_names_in_"):
            found["feature_names"] = [str(name) for name in self.feature_names_in_]
        if self.class_names_:
            found["class_names"] = list(self.class_names_)
        has_labels = include_training_data and hasattr(self, "labels_")
        return found | ({"labels": self.labels_} if has_labels else {})

    def _restore(self, state: StateReader) -> None:
        self.columns = columns_from_text(self.columns)
        self._check_parameters()
        self.model_ = state.fitted("model", GPOD)
        self._n_features_out = self.model_.n_clusters_
        width = self.model_.n_features_in_
        self.preparation_ = restored_preparation(state, self.scale, self.missing, width)
        self.n_features_in_ = n = len(self.columns_)
        if "n_columns" in state:
            self.n_features_in_ = n = state.integer("n_columns", least=len(self.columns_))
        if "feature_names" in state:
            self.feature_names_in_ = np.array(state.words("feature_names", n), dtype=object)
        self.class_names_ = state.texts("class_names", 1 << 16) if "class_names" in state else []
        if "labels" in state:
            n_given = self.model_.numbering_.n_given
            self.labels_ = state.indices("labels", (None,), n_given, least=-1)

    def _check_parameters(self) -> None:
        check_choice("scale", self.scale, UNITS)
        check_choice("missing", self.missing, MISSING)
        check_columns(self.columns)
        if self.model is None:
            return
        if not isinstance(self.model, GPOD):
            raise invalid("model", "be a GPOD", type(self.model).__name__, "use e.g. GPOD(3)")
        if self.model.affinity == "precomputed":
            got = "affinity='precomputed', which tables do not have"
            raise invalid("model", "have an affinity of rows", got, "use GPOD alone")
        refuse_units(self.model.metric or getattr(self.model.affinity, "metric", None), self.scale)

    def _saved_parameters(self, deep: bool = False) -> dict[str, Any]:
        """Return the parameters for a file, with ``columns`` as text."""
        return self.get_params(deep) | {"columns": columns_to_text(self.columns)}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "refuse"
        return tags


def table_model(
    model: GPOD,
    preparation: Preparation | None = None,
    complete: Mask | None = None,
    columns: Any = None,
) -> TableModel:
    """Return a fitted TableModel around a fitted GPOD; by default, it leaves columns unchanged."""
    check_is_fitted(model)
    if preparation is None:
        names = getattr(model, "feature_names_in_", plain_names(model.n_features_in_))
        preparation = Preparation.nothing(names)
        if model.column_scales_ is not None:
            preparation = replace(preparation, units="standard", scale=model.column_scales_)
            model = model.gpod
    table = TableModel(model, columns=columns, scale=preparation.units, missing=preparation.missing)
    return table._take(preparation, model, complete, class_names=model.class_names_)
