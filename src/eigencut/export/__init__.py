"""Export models to ONNX (``to_onnx``), for services without Python; ``graph`` writes the nodes."""

from __future__ import annotations

import math
import os
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import EPS, SQUARABLE, TIE, Array
from eigencut._version import __version__
from eigencut.affinities import Gaussian, Landmarks, Neighbors, RankedNeighbors
from eigencut.affinities.landmarks import LEAST_WIDTH
from eigencut.exceptions import invalid
from eigencut.export.graph import OnnxGraph, Tensor, where
from eigencut.extension.eigenfunctions import SUPPORT, Algorithm1, CombinedFunctions
from eigencut.extension.labelling import NUDGE
from eigencut.fitted import FittedCut, FittedRelaxedCut
from eigencut.gpod import GPOD
from eigencut.io.atomic import check_replaceable, replacing
from eigencut.io.column_kinds import quoted
from eigencut.kernels.numpy_kernels import SLACK
from eigencut.model import check_model
from eigencut.neighbors.metrics import EARTH_RADIUS, FARTHEST, middle
from eigencut.neighbors.search import POLICY
from eigencut.tables.preparation import Preparation
from eigencut.tables.table_model import TableModel, table_model

__all__ = ["to_onnx"]

_METRICS = ("euclidean", "cosine", "haversine")
_NO_EDGE = -1e300  # the exponent of rows that share no edge
_LEAST_LOG, _LARGEST_LOG = -700.0, 690.0  # exp() of less is 0; of more, it overflows
_MOST_CLUSTERS = 1000  # of discrete cuts, which need an array (rows, neighbours, clusters)


def to_onnx(model: GPOD | TableModel, path: str | os.PathLike[str]) -> None:
    """Write a fitted model as an ONNX file, and check that onnxruntime agrees with it.

    The input ``X`` is a batch of any number of rows; for a ``TableModel``, its columns are in the
    order of ``columns_``. The outputs are ``labels`` (as ``predict`` returns them), ``embedding``
    (``transform``), ``support`` (``score_samples``) and ``probabilities`` (``predict_proba``). Some
    rows get the label -1 and NaN for the rest: those with infinity, with NaN that the model does
    not fill in, and those that the metric refuses (zeros with "cosine", no place with
    "haversine"). A batch of m rows needs a few arrays of m times the number of training rows.

    Parameters
    ----------
    model : fitted GPOD or TableModel
        Its affinity is ``Gaussian`` (with extension "consistent"), ``Neighbors`` of dense rows,
        ``Landmarks``, or ``RankedNeighbors`` (discrete cuts) with at most 1000 clusters; its
        metric is "euclidean", "cosine" or "haversine".
    path : path

    Notes
    -----
    The input and the weights are float64. With more than 8 columns, rounding can decide which of
    two equally distant training rows is nearer. Then support and probabilities can differ from the
    model's, but labels rarely do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import onnxruntime
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> model = GPOD(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     to_onnx(model, Path(folder, "moons.onnx"))
    ...     session = onnxruntime.InferenceSession(Path(folder, "moons.onnx"))
    >>> labels, embedding, support, probabilities = session.run(None, {"X": X})
    >>> bool((labels == model.labels_).all())
    True
    """
    gpod = check_model(model).one_cut()
    check_replaceable(path)
    graph = OnnxGraph()
    _refuse_what_onnx_cannot_say(gpod)
    table: Any = model if model.finds_columns else table_model(model)
    if not table.is_numeric:
        others = [c.name for c in table.summary().columns if c.kind != "numeric"]
        expected = "hold numbers for a model to be exported"
        remedy = "encode them before, or serve eigencut.load(path).predict(frame) in Python"
        raise invalid("Columns", expected, f"other kinds in {quoted(others)}", remedy)
    outputs = _outputs(graph, gpod, table.preparation_)
    properties = {"eigencut": __version__, "columns": "\n".join(table.columns_)}
    proto = graph.model(gpod.n_features_in_, outputs, properties)
    if proto.ByteSize() > 1_900_000_000:  # protobuf has a limit of 2 GB
        expected = "fit into an ONNX file of 2 GB"
        raise invalid("model", expected, f"{proto.ByteSize()} bytes", "fit it on fewer rows")
    content = proto.SerializeToString()
    _compare(content, table)
    with replacing(path) as file:
        file.write(content)


