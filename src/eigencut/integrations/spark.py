"""Labels of the rows of a Spark data frame, by a model fitted anywhere else.

Spark calls a function on batches of rows in Arrow's format, in every Python worker. It needs
pyarrow and eigencut there; nothing here imports pyspark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

import numpy as np

from eigencut.data.rows import checked_block
from eigencut.runtime.optional import needed


def label_batches(
    model: Any,
    columns: Sequence[str] | None = None,
    name: str = "label",
    probabilities: str | None = None,
) -> Callable[[Iterator[Any]], Iterator[Any]]:
    """The function that ``DataFrame.mapInArrow`` takes to add the label of each row.

    Parameters
    ----------
    model : fitted GPOD
    columns : sequence of str, optional
        The features, in the order of the fit. Default: the names of the fit.
    name : str, default="label"
        Of the new column, an int.
    probabilities : str, optional
        Of a further column, an array of K doubles: those of ``GPOD.predict_proba``. Default: none.

    Returns
    -------
    label : callable
        From an iterator of record batches to one of the same with labels (and probabilities).

    Examples
    --------
    With a Spark data frame ``frame`` that has the columns x and y::

        label = label_batches(model, ["x", "y"])
        frame.mapInArrow(label, "x double, y double, label int")
        label = label_batches(model, ["x", "y"], probabilities="p")
        frame.mapInArrow(label, "x double, y double, label int, p array<double>")

    >>> import pyarrow
    >>> from eigencut import GPOD
    >>> model = GPOD(2).fit([[0.0], [0.1], [5.0], [5.1]])
    >>> batch = pyarrow.record_batch({"x": [0.05, 5.05]})
    >>> [labelled] = label_batches(model, ["x"])(iter([batch]))
    >>> labelled.schema.names, len(set(labelled["label"].to_pylist()))
    (['x', 'label'], 2)
    """
    names = getattr(model, "feature_names_in_", None)
    given = names if columns is None else columns
    features = [] if given is None else [str(feature) for feature in given]
    if len(features) != model.n_features_in_ or (names is not None and features != list(names)):
        expected = f"{model.n_features_in_} names" if names is None else ", ".join(names)
        raise ValueError(
            f"columns must be the features in the order of the fit ({expected}). "
            f"Got {columns!r}; pass their names."
        )
    single = copy(model)
    single.n_jobs = 1  # Spark runs several workers on a machine

    def label(batches: Iterator[Any]) -> Iterator[Any]:
        arrow = needed("pyarrow", "stream")
        for batch in batches:
            labels = np.empty(0, dtype=np.int32)
            found = np.empty((0, model.numbering_.n_given))
            if batch.num_rows:
                columns = [
                    batch.column(feature).to_numpy(zero_copy_only=False) for feature in features
                ]
                rows = checked_block(np.column_stack(columns))
                labels = single._labels(rows).astype(np.int32)
                if probabilities is not None:
                    found = single._probabilities(rows)
            batch = batch.append_column(name, arrow.array(labels, arrow.int32()))
            if probabilities is not None:
                lists = arrow.array(list(found), arrow.list_(arrow.float64()))
                batch = batch.append_column(probabilities, lists)
            yield batch

    return label
