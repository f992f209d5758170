"""Models for services without Python: ONNX graphs that give the same labels.

A graph takes rows through what ``predict`` does: the columns' units (of a ``TableModel``), the
eigenfunctions (``eigenfunctions.py``) and the label by the fitted rotation; or, of a discrete cut,
the shares of clusters and the largest of them.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import Array
from eigencut._utils.running import warn_user
from eigencut._utils.validation import check_choice
from eigencut._version import __version__
from eigencut.affinities import Gaussian, Landmarks, Neighbors, RankedNeighbors
from eigencut.discretization import TIE
from eigencut.exceptions import invalid
from eigencut.export.eigenfunctions import (
    EXPORTED,
    divided,
    gaussian_functions,
    has_point,
    landmark_functions,
    neighbor_functions,
    probabilities,
    ranked_shares,
    share_probabilities,
)
from eigencut.export.graph import PRECISIONS, OnnxGraph, Tensor, where
from eigencut.extension.eigenfunctions import Algorithm1, CombinedFunctions
from eigencut.fitted import FittedRelaxedCut
from eigencut.gpod import GPOD
from eigencut.io.atomic import check_replaceable, replacing
from eigencut.io.column_kinds import quoted
from eigencut.model import check_model
from eigencut.tables.preparation import Preparation
from eigencut.tables.table_model import TableModel, table_model

__all__ = ["run_onnx", "to_onnx"]

# How the eigenfunctions are written, by the affinity.
_FUNCTIONS: dict[type, Any] = {
    Gaussian: gaussian_functions,
    Landmarks: landmark_functions,
    Neighbors: neighbor_functions,
    RankedNeighbors: ranked_shares,
}
_MOST_CLUSTERS = 1000  # of votes, which are an array of rows times neighbours times clusters


def to_onnx(
    model: GPOD | TableModel, path: str | os.PathLike[str], *, dtype: str = "float64"
) -> None:
    """Write a fitted model as an ONNX graph, and check that onnxruntime agrees with it.

    The input ``X`` is a batch of any number of rows; of a ``TableModel``, its columns in the order
    of ``columns_``. The outputs are ``labels`` (as of ``predict``), ``embedding`` (``transform``),
    ``support`` (``score_samples``) and ``probabilities`` (``predict_proba``). A row with NaN or
    infinity, where the model has no rule for missing values, gets the label -1 and NaN for the
    rest; and so does one that the metric refuses (zeros with "cosine", no place with "haversine").
    A batch of m rows needs a few arrays of m times the number of training rows.

    Parameters
    ----------
    model : fitted GPOD or TableModel
        With a Gaussian affinity (and the consistent extension), a graph of neighbours of dense
        rows, or landmarks; by ``metric`` "euclidean", "cosine" or "haversine". Of discrete cuts,
        those of ``RankedNeighbors`` with at most 1000 clusters.
    path : path
    dtype : {"float64", "float32"}, default="float64"
        Of the input and the weights. Labels equal the model's in float64; in float32, which is
        smaller and faster, rows between two clusters can get the other label. Where distances to
        two training rows differ by rounding alone, either is taken for the nearer one.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> model = GPOD(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_onnx(model, Path(folder, "moons.onnx"))
    ...     outputs = run_onnx(Path(folder, "moons.onnx"), X)
    >>> bool((outputs["labels"] == model.labels_).all())
    True
    """
    check_choice("dtype", dtype, tuple(PRECISIONS))
    gpod = check_model(model).one_cut()
    check_replaceable(path)
    graph = OnnxGraph(dtype)
    _refuse_what_onnx_cannot_say(gpod)
    table = table_model(gpod) if model is gpod else model
    if not table.is_numeric:
        others = [c.name for c in table.summary().columns if c.kind != "numeric"]
        expected = "hold numbers for a model to be exported"
        remedy = "encode them before, or keep to Python"
        raise invalid("Columns", expected, f"other kinds in {quoted(others)}", remedy)
    outputs = _outputs(graph, gpod, table.preparation_)
    properties = {"eigencut": __version__, "columns": "\n".join(table.columns_)}
    proto = graph.model(gpod.n_features_in_, outputs, properties)
    if proto.ByteSize() > 1_900_000_000:  # protobuf ends at 2 GB
        expected = "fit into an ONNX file of 2 GB"
        raise invalid("model", expected, f"{proto.ByteSize()} bytes", "fit it on fewer rows")
    content = proto.SerializeToString()
    _compare(content, table, dtype)
    with replacing(path) as file:
        file.write(content)


def _refuse_what_onnx_cannot_say(model: GPOD) -> None:
    if type(model.affinity_) not in _FUNCTIONS:
        expected = "be Gaussian, Neighbors, RankedNeighbors or Landmarks for a model to be exported"
        remedy = "fit with affinity='gaussian'"
        raise invalid("affinity", expected, type(model.affinity_).__name__, remedy)
    if model.affinity_.metric not in EXPORTED:
        expected = f"be {' or '.join(map(repr, EXPORTED))} for a model to be exported"
        remedy = "fit with metric='euclidean'"
        raise invalid("metric", expected, repr(model.affinity_.metric), remedy)
    kept = (getattr(model.affinity_, name, None) for name in ("rows_", "landmarks_"))
    if any(map(issparse, kept)):
        expected = "be of dense rows to be exported"
        raise invalid("A model", expected, "one of sparse rows", "fit on X.toarray()")
    if isinstance(model.affinity_, RankedNeighbors):
        if model.n_clusters_ > _MOST_CLUSTERS:
            expected = f"have at most {_MOST_CLUSTERS} clusters to be exported"
            raise invalid("model", expected, model.n_clusters_, "keep to Python, or fit fewer")
        return
    functions = model.fitted_cut_.functions
    if isinstance(functions, CombinedFunctions) and functions.fixed is not None:
        expected = "be ones that the functions of the cut satisfy, for a model to be exported"
        got = f"{len(functions.fixed.values)} must-link rows that only their digests put together"
        remedy = "drop pairs that are far apart, or fit with known labels instead"
        raise invalid("constraints", expected, got, remedy)
    if isinstance(functions, Algorithm1):
        expected = "be 'consistent' for a model to be exported"
        remedy = "fit with extension='consistent'"
        raise invalid("extension", expected, repr(model.extension), remedy)


def _outputs(
    graph: OnnxGraph, model: GPOD, preparation: Preparation
) -> dict[str, tuple[Tensor, list[Any]]]:
    """Return the outputs and their shapes, by name."""
    rows, is_complete = _prepared_rows(graph, model.affinity_.metric, preparation)
    U, support = _FUNCTIONS[type(model.affinity_)](model, rows)
    fitted, numbers, scores = model.fitted_cut_, model.numbering_, U
    is_relaxed = isinstance(fitted, FittedRelaxedCut)
    if is_relaxed:
        if isinstance(fitted.functions, CombinedFunctions):
            U = U @ fitted.functions.combination
        unit = divided(U, abs(U).reduce("Max"))
        scores = divided(unit, unit.reduce("L2")) @ fitted.rotation
    is_best = scores >= scores.reduce("Max") - graph.precision.tie  # the first of equal ones
    labels = is_best.astype(np.int32).place("Max")
    of_scores = probabilities if is_relaxed else share_probabilities
    shares = of_scores(scores, labels, support, fitted)
    if not numbers.is_plain:  # clusters of an updated model, whose numbers can have gaps
        labels = graph.constant(numbers.numbers, np.int64).take(labels)
        shares = shares @ numbers.of_columns(np.eye(len(numbers.numbers)))
    if model.outliers == "label":
        labels = where(support < fitted.least_support - TIE, [-1], labels)
    return {
        "labels": (where(is_complete, labels, [-1]).squeeze(), ["n"]),
        "embedding": (where(is_complete, U, np.nan), ["n", model.n_clusters_]),
        "support": (where(is_complete, support, np.nan).squeeze(), ["n"]),
        "probabilities": (where(is_complete, shares, np.nan), ["n", numbers.n_given]),
    }


def _prepared_rows(
    graph: OnnxGraph, metric: str, preparation: Preparation
) -> tuple[Tensor, Tensor]:
    """Return the rows as the GPOD takes them, in float64, and whether it has an answer for each."""
    rows = graph.X.astype(np.float64)
    if preparation.fills:
        rows = where(np.isnan(rows), preparation.fill, rows)
    is_bad = np.isnan(rows - rows)  # which is 0 for a number, and NaN for NaN and infinity
    rows = where(is_bad, 0.0, rows)
    is_complete = is_bad.astype(np.float64).reduce("Sum") == 0.0
    most = float(np.finfo(np.float64).max)
    rows = _logged(rows, preparation.floor)
    rows = ((rows - preparation.shift) / preparation.scale).clip(-most, most)
    is_point = has_point(metric, rows)
    return rows, is_complete if is_point is None else is_complete & is_point


def _logged(rows: Tensor, floor: Array) -> Tensor:
    """Return what ``tables.preparation.logged`` does."""
    if not floor.any():
        return rows
    safe, is_logged = np.where(floor > 0, floor, 1.0), (floor > 0).astype(np.float64)
    is_below = rows < safe
    logs = where(is_below, (rows - safe) / safe + np.log(safe), np.log(where(is_below, safe, rows)))
    return logs * is_logged + rows * (1 - is_logged)


def _compare(content: bytes, model: TableModel, dtype: str) -> None:
    """Compare labels of 2000 training rows by onnxruntime, optimized or not, with the model's."""
    affinity: Any = model.gpod.affinity_
    kept: Array = affinity.rows_ if hasattr(affinity, "rows_") else affinity.landmark_rows_
    rows = model.in_units(kept[:: -(-len(kept) // 2000)]).astype(dtype)
    labels = model.predict(rows.astype(np.float64))
    found = [_run(content, rows, optimize)["labels"] for optimize in (True, False)]
    different = max(int((others != labels).sum()) for others in found)
    if different and dtype == "float64":
        raise ArithmeticError(
            f"The ONNX graph gave {different} of {len(rows)} training rows another label than the "
            "model; nothing was written. Please report it, with the model."
        )
    if different:
        warn_user(
            f"In {dtype} the ONNX graph gives {different} of {len(rows)} training rows another "
            "label than the model. Use dtype='float64'."
        )


def run_onnx(content: bytes | str | os.PathLike[str], X: Any) -> dict[str, Any]:
    """Run an exported model on rows in onnxruntime.

    Parameters
    ----------
    content : bytes or path
        Of the model.
    X : array of shape (n_samples, n_features)
        Of the type that the model was exported with.

    Returns
    -------
    outputs : dict of str to array
        ``labels``, ``embedding``, ``support`` and ``probabilities``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_onnx(GPOD(2).fit(X), Path(folder, "moons.onnx"))
    ...     sorted(run_onnx(Path(folder, "moons.onnx"), X[:5]))
    ['embedding', 'labels', 'probabilities', 'support']
    """
    return _run(content, X, optimize=True)


def _run(content: bytes | str | os.PathLike[str], X: Any, optimize: bool) -> dict[str, Any]:
    import onnxruntime

    source = content if isinstance(content, bytes) else os.fspath(content)
    options, levels = onnxruntime.SessionOptions(), onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimize else levels.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))
