"""Fit and predict on a Dask cluster, where each chunk of rows is processed where it is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.validation import needed
from eigencut.exceptions import invalid
from eigencut.integrations.partial_sums import FAN_IN, added_up, finished, on_one_thread, total_of
from eigencut.io.rows import Rows
from eigencut.model import check_model

Fitted = TypeVar("Fitted")


class DaskRows(Rows):
    """Rows of a dask array or data frame; ``reduce`` runs on the cluster.

    Parameters
    ----------
    X : dask array with two dimensions, or dask data frame
        Chunks may have any size, known or not.
    sample_weight : dask array or series, optional
        The weights of the rows, with the same chunks as X.
    """

    is_local = False

    def __init__(self, X: Any, sample_weight: Any = None) -> None:
        _check_rows(X, "GPOD.fit")
        names = [str(name) for name in X.columns] if hasattr(X, "columns") else None
        super().__init__(self._computed, names, weighted=sample_weight is not None)
        self._parts = _chunks(X)
        self._weights: list[Any] = [None] * len(self._parts)
        if sample_weight is not None:
            if not hasattr(sample_weight, "dask") or getattr(sample_weight, "ndim", 0) != 1:
                expected = "be a dask array with one dimension or a dask series"
                remedy = "use dask.array.from_array(weights, chunks=X.chunks[0])"
                raise invalid("sample_weight", expected, type(sample_weight).__name__, remedy)
            self._weights = list(np.ravel(sample_weight.to_delayed()))
        if len(self._weights) != len(self._parts):
            expected, got = f"come in the {len(self._parts)} chunks of X", len(self._weights)
            raise invalid("sample_weight", expected, got, "chunk both alike")
        self.n_features = int(X.shape[1]) if names is None else len(names)

    def _computed(self) -> Iterator[Any]:
        """Yield the chunks one after the other, for code that iterates over rows."""
        for part, weight in zip(self._parts, self._weights, strict=True):
            rows = part.compute()
            yield (rows, np.asarray(weight.compute())) if self.is_weighted else rows

    def reduce(self, part: Any, combine: Any, finish: Any = None) -> Any:
        delayed = needed("dask", "dask").delayed
        of_chunk, add_up = delayed(_of_chunk), delayed(added_up)
        part, combine = delayed(part), delayed(combine)  # so that they are sent only once
        pairs = zip(self._parts, self._weights, strict=True)
        totals = [of_chunk(*pair, part, combine, self.n_features) for pair in pairs]
        while len(totals) > 1:
            totals = [
                add_up(totals[start : start + FAN_IN], combine)
                for start in range(0, len(totals), FAN_IN)
            ]
        total, seen = delayed(finished)(totals[0], finish).compute()
        self._keep_seen(seen)
        return total


def fit(model: Fitted, X: Any, *, sample_weight: Any = None) -> Fitted:
    """Fit a GPOD on a dask array or data frame.

    Parameters
    ----------
    model : GPOD
        With ``affinity="landmarks"``, ``Landmarks(...)`` or "auto".
    X, sample_weight
        A dask array or data frame, and a weight for each row.

    Returns
    -------
    model : GPOD
        The same object, fitted.

    Examples
    --------
    >>> import dask.array
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import GPOD, Landmarks
    >>> X, _ = make_blobs(1000, centers=3, random_state=0)
    >>> model = fit(GPOD(3, affinity=Landmarks(50)), dask.array.from_array(X, chunks=(300, 2)))
    >>> predict(model, dask.array.from_array(X)).compute().shape
    (1000,)
    """
    return model.fit(DaskRows(X, sample_weight))  # type: ignore[attr-defined]


def predict(model: Any, X: Any) -> Any:
    """Return the labels of the rows of a dask array or data frame.

    Parameters
    ----------
    model : fitted GPOD
    X : dask array or data frame

    Returns
    -------
    labels : lazy dask array of shape (n_samples,)
    """
    return _map_rows(model, "predict", X, np.empty(0, dtype=np.intp))


def predict_proba(model: Any, X: Any) -> Any:
    """Return the probability of each cluster, for each row of a dask array or data frame.

    Parameters
    ----------
    model : fitted GPOD
    X : dask array or data frame

    Returns
    -------
    probabilities : lazy dask array of shape (n_samples, K)
        As in ``GPOD.predict_proba``.
    """
    n_numbers = check_model(model).one_cut().numbering_.n_given
    return _map_rows(model, "predict_proba", X, np.empty((0, n_numbers)))


def _check_rows(X: Any, in_memory: str) -> None:
    if not hasattr(X, "dask") or getattr(X, "ndim", 0) != 2:
        expected = "be a dask array with two dimensions or a dask data frame"
        remedy = f"use dask.array.from_array, or {in_memory} in memory"
        raise invalid("X", expected, type(X).__name__, remedy)


def _map_rows(model: Any, method: str, X: Any, empty: NDArray[Any]) -> Any:
    """Return a lazy array of a method's results for all chunks; ``empty`` is that for no rows."""
    _check_rows(X, f"GPOD.{method}")
    array, delayed = needed("dask.array", "dask"), needed("dask", "dask").delayed
    apply, sent = delayed(_apply), delayed(on_one_thread(check_model(model)))
    chunks = _chunks(X)
    lengths = [np.nan] * len(chunks) if hasattr(X, "columns") else X.chunks[0]
    parts = [
        array.from_delayed(
            apply(chunk, sent, method, empty), shape=(length, *empty.shape[1:]), dtype=empty.dtype
        )
        for chunk, length in zip(chunks, lengths, strict=True)
    ]
    return array.concatenate(parts, allow_unknown_chunksizes=True)


def _chunks(X: Any) -> list[Any]:
    """Return the blocks of rows of an array or frame, as delayed values; all have all columns."""
    whole = X if hasattr(X, "columns") or X.numblocks[1] == 1 else X.rechunk({1: -1})
    return list(np.ravel(whole.to_delayed()))


def _apply(part: Any, model: Any, method: str, empty: NDArray[Any]) -> NDArray[Any]:
    """Return the result of a model's method for one chunk, which may be empty."""
    return np.asarray(getattr(model, method)(part), empty.dtype) if len(part) else empty


def _of_chunk(chunk: Any, weight: Any, part: Any, combine: Any, n_features: int) -> Any:
    """Return the sum over the rows of one chunk; None if it has no rows."""
    values = np.asarray(chunk)
    if len(values) == 0:
        return None
    return total_of(Rows.from_array(values, sample_weight=weight), n_features, part, combine)
