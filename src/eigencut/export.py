"""Models for services without Python: ONNX graphs that give the same labels.

The graph computes, for every row x of a batch, what ``predict`` does: the columns' units, the
weights ``exp(-|x - x_j|^2 g(x) g(x_j))`` to the training rows x_j, the eigenfunctions from their
weighted averages, and the label by the fitted rotation. The largest exponent of a row is always
subtracted before ``exp``, so nothing underflows. Distances come from centred rows, by a matrix
product where that is accurate enough, and from differences otherwise.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from eigencut._version import __version__
from eigencut.affinity import Gaussian
from eigencut.affinity.bandwidth import WIDTHS
from eigencut.affinity.base import Array
from eigencut.atomic import replacing
from eigencut.discretization import TIE
from eigencut.estimator import GPOD
from eigencut.extension import SUPPORT, Eigenfunctions
from eigencut.notices import warn_user
from eigencut.onnx_graph import OnnxGraph, import_onnx
from eigencut.state import State
from eigencut.table_model import MISSING, TableModel
from eigencut.validation import check_choice

_FARTHEST = 1e140  # as in Gaussian
_LARGEST_MASS = 690.0  # log of m(x) / d(x), at most; as in RatioCut
_CHECKED_ROWS = 2000
_MOST_BYTES = 1_900_000_000  # protobuf ends at 2 GB


@dataclass(frozen=True)
class _Precision:
    """What a floating-point type can hold."""

    lowest_exponent: float  # exp() of less is nothing
    lowest_finite: float  # of an exponent before the largest is subtracted
    largest_log: float  # exp() of more overflows
    tie: float  # scores that differ by less are equal
    exponent_error: float  # of a matrix product, tolerated


PRECISIONS = {
    "float64": _Precision(-700.0, -1e300, _LARGEST_MASS, TIE, 1e-11),
    "float32": _Precision(-80.0, -1e37, 80.0, 1e-6, 1e-5),
}


def to_onnx(
    model: GPOD | TableModel, path: str | os.PathLike[str], *, dtype: str = "float64"
) -> None:
    """Write a fitted model as an ONNX graph, and check that onnxruntime agrees with it.

    The input ``X`` is a batch of any number of rows; of a ``TableModel``, its columns in the order
    of ``columns_``. The outputs are ``labels`` (as of ``predict``), ``embedding`` (``transform``)
    and ``support`` (``score_samples``). A row with NaN or infinity, where the model has no rule
    for missing values, gets the label -1 and NaN for the rest. A batch of m rows needs a few arrays
    of m times the number of training rows.

    Parameters
    ----------
    model : fitted GPOD or TableModel, with a Gaussian affinity and the consistent extension
    path : path
    dtype : {"float64", "float32"}, default="float64"
        Of the input and the weights. Labels equal the model's in float64; in float32, which is
        smaller and faster, rows between two clusters can get the other label.
    """
    check_choice("dtype", dtype, tuple(PRECISIONS))
    check_is_fitted(model)
    import_onnx()
    gpod = model.model_ if isinstance(model, TableModel) else model
    _refuse_what_onnx_cannot_say(gpod)
    graph = OnnxGraph(dtype)
    rows, is_complete = _prepared_rows(graph, model)
    outputs = _Prediction(graph, gpod, PRECISIONS[dtype]).outputs(rows, is_complete)
    columns = model.columns_ if isinstance(model, TableModel) else None
    proto = graph.model(
        n_columns=gpod.n_features_in_,
        outputs=outputs,
        n_clusters=gpod.n_clusters_,
        properties={"eigencut": __version__, "columns": "\n".join(columns or [])},
    )
    if proto.ByteSize() > _MOST_BYTES:
        raise ValueError(
            f"model must fit into an ONNX file of 2 GB. Got {proto.ByteSize()} bytes; "
            "fit it on fewer rows."
        )
    content = proto.SerializeToString()
    _compare(content, model, gpod, dtype)
    with replacing(path) as file:
        file.write(content)


def _refuse_what_onnx_cannot_say(model: GPOD) -> None:
    if not isinstance(model.affinity_, Gaussian):
        raise ValueError(
            "affinity must be Gaussian for a model to be exported. "
            f"Got {type(model.affinity_).__name__}; fit with affinity='gaussian'."
        )
    if type(model._eigenfunctions) is not Eigenfunctions:
        raise ValueError(
            "extension must be 'consistent' for a model to be exported. "
            f"Got {model.extension!r}; fit with extension='consistent'."
        )


def _prepared_rows(graph: OnnxGraph, model: GPOD | TableModel) -> tuple[str, str]:
    """The rows as the GPOD wants them, in float64, and whether each is complete and finite."""
    rows = graph("Cast", "X", to=graph.DOUBLE)
    if isinstance(model, TableModel) and MISSING[model.missing] is not None:
        rows = graph("Where", graph("IsNaN", rows), graph.double(model.fill_), rows)
    # A number minus itself is 0, and NaN if it is not a number, or infinite.
    is_bad = graph("IsNaN", graph("Sub", rows, rows))
    rows = graph("Where", is_bad, graph.double(0.0), rows)
    n_bad = graph.reduce("Sum", graph("Cast", is_bad, to=graph.DOUBLE))
    is_complete = graph("Equal", n_bad, graph.double(0.0))
    if isinstance(model, TableModel):
        rows = graph("Sub", rows, graph.double(model.shift_))
        rows = graph("Div", rows, graph.double(model.scale_))
        most = float(np.finfo(np.float64).max)
        rows = graph("Clip", rows, graph.double(-most), graph.double(most))
    return rows, is_complete


class _Prediction:
    """The nodes of one GPOD with a Gaussian affinity."""

    def __init__(self, graph: OnnxGraph, model: GPOD, precision: _Precision) -> None:
        self._graph = graph
        self._model = model
        self._precision = precision
        self._functions = model._eigenfunctions
        state = State(model.affinity_.state())
        n_rows = len(model.affinity_.multiplicity_)
        self._rows = state.array("rows", (n_rows, None))
        self._center = state.array("center", (None,))
        self._exponent = state.integer("exponent", -1100, 1100)
        self._local = state.part("local") if "local" in state else None
        widths = np.ldexp(model.affinity_.local_sigma(self._rows), -self._exponent)
        self._inverse_widths = 1 / (math.sqrt(2) * widths)
        self._points = np.ldexp(self._rows - self._center, -self._exponent)

    def outputs(self, rows: str, is_complete: str) -> dict[str, str]:
        """Names of the outputs, by what they are."""
        graph, model = self._graph, self._model
        squared, nearest = self._squared_distances(self._to_units(rows))
        average, support = self._weighted_averages(squared)
        U = self._eigenfunctions(average, support, rows, nearest)
        labels = self._labels(U)
        if model.outliers == "label":
            is_outlier = graph("Less", support, graph.number(model._least_support))
            labels = graph("Where", is_outlier, graph.integers([-1]), labels)
        nothing = graph.number(np.nan)
        labels = graph("Where", is_complete, labels, graph.integers([-1]))
        return {
            "labels": graph("Squeeze", labels, graph.integers([1])),
            "embedding": graph("Where", is_complete, U, nothing),
            "support": graph(
                "Squeeze", graph("Where", is_complete, support, nothing), graph.integers([1])
            ),
        }

    def _to_units(self, rows: str) -> str:
        """Centred, in units of the data; in float64, for this is where digits would be lost."""
        graph = self._graph
        # Two factors, for one power of two can be beyond float64.
        first = -self._exponent // 2
        moved = graph("Sub", rows, graph.double(self._center))
        for power in (first, -self._exponent - first):
            moved = graph("Mul", moved, graph.double(math.ldexp(1.0, power)))
        moved = graph("Clip", moved, graph.double(-_FARTHEST), graph.double(_FARTHEST))
        limit = math.sqrt(-self._precision.lowest_finite)
        moved = graph("Clip", moved, graph.double(-limit), graph.double(limit))
        return graph.cast(moved)

    def _squared_distances(self, u: str) -> tuple[str, str]:
        """``|u - u_j|^2`` to all training rows, and the number of the nearest of them."""
        graph = self._graph
        if self._is_product_accurate():
            norms = (self._points**2).sum(axis=1)
            product = graph("MatMul", u, graph.number(-2 * self._points.T))
            partial = graph("Add", product, graph.number(norms))  # |u_j|^2 - 2 u u_j
            own = graph.reduce("SumSquare", u)
            squared = graph("Max", graph("Add", partial, own), graph.number(0.0))
        else:
            squared = partial = self._by_differences(u)
        return squared, graph("ArgMin", partial, axis=1, keepdims=0)

    def _by_differences(self, u: str) -> str:
        graph, total = self._graph, ""
        for i, column in enumerate(self._points.T):
            difference = graph(
                "Sub", graph("Gather", u, graph.integers([i]), axis=1), graph.number(column)
            )
            square = graph("Mul", difference, difference)
            total = graph("Add", total, square) if total else square
        return total

    def _is_product_accurate(self) -> bool:
        """Whether ``|x|^2 - 2xy + |y|^2`` gives exponents and nearest rows without harm.

        Training rows without support are recognized by being at distance zero, which needs
        differences.
        """
        functions, largest = self._functions, np.linalg.norm(self._points, axis=1).max()
        reach = (2 * largest * self._inverse_widths.max()) ** 2
        epsilon = np.finfo(self._graph.dtype).eps
        if not reach * epsilon < self._precision.exponent_error:
            return False
        log_degrees = np.log(np.maximum(functions.degrees, np.finfo(np.float64).tiny))
        share = functions.cut.mass_per_degree(log_degrees)[:, np.newaxis] * functions.pairs.values
        return bool((1 - share > SUPPORT).all())

    def _weighted_averages(self, squared: str) -> tuple[str, str]:
        """``sum_j W(x, x_j) u[j] / d(x)``, and the support log d(x)."""
        graph, affinity, limits = self._graph, self._model.affinity_, self._precision
        exponents = graph("Mul", squared, graph.number(-self._inverse_widths))
        exponents = graph("Mul", exponents, self._inverse_width(squared))
        exponents = graph("Max", exponents, graph.number(limits.lowest_finite))
        largest = graph.reduce("Max", exponents)
        relative = graph("Sub", exponents, largest)
        relative = graph("Max", relative, graph.number(limits.lowest_exponent))
        U = self._functions.pairs.vectors
        share = affinity.multiplicity_[:, np.newaxis] / affinity.n_rows_
        weights = graph("Exp", relative)
        degrees = graph("MatMul", weights, graph.number(share))
        average = graph("Div", graph("MatMul", weights, graph.number(U * share)), degrees)
        return average, graph("Add", largest, graph("Log", degrees))

    def _inverse_width(self, squared: str) -> str:
        """g(x) = 1 / (sqrt(2) sigma(x)), a column; one number where sigma is one."""
        graph = self._graph
        if self._local is None:
            return graph.number(self._inverse_widths[0])
        if len(self._rows) == 1:  # no distance to learn a scale from
            return graph.number(self._inverse_widths[0])
        k = min(self._local.integer("k", 2), len(self._rows))
        closest, _ = graph.several(
            2, "TopK", squared, graph.integers([k]), axis=1, largest=0, sorted=0
        )
        distance = graph("Sqrt", graph.reduce("Max", closest))
        least, most = self._local.number("least"), self._local.number("most")
        within = graph("Clip", distance, graph.number(least), graph.number(most))
        width = graph("Mul", within, graph.number(self._local.number("scale")))
        lowest, highest = (float(np.clip(limit, 1e-37, 1e37)) for limit in WIDTHS)
        if graph.dtype == np.float64:
            lowest, highest = WIDTHS
        width = graph("Clip", width, graph.number(lowest), graph.number(highest))
        return graph("Div", graph.number(1 / math.sqrt(2)), width)

    def _eigenfunctions(self, average: str, support: str, rows: str, nearest: str) -> str:
        """``u_k(x)``; see ``eigencut.extension`` for rows without support."""
        graph, functions = self._graph, self._functions
        power = functions.cut.mass_power - 1  # m(x) / d(x) = d(x) ** power
        exponent = graph("Mul", support, graph.number(power))
        exponent = graph("Min", exponent, graph.number(self._precision.largest_log))
        scaled = graph("Mul", graph("Exp", exponent), graph.number(functions.pairs.values))
        denominator = graph("Sub", graph.number(1.0), scaled)
        least = graph.number(SUPPORT)
        is_supported = graph("Greater", graph.reduce("Min", denominator), least)
        consistent = graph("Div", average, graph("Max", denominator, least))
        values = graph("Where", is_supported, consistent, average)
        apart = graph.reduce(
            "SumSquare", graph("Sub", rows, graph("Gather", graph.double(self._rows), nearest))
        )
        is_itself = graph("Equal", apart, graph.double(0.0))
        is_alone = graph("Less", support, graph.number(functions.least_log_degree))
        is_vertex = graph("Or", graph("And", is_itself, graph("Not", is_supported)), is_alone)
        at_vertex = graph("Gather", graph.number(functions.pairs.vectors), nearest)
        return graph("Where", is_vertex, at_vertex, values)

    def _labels(self, U: str) -> str:
        """The best column of the rotated row of unit length; the first of equal ones."""
        graph = self._graph
        unit = self._divided(U, graph.reduce("Max", graph("Abs", U)))
        unit = self._divided(unit, graph.reduce("L2", unit))
        scores = graph("MatMul", unit, graph.number(self._model._rotation_of_extension))
        best = graph("Sub", graph.reduce("Max", scores), graph.number(self._precision.tie))
        is_best = graph("Cast", graph("GreaterOrEqual", scores, best), to=graph.INT32)
        return graph("ArgMax", is_best, axis=1, keepdims=1)

    def _divided(self, U: str, length: str) -> str:
        """Rows divided by their length; rows of zeros stay."""
        graph = self._graph
        is_positive = graph("Greater", length, graph.number(0.0))
        return graph("Div", U, graph("Where", is_positive, length, graph.number(1.0)))


def _compare(content: bytes, model: GPOD | TableModel, gpod: GPOD, dtype: str) -> None:
    """onnxruntime and the model on training rows: equal labels, or an error."""
    rows: Array = gpod.affinity_.rows_
    rows = rows[:: -(-len(rows) // _CHECKED_ROWS)]
    if isinstance(model, TableModel):
        rows = rows * model.scale_ + model.shift_
    rows = rows.astype(dtype)
    found = run_onnx(content, rows)["labels"]
    different = int((found != model.predict(rows.astype(np.float64))).sum())
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
    """Run an exported model on rows in onnxruntime; its outputs by name."""
    import onnxruntime

    source = content if isinstance(content, bytes) else os.fspath(content)
    session = onnxruntime.InferenceSession(source, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))