def _refuse_what_onnx_cannot_say(model: GPOD) -> None:
    if type(model.affinity_) not in _FUNCTIONS:
        expected = "be Gaussian, Neighbors, RankedNeighbors or Landmarks for a model to be exported"
        remedy = "fit with affinity='gaussian'"
        raise invalid("affinity", expected, type(model.affinity_).__name__, remedy)
    if model.affinity_.metric not in _METRICS:
        expected = f"be {' or '.join(map(repr, _METRICS))} for a model to be exported"
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
    if getattr(model.fitted_cut_, "prices", None) is not None:
        expected = "be left out for a model to be exported"
        remedy = "keep to Python, or fit without limits of sizes"
        raise invalid("min_cluster_size and max_cluster_size", expected, "a limit", remedy)
    functions = model.fitted_cut_.functions
    if isinstance(functions, CombinedFunctions) and functions.fixed is not None:
        expected = "be satisfied by the eigenfunctions, for a model to be exported"
        got = f"{len(functions.fixed.values)} must-link rows that are looked up by their digests"
        remedy = "drop pairs that are far apart, or fit with known labels instead"
        raise invalid("constraints", expected, got, remedy)
    if isinstance(functions, Algorithm1):
        expected = "be 'consistent' for a model to be exported"
        remedy = "fit with extension='consistent'"
        raise invalid("extension", expected, repr(model.extension), remedy)


def _outputs(
    graph: OnnxGraph, model: GPOD, preparation: Preparation
) -> dict[str, tuple[Tensor, list[Any]]]:
    """Add the model to the graph; return its outputs and their shapes, by name."""
    rows, is_complete = _prepared_rows(graph, model.affinity_.metric, preparation)
    U, support = _FUNCTIONS[type(model.affinity_)](model, rows)
    fitted, numbers, scores = model.fitted_cut_, model.numbering_, U
    is_relaxed = isinstance(fitted, FittedRelaxedCut)
    if is_relaxed:
        if isinstance(fitted.functions, CombinedFunctions):
            U = U @ fitted.functions.combination
        unit = _divided(U, abs(U).reduce("Max"))
        scores = _divided(unit, unit.reduce("L2")) @ fitted.rotation
    is_best = scores >= scores.reduce("Max") - TIE  # the label is the first of these
    labels = is_best.astype(np.int32).place("Max")
    of_scores = _probabilities if is_relaxed else _share_probabilities
    shares = of_scores(scores, labels, support, fitted)
    if not numbers.is_plain:  # an update can leave gaps between the numbers of clusters
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
    """Return the rows as the GPOD takes them, and which rows are complete and valid."""
    rows = graph.X
    if preparation.missing == "median":
        rows = where(np.isnan(rows), preparation.fill, rows)
    is_bad = np.isnan(rows - rows)  # x - x is NaN for NaN and infinity
    rows = where(is_bad, 0.0, rows)
    is_complete = is_bad.astype(np.float64).reduce("Sum") == 0.0
    most = float(np.finfo(np.float64).max)
    floor = preparation.floor
    if floor.any():  # as in ``tables.preparation.logged``
        safe, is_logged = np.where(floor > 0, floor, 1.0), (floor > 0).astype(np.float64)
        is_below, tangent = rows < safe, (rows - safe) / safe + np.log(safe)
        logs = where(is_below, tangent, np.log(where(is_below, safe, rows)))
        rows = logs * is_logged + rows * (1 - is_logged)
    rows = ((rows - preparation.shift) / preparation.scale).clip(-most, most)
    if metric == "cosine":
        is_complete = is_complete & (abs(rows).reduce("Max") > 0.0)
    elif metric == "haversine":
        latitude, longitude = (rows.take([place], axis=1) for place in (0, 1))
        is_place = (abs(latitude) <= 90.0) & (longitude >= -180.0) & (longitude <= 360.0)
        is_complete = is_complete & is_place
    return rows, is_complete


