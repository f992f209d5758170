"""Fit and predict on a Spark cluster, where each partition of rows is processed where it is."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, TypeVar

import numpy as np

from eigencut._utils.validation import needed
from eigencut.exceptions import invalid
from eigencut.integrations.partial_sums import FAN_IN, added_up, finished, on_one_thread, total_of
from eigencut.io.column_kinds import absent, plain_names, quoted, refuse_duplicates
from eigencut.io.rows import Rows
from eigencut.model import check_model

Fitted = TypeVar("Fitted")


class SparkRows(Rows):
    """Rows of a Spark data frame; ``reduce`` runs on its cluster.

    Parameters
    ----------
    frame : pyspark.sql.DataFrame
        It is read several times: call ``frame.persist()`` if it is expensive or can change.
    columns : sequence of str, optional
        The features, which must be numbers. Default: all columns.
    weights : str, optional
        The column with the weight of each row, which is then not a feature.
    """

    is_local = False

    def __init__(
        self, frame: Any, columns: Sequence[str] | None = None, *, weights: str | None = None
    ) -> None:
        _check_frame(frame)
        names = _chosen(frame.columns, columns, weights)
        super().__init__(self._collected, names, weighted=weights is not None)
        wanted = names if weights is None else [*names, weights]
        chosen = frame.select([f"`{name.replace('`', '``')}`" for name in wanted])
        self._frame = chosen.toDF(*plain_names(len(wanted)))  # mapInArrow refuses dots in names
        self.n_features = len(names)

    def _collected(self) -> Iterator[Any]:
        """Yield the rows in the order of partitions, for code that iterates over rows."""
        rows = self._frame.toLocalIterator()
        while block := list(islice(rows, 8192)):
            values = np.array(block, dtype=np.float64)
            yield (values[:, :-1], values[:, -1]) if self.is_weighted else values

    def reduce(self, part: Any, combine: Any, finish: Any = None) -> Any:
        n_features, is_weighted = self.n_features, self.is_weighted  # so that self is not sent

        def of_partition(batches: Iterator[Any]) -> Iterator[Any]:
            """Yield the sum over a partition as a table of one row; nothing without rows."""
            blocks: Iterator[Any] = (_numbers(batch) for batch in batches if batch.num_rows)
            if is_weighted:
                blocks = ((block[:, :-1], block[:, -1]) for block in blocks)
            first = next(blocks, None)
            if first is not None:
                rows = Rows(lambda: chain([first], blocks), weighted=is_weighted)
                total = pickle.dumps(total_of(rows, n_features, part, combine))
                arrow = needed("pyarrow", "stream")
                yield arrow.record_batch({"total": arrow.array([total], arrow.binary())})

        sums = self._frame.mapInArrow(of_partition, "total binary").rdd

        def add(left: bytes, right: bytes) -> bytes:  # pickles are from executors of this job only
            return pickle.dumps(added_up([pickle.loads(left), pickle.loads(right)], combine))

        n_parts = max(2, sums.getNumPartitions())
        depth = int(np.ceil(np.log(n_parts) / np.log(FAN_IN)))
        nothing = pickle.dumps(None)
        packed = sums.map(lambda row: bytes(row["total"])).treeAggregate(nothing, add, add, depth)
        total, seen = finished(pickle.loads(packed), finish)
        self._keep_seen(seen)
        return total


def fit(
    model: Fitted, frame: Any, columns: Sequence[str] | None = None, *, weights: str | None = None
) -> Fitted:
    """Fit a GPOD on a Spark data frame.

    Parameters
    ----------
    model : GPOD
        With ``affinity="landmarks"``, ``Landmarks(...)`` or "auto".
    frame, columns, weights
        The data frame, its columns to use (default: all), and the column with the weights.

    Returns
    -------
    model : GPOD
        The same object, fitted, and equal to the last bit to a fit on a stream of these rows.
    """
    return model.fit(SparkRows(frame, columns, weights=weights))  # type: ignore[attr-defined]


def predict(
    model: Any,
    frame: Any,
    columns: Sequence[str] | None = None,
    name: str = "label",
    probabilities: str | None = None,
) -> Any:
    """Return the Spark data frame with new columns: the label of each row, and its probabilities.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    frame : pyspark.sql.DataFrame
    columns : sequence of str, optional
        The features, in the order of the fit. Default: the names of the fit.
    name : str, default="label"
        The name of the new column of labels.
    probabilities : str, optional
        The name of a new column of arrays: the probabilities of all clusters. Default: no column.

    Returns
    -------
    labelled : lazy pyspark.sql.DataFrame
        All columns of ``frame``, and the new ones.
    """
    _check_frame(frame)
    for new in (name, probabilities):
        if new in frame.columns:
            got = f"{new!r}, and the columns {quoted(frame.columns)}"
            remedy = "choose another name, or drop that column"
            raise invalid("The name of a new column", "be new", got, remedy)
    _check_present(_features(model, columns), frame.columns)
    label = _label_batches(model, columns, name, probabilities)
    types = needed("pyspark.sql.types", "spark")
    fields = [*frame.schema.fields, types.StructField(name, types.IntegerType())]
    if probabilities is not None:
        fields.append(types.StructField(probabilities, types.ArrayType(types.DoubleType())))
    names = list(frame.columns)
    plain = frame.toDF(*plain_names(len(names)))  # mapInArrow refuses dots in names

    def with_names(batches: Iterator[Any]) -> Iterator[Any]:
        make = needed("pyarrow", "stream").RecordBatch.from_arrays
        return label(make(batch.columns, names=names) for batch in batches)

    return plain.mapInArrow(with_names, types.StructType(fields))


def _label_batches(
    model: Any, columns: Sequence[str] | None, name: str, probabilities: str | None
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """Return a function for ``mapInArrow`` that adds labels to record batches."""
    features = _features(model, columns)
    single, has_names = on_one_thread(model), model.described_columns(None) is not None

    def label(batches: Iterator[Any]) -> Iterator[Any]:
        arrow = needed("pyarrow", "stream")
        for batch in batches:
            _check_present(features, batch.schema.names)
            table = arrow.Table.from_batches([batch]).select(features)
            rows = table if has_names else _numbers(table)
            labels: Any = single.predict(rows) if batch.num_rows else []
            labelled = batch.append_column(name, arrow.array(labels, arrow.int32()))
            if probabilities is not None:
                shares = list(single.predict_proba(rows)) if batch.num_rows else []
                lists = arrow.array(shares, arrow.list_(arrow.float64()))
                labelled = labelled.append_column(probabilities, lists)
            yield labelled

    return label


def _check_frame(frame: Any) -> None:
    if not hasattr(frame, "mapInArrow"):
        remedy = "use the model's own methods for what is in memory, or spark.createDataFrame"
        raise invalid("frame", "be a Spark data frame", type(frame).__name__, remedy)


def _features(model: Any, columns: Sequence[str] | None) -> list[str]:
    """Return the names of the features, in the order of the fit; check ``columns``."""
    names = check_model(model).described_columns(None)
    features = list(names or []) if columns is None else _listed(columns)
    if len(features) != len(model.columns_) or features != list(names or features):
        known = f"{len(model.columns_)} names" if names is None else ", ".join(names)
        expected = f"be the features in the order of the fit ({known})"
        raise invalid("columns", expected, repr(columns), "pass their names")
    return features


def _listed(columns: Any) -> list[str]:
    """Return names of columns as a list; raise an error if a name occurs twice."""
    if isinstance(columns, str) or not isinstance(columns, Iterable):
        expected = "be a list of names"
        raise invalid("columns", expected, repr(columns), "write it as columns=['x', 'y']")
    listed = [str(name) for name in columns]
    refuse_duplicates(listed)
    return listed


def _check_present(names: Sequence[str], present: Sequence[str]) -> None:
    for name in absent(names, present):
        expected = f"be among those of the frame ({quoted(list(present))})"
        raise invalid("columns", expected, repr(name), "correct it")


def _chosen(present: Sequence[str], columns: Any, weights: str | None) -> list[str]:
    """Return the names of the features for a fit, checked."""
    chosen = _listed(present if columns is None else columns)
    if columns is None:
        chosen = [name for name in chosen if name != weights]
    _check_present(chosen if weights is None else [*chosen, weights], present)
    if weights in chosen:
        got = f"{weights!r}, which is among columns"
        raise invalid("weights", "be a column that is not a feature", got, "leave it out there")
    if not chosen:
        raise invalid("columns", "name at least one feature", "none", "leave it out for all")
    return chosen


def _numbers(batch: Any) -> np.ndarray[Any, Any]:
    """Return the numbers of a record batch or table as an array, with NaN for null."""
    return np.column_stack([np.asarray(column) for column in batch.columns])
