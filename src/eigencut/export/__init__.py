"""Models for services without Python: ONNX graphs that give the same labels.

A graph takes rows through what ``predict`` does: the columns' units (of a ``TableModel``), the
eigenfunctions (``gaussian.py``, ``landmarks.py``), and the label by the fitted rotation.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import Array
from eigencut._utils.validation import check_choice
from eigencut._utils.warn import warn_user
from eigencut._version import __version__
from eigencut.affinities import Gaussian, Landmarks, Neighbors
from eigencut.discretization import TIE
from eigencut.exceptions import invalid
from eigencut.export.gaussian import GaussianNodes
from eigencut.export.graph import (
    EXPORTED,
    PRECISIONS,
    OnnxGraph,
    has_point_nodes,
    import_onnx,
    probability_nodes,
)
from eigencut.export.neighbors import LandmarkNodes, NeighborNodes
from eigencut.extension.eigenfunctions import Algorithm1, CombinedFunctions
from eigencut.gpod import GPOD
from eigencut.io.atomic import check_replaceable, replacing
from eigencut.io.column_kinds import quoted
from eigencut.model import check_model
from eigencut.tables.preparation import Preparation
from eigencut.tables.table_model import TableModel, table_model

__all__ = ["run_onnx", "to_onnx"]

# How the eigenfunctions are written, by the affinity.
_FUNCTIONS: dict[type, Any] = {
    Gaussian: GaussianNodes,
    Landmarks: LandmarkNodes,
    Neighbors: NeighborNodes,
}


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
        rows, or landmarks; by ``metric`` "euclidean", "cosine" or "haversine".
    path : path
    dtype : {"float64", "float32"}, default="float64"
        Of the input and the weights. Labels equal the model's in float64; in float32, which is
        smaller and faster, rows between two clusters can get the other label.

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
    import_onnx()
    _refuse_what_onnx_cannot_say(gpod)
    table = table_model(gpod) if model is gpod else model
    if not table.is_numeric:
        others = [c.name for c in table.summary().columns if c.kind != "numeric"]
        expected = "hold numbers for a model to be exported"
        remedy = "encode them before, or keep to Python"
        raise invalid("Columns", expected, f"other kinds in {quoted(others)}", remedy)
    graph = OnnxGraph(dtype)
    rows, is_complete = _prepared_rows(graph, table.preparation_)
    outputs = _outputs(graph, gpod, rows, is_complete)
    proto = graph.model(
        n_columns=gpod.n_features_in_,
        outputs=outputs,
        n_clusters=gpod.n_clusters_,
        n_numbers=gpod.numbering_.n_given,
        properties={"eigencut": __version__, "columns": "\n".join(table.columns_)},
    )
    if proto.ByteSize() > 1_900_000_000:  # protobuf ends at 2 GB
        expected = "fit into an ONNX file of 2 GB"
        raise invalid("model", expected, f"{proto.ByteSize()} bytes", "fit it on fewer rows")
    content = proto.SerializeToString()
    _compare(content, table, dtype)
    with replacing(path) as file:
        file.write(content)


def _refuse_what_onnx_cannot_say(model: GPOD) -> None:
    if type(model.affinity_) not in _FUNCTIONS:
        expected = "be Gaussian, Neighbors or Landmarks for a model to be exported"
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
    functions = model.fitted_cut_.functions
    if isinstance(functions, CombinedFunctions) and functions.fixed is not None:
        raise invalid(
            "constraints",
            "be ones that the functions of the cut satisfy, for a model to be exported",
            f"{len(functions.fixed.values)} must-link rows that only their digests put together",
            "drop pairs that are far apart, or fit with known labels instead",
        )
    if isinstance(functions, Algorithm1):
        expected = "be 'consistent' for a model to be exported"
        remedy = "fit with extension='consistent'"
        raise invalid("extension", expected, repr(model.extension), remedy)


def _prepared_rows(graph: OnnxGraph, preparation: Preparation) -> tuple[str, str]:
    """The rows as the GPOD wants them, in float64, and whether each is complete and finite."""
    rows = graph("Cast", "X", to=graph.DOUBLE)
    if preparation.fills:
        rows = graph("Where", graph("IsNaN", rows), graph.double(preparation.fill), rows)
    # A number minus itself is 0, and NaN if it is not a number, or infinite.
    is_bad = graph("IsNaN", graph("Sub", rows, rows))
    rows = graph("Where", is_bad, graph.double(0.0), rows)
    n_bad = graph.reduce("Sum", graph("Cast", is_bad, to=graph.DOUBLE))
    is_complete = graph("Equal", n_bad, graph.double(0.0))
    rows = graph("Sub", rows, graph.double(preparation.shift))
    rows = graph("Div", rows, graph.double(preparation.scale))
    most = float(np.finfo(np.float64).max)
    return graph("Clip", rows, graph.double(-most), graph.double(most)), is_complete


def _outputs(graph: OnnxGraph, model: GPOD, rows: str, is_complete: str) -> dict[str, str]:
    """Names of the outputs, by what they are."""
    has_point = has_point_nodes(graph, model.affinity_.metric, rows)
    if has_point is not None:
        is_complete = graph("And", is_complete, has_point)
    functions = _FUNCTIONS[type(model.affinity_)](graph, model)
    U, support = functions(rows)
    fitted = model.fitted_cut_
    if isinstance(fitted.functions, CombinedFunctions):
        U = graph("MatMul", U, graph.number(fitted.functions.combination))
    unit = _divided(graph, U, graph.reduce("Max", graph("Abs", U)))
    unit = _divided(graph, unit, graph.reduce("L2", unit))
    scores = graph("MatMul", unit, graph.number(fitted.rotation))
    labels = _labels(graph, scores)
    probabilities = probability_nodes(graph, scores, labels, support, fitted)
    numbers = model.numbering_
    if not numbers.is_plain:  # clusters of an updated model, whose numbers can have gaps
        labels = graph("Gather", graph.integers(numbers.numbers), labels)
        columns_of = numbers.of_columns(np.eye(len(numbers.numbers)))
        probabilities = graph("MatMul", probabilities, graph.number(columns_of))
    if model.outliers == "label":
        is_outlier = graph("Less", support, graph.number(fitted.least_support - TIE))
        labels = graph("Where", is_outlier, graph.integers([-1]), labels)
    labels = graph("Where", is_complete, labels, graph.integers([-1]))
    nothing, columns = graph.number(np.nan), graph.integers([1])
    support = graph("Where", is_complete, support, nothing)
    return {
        "labels": graph("Squeeze", labels, columns),
        "embedding": graph("Where", is_complete, U, nothing),
        "support": graph("Squeeze", support, columns),
        "probabilities": graph("Where", is_complete, probabilities, nothing),
    }


def _labels(graph: OnnxGraph, scores: str) -> str:
    """The best column; the first of equal ones."""
    best = graph("Sub", graph.reduce("Max", scores), graph.number(graph.precision.tie))
    is_best = graph("Cast", graph("GreaterOrEqual", scores, best), to=graph.INT32)
    return graph("ArgMax", is_best, axis=1, keepdims=1)


def _divided(graph: OnnxGraph, U: str, length: str) -> str:
    """Rows divided by their length; rows of zeros stay."""
    is_positive = graph("Greater", length, graph.number(0.0))
    return graph("Div", U, graph("Where", is_positive, length, graph.number(1.0)))


def _compare(content: bytes, model: TableModel, dtype: str) -> None:
    """onnxruntime and the model on training rows, 2000 at most: equal labels, or an error."""
    affinity: Any = model.gpod.affinity_
    rows: Array = affinity.rows_ if hasattr(affinity, "rows_") else affinity.landmark_rows_
    rows = rows[:: -(-len(rows) // 2000)]
    rows = model.in_units(rows).astype(dtype)
    labels = run_onnx(content, rows)["labels"]
    different = int((labels != model.predict(rows.astype(np.float64))).sum())
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
    import onnxruntime

    source = content if isinstance(content, bytes) else os.fspath(content)
    session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))