def _compare(content: bytes, model: TableModel) -> None:
    """Raise an error unless onnxruntime gives 2000 training rows the labels of the model."""
    affinity: Any = model.gpod.affinity_
    kept: Array = affinity.rows_ if hasattr(affinity, "rows_") else affinity.landmark_rows_
    rows = model.in_units(kept[:: -(-len(kept) // 2000)])
    labels = model.predict(rows)
    found = [run_onnx(content, rows, optimize=optimize)["labels"] for optimize in (True, False)]
    different = max(int((others != labels).sum()) for others in found)
    if different:
        raise ArithmeticError(
            f"The ONNX graph gave {different} of {len(rows)} training rows another label than the "
            "model; nothing was written. Please report it, with the model."
        )


def run_onnx(
    content: bytes | str | os.PathLike[str], X: Any, *, optimize: bool = True
) -> dict[str, Any]:
    """Return the outputs of an exported model (bytes or a path) for the rows X."""
    import onnxruntime

    source = content if isinstance(content, bytes) else os.fspath(content)
    options, levels = onnxruntime.SessionOptions(), onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if optimize else levels.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    return dict(zip(names, session.run(names, {"X": X}), strict=True))


def _divided(rows: Tensor, length: Tensor) -> Tensor:
    """Return rows divided by their length; rows of zeros stay zeros."""
    return rows / where(length > 0.0, length, 1.0)


def _points(metric: str, rows: Tensor) -> Tensor:
    """Return the points in space by which a metric compares rows; for invalid rows, any numbers."""
    if metric == "cosine":
        scaled = _divided(rows, abs(rows).reduce("Max"))
        length = np.sqrt(scaled.reduce("SumSquare"))
        return scaled / np.maximum(length, 1.0)  # at least 1, since the largest entry is 1
    if metric == "haversine":
        radians = rows * (math.pi / 180)
        phi, lam = (radians.take([place], axis=1) for place in (0, 1))
        around = np.cos(phi)
        places = [around * np.cos(lam), around * np.sin(lam), np.sin(phi)]
        return rows.graph.concatenate(places) * EARTH_RADIUS
    return rows


def _in_units(points: Tensor, exponent: int, farthest: float) -> Tensor:
    """Return points divided by 2 to the power of ``exponent``."""
    first = -exponent // 2  # in two steps: the whole factor may be out of the range of float64
    for power in (first, -exponent - first):
        points = points * math.ldexp(1.0, power)
    return points.clip(-farthest, farthest)


def _nearest_vertices(points: Tensor, vertices: Array, k: int) -> tuple[Tensor, Tensor]:
    """Return the indices of the k nearest vertices (ties by index), and squared distances."""
    centre = middle(vertices)  # products are most accurate around it
    moved = vertices - centre
    partial = (points - centre) @ (-2 * moved.T) + (moved**2).sum(axis=1)  # |y|^2 - 2 x y
    more = min(k + 8, len(vertices))
    near = partial.smallest(more)[1].smallest(more)[0]  # sorted by index
    squared = _squared_distances(points, vertices, near)
    place = np.sqrt(squared).smallest(k)[1]  # roots, as in the search: rounding makes more ties
    numbers, squared = (of.node("GatherElements", place, axis=1) for of in (near, squared))
    return numbers, squared


def _neighbors(affinity: Any, rows: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return points, the indices of their nearest vertices, and squared distances, as ``Index``."""
    graph, vertices, k = rows.graph, affinity._points, affinity.n_neighbors_
    points = _in_units(_points(affinity.metric, rows), affinity._space.exponent, FARTHEST)
    if affinity._space.axes is not None:
        points = points @ graph.constant(affinity._space.axes, np.float64)
    near, squared = _nearest_vertices(points, vertices, k)
    first = near.take([0], axis=1).squeeze()
    most = squared.take([k - 1], axis=1) * affinity._index.same_place**2
    is_vertex = squared.take([0], axis=1) <= most
    of_vertices = affinity._index.query(vertices, k)[1]
    points = where(is_vertex, graph.constant(vertices).take(first), points)
    near = where(is_vertex, graph.constant(of_vertices, np.int64).take(first), near)
    return points, near, _squared_distances(points, vertices, near)


def _squared_distances(points: Tensor, vertices: Array, numbers: Tensor) -> Tensor:
    """Return ONNX nodes for squared distances to vertices, summed as scipy's k-d tree does."""
    there = points.graph.constant(vertices).take(numbers)  # rows x edges x features
    difference = there - points.unsqueeze(1)
    d = vertices.shape[1]
    if d > POLICY.tree_features:
        return difference.reduce("SumSquare", axis=2, keepdims=0)
    squares = [(difference * difference).take([i], axis=2).squeeze(2) for i in range(d)]
    whole = d - d % 4
    sums = [reduce(add, squares[i:whole:4]) for i in range(min(4, whole))]
    return reduce(add, sums + squares[whole:])


def _eigenfunctions(
    model: GPOD,
    rows: Tensor,
    *,
    nearest: Tensor,
    near: Tensor | None,
    largest: Tensor,
    sums: Tensor,
    is_alone: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return ``u_k(x)`` (see ``eigencut.extension.eigenfunctions``), and the support, log d(x).

    ``sums`` are the sums of ``_columns_to_sum`` with weights divided by ``exp(largest)``. Rows
    without support get the values of the ``nearest`` training row.
    """
    graph, affinity, functions = rows.graph, model.affinity_, model.fitted_cut_.functions.base
    K, pairs = len(functions.pairs.values), functions.pairs
    degrees = sums.take([K], axis=1)
    average = sums.take(range(K), axis=1) / degrees
    support = largest + np.log(degrees)
    if near is not None:  # density contrast: d(x) times the density to the power of beta
        densities = graph.constant(affinity._contrast.densities).take(near)
        support = support + np.log(densities.reduce("Mean")) * affinity._contrast.beta
    if is_alone is not None:
        support = where(is_alone, -np.inf, support)
    log_degrees = np.maximum(support, _NO_EDGE)
    power = functions.cut.mass_power - 1  # m(x) / d(x) = d(x) ** power
    mass_per_degree = np.exp(np.minimum(log_degrees * power, _LARGEST_LOG))
    if not pairs.takes_part.all():
        of_small = sums.take([K + 1], axis=1) / degrees
        mass_per_degree = mass_per_degree * (1.0 - of_small)
    denominator = 1.0 - mass_per_degree * pairs.values
    is_supported = denominator.reduce("Min") > SUPPORT
    values = where(is_supported, average / np.maximum(denominator, SUPPORT), average)
    difference = rows - graph.constant(affinity.rows_).take(nearest)
    is_itself = difference.reduce("SumSquare") == 0.0
    is_vertex = (is_itself & ~is_supported) | (log_degrees < functions.least_log_degree)
    values = where(is_vertex, graph.constant(pairs.vectors).take(nearest), values)
    return values, support


def _columns_to_sum(model: GPOD) -> Array:
    """Return columns to sum over edges: eigenvectors, ones, and the marks of small components."""
    affinity, pairs = model.affinity_, model.fitted_cut_.functions.base.pairs
    weight = affinity.multiplicity_ / affinity.n_rows_
    if getattr(affinity, "_contrast", None) is not None:
        weight = weight * affinity._contrast.factors
    columns = np.column_stack([pairs.vectors, np.ones(len(weight)), ~pairs.takes_part])
    return np.asarray(columns * weight[:, np.newaxis])


def _gaussian_functions(model: GPOD, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the eigenfunctions of ``exp(-|x - x_j|^2 g(x) g(x_j))`` at rows, and their support."""
    affinity = model.affinity_
    widths = np.ldexp(affinity.local_sigma(affinity.rows_), -affinity._exponent)
    inverse_widths = 1 / (math.sqrt(2) * widths)
    centred = _points(affinity.metric, rows) - affinity._center
    u = _in_units(centred, affinity._exponent, min(math.sqrt(-_NO_EDGE), SQUARABLE[1]))
    points = affinity._to_units(affinity.rows_)
    if _is_product_accurate(model, points, inverse_widths):
        partial = u @ (-2 * points.T) + (points**2).sum(axis=1)  # |u_j|^2 - 2 u u_j
        squared = np.maximum(partial + u.reduce("SumSquare"), 0.0)
    else:
        differences = [u.take([i], axis=1) - column for i, column in enumerate(points.T)]
        partial = squared = reduce(add, (each * each for each in differences))
    nearest = partial.place("Min").squeeze()
    g: Any = inverse_widths[0]  # 1 / (sqrt(2) sigma(x)): a number, or below a column
    local = affinity._state().get("local")  # raises an error if sigma is a function
    if local is not None and len(inverse_widths) > 1:  # one training row has no distances
        closest = squared.smallest(min(local["k"], len(inverse_widths)))[0]
        width = np.sqrt(closest.reduce("Max")).clip(local["least"], local["most"]) * local["scale"]
        g = (1 / math.sqrt(2)) / width.clip(*SQUARABLE)
    exponents = np.maximum(squared * -inverse_widths * g, _NO_EDGE)
    largest = exponents.reduce("Max")
    weights = np.exp(np.maximum(exponents - largest, _LEAST_LOG))
    sums = weights @ _columns_to_sum(model)
    return _eigenfunctions(model, rows, nearest=nearest, near=None, largest=largest, sums=sums)


def _is_product_accurate(model: GPOD, points: Array, inverse_widths: Array) -> bool:
    """Return whether ``|x|^2 - 2xy + |y|^2`` is accurate enough for exponents and nearest rows."""
    functions, largest = model.fitted_cut_.functions.base, np.linalg.norm(points, axis=1).max()
    reach = (2 * largest * inverse_widths.max()) ** 2
    if not reach * EPS < 1e-11:  # the largest error of an exponent
        return False
    log_degrees = np.log(np.maximum(functions.degrees, np.finfo(np.float64).tiny))
    mass_per_degree = functions.cut.mass_per_degree(log_degrees) * functions.pairs.takes_part
    denominator = 1 - mass_per_degree[:, np.newaxis] * functions.pairs.values
    # Otherwise a row must be recognized as a training row, by a distance of exactly 0.
    return bool((denominator > SUPPORT).all())


def _neighbor_functions(model: GPOD, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the eigenfunctions of a graph of neighbours at rows, and the support of the rows."""
    graph, affinity, vertices = rows.graph, model.affinity_, model.affinity_._points
    points, near, squares = _neighbors(affinity, rows)
    of_near = np.sqrt(squares)
    radius, first = of_near.take([affinity.n_neighbors_ - 1], axis=1), near.take([0], axis=1)
    # Reverse neighbours: vertices whose neighbours include the nearest vertex of a row. They add
    # edges unless they are among the row's own neighbours.
    n_reverse = np.diff(affinity._reverse.indptr)
    padded = np.full((len(n_reverse), max(1, n_reverse.max())), -1)
    padded[np.arange(padded.shape[1]) < n_reverse[:, np.newaxis]] = affinity._reverse.indices
    reverse = graph.constant(padded, np.int64).take(first.squeeze())
    is_same = (reverse.unsqueeze(2) == near.unsqueeze(1)).astype(np.float64)
    is_other = (is_same.reduce("Sum", axis=2, keepdims=0) == 0.0) & (reverse >= [0])
    other = np.maximum(reverse, [0])
    of_other = where(is_other, np.sqrt(_squared_distances(points, vertices, other)), FARTHEST)
    numbers = graph.concatenate([near, other])
    share, exponent = _edges(affinity, graph.concatenate([of_near, of_other]), radius, numbers)
    largest = exponent.reduce("Max")
    is_alone = largest <= _NO_EDGE
    weights = share * np.exp(np.maximum(exponent - largest, _LEAST_LOG))
    # A row without edges gets the values of its nearest training row.
    weights = where(is_alone, (numbers == first).astype(np.float64), weights)
    columns = graph.constant(_columns_to_sum(model)).take(numbers)
    return _eigenfunctions(
        model,
        rows,
        nearest=first.squeeze(),
        near=None if affinity._contrast is None else near,
        largest=largest,
        sums=(weights.unsqueeze(1) @ columns).squeeze(),
        is_alone=is_alone,
    )


def _edges(
    affinity: Any, distances: Tensor, radius: Tensor, numbers: Tensor
) -> tuple[Tensor, Tensor]:
    """Return the share and the exponent of each edge, as ``EdgeWeight`` does."""
    weight, width = affinity._weight, affinity._width
    radii = distances.graph.constant(affinity.radii_).take(numbers)
    # Not r * SLACK: onnxruntime optimizes a factor so close to 1 away.
    is_near = (distances <= r + r * (SLACK - 1) for r in (radius, radii))
    of_row, of_vertex = (each.astype(np.float64) for each in is_near)
    share = of_row * of_vertex if weight.is_mutual else (of_row + of_vertex) * 0.5
    exponent = distances * 0.0
    if weight.width is not None:
        widths = [r.clip(width.least, width.most) * width.scale for r in (radius, radii)]
        exponent = (distances * distances * -0.5) / (widths[0] * widths[1])
    return share, where(share > 0.0, exponent, _NO_EDGE)


def _landmark_functions(model: GPOD, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return ``u(x) = z(x)^T c`` (z: weights of the r nearest landmarks), and the support."""
    graph, affinity, search = rows.graph, model.affinity_, model.affinity_._search
    points = _in_units(_points(affinity.metric, rows), search.space.exponent, FARTHEST)
    nearest, squared = _nearest_vertices(points, search.points, search.n_nearest)
    table = graph.constant(model.fitted_cut_.functions.base.eigenvectors()).take(nearest)
    excess = squared - squared.reduce("Min")
    if affinity.sigma != "auto":
        width: Any = affinity._sigma_in_units() ** 2
    else:
        width = farthest = squared.reduce("Max")
        if affinity.from_nearest:
            width = np.maximum(excess.reduce("Max"), farthest * LEAST_WIDTH)
        width = width * affinity.local_scale**2
    weights = np.exp(excess / np.maximum(width, np.finfo(np.float64).tiny) * -0.5)
    weights = weights / weights.reduce("Sum")
    values = (weights.unsqueeze(1) @ table).squeeze()  # rows x r x K
    first = nearest.node("GatherElements", squared.place("Min"), axis=1)
    spacing = graph.constant(affinity._spacing).take(first)
    # ``-1/2 (d_r(x) / d_r(y))^2``, where y is the nearest landmark
    support = squared.reduce("Max") / spacing * -0.5
    return values, support


def _ranked_shares(model: GPOD, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Return the shares h_k(x) of a discrete cut, by votes of the nearest rows, and the support."""
    graph, affinity, fitted = rows.graph, model.affinity_, model.fitted_cut_
    _, near, squared = _neighbors(affinity, rows)
    k, first = affinity.n_neighbors_, near.take([0], axis=1)
    votes = graph.constant(affinity.scaling_ * affinity.multiplicity_).take(near)
    votes = votes * (np.arange(1, k + 1) ** -0.5)
    clusters = graph.constant(fitted.voters, np.int64).take(near)
    numbers = graph.constant(np.arange(fitted.n_clusters)[np.newaxis, np.newaxis], np.int64)
    is_voted = (clusters.unsqueeze(2) == numbers).astype(np.float64)  # rows x k x K
    votes_of_vertices = getattr(fitted, "votes", None)
    if votes_of_vertices is not None:
        is_voted = graph.constant(votes_of_vertices).take(near)
    sums = (votes.unsqueeze(1) @ is_voted).squeeze()
    radius = graph.constant(affinity.support_radii()).take(first)
    support = (np.sqrt(squared.take([0], axis=1)) / radius).clip(0.0, 1e150)
    support = support * support * -0.5
    return sums / sums.reduce("Sum"), support


def _share_probabilities(
    shares: Tensor, labels: Tensor, support: Tensor, fitted: FittedCut
) -> Tensor:
    """Return the probabilities ``c h_k(x) + (1 - c) / K``, the first largest at the label."""
    K, graph = fitted.n_clusters, shares.graph
    certain = np.exp(np.minimum(support - fitted.least_support, 0.0))
    found = shares * certain + (1.0 - certain) * (1 / K)
    largest = shares.reduce("Max") * certain + (1.0 - certain) * (1 / K)
    numbers = graph.constant(np.arange(K)[np.newaxis], np.int64)
    # Not largest * (1 - NUDGE): onnxruntime optimizes a factor so close to 1 away.
    below = np.minimum(found, largest - largest * NUDGE)
    found = where(numbers < labels, below, where(numbers == labels, largest, found))
    return found / found.reduce("Sum")


def _probabilities(scores: Tensor, labels: Tensor, support: Tensor, fitted: FittedCut) -> Tensor:
    """Return the probabilities of clusters for each row, the first largest at the label."""
    clipped = scores.clip(0.0, 1.0)
    certain = np.exp(np.minimum(support - fitted.least_support, 0.0))
    logits = (clipped - clipped.reduce("Max")) * (certain / fitted.temperature)
    numbers = scores.graph.constant(np.arange(fitted.rotation.shape[1])[np.newaxis], np.int64)
    zero = scores.graph.constant(0.0)
    ceiling = where(numbers < labels, -NUDGE, zero)
    odds = np.exp(where(numbers == labels, zero, np.minimum(logits, ceiling)))
    return odds / odds.reduce("Sum")


# Functions that return eigenfunctions (or shares of clusters) at rows, and the support of rows.
# They subtract the largest exponent of each row before ``exp``, so that nothing underflows.
_FUNCTIONS: dict[type, Any] = {
    Gaussian: _gaussian_functions,
    Landmarks: _landmark_functions,
    Neighbors: _neighbor_functions,
    RankedNeighbors: _ranked_shares,
}
