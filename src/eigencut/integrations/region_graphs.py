"""Normalized cuts of scikit-image's region adjacency graphs; reached as ``eigencut.image``.

The rule is Shi and Malik's, as ``skimage.graph.cut_normalized`` has it: a graph is cut in two by
the second eigenvector of ``D^-1/2 (D - W) D^-1/2``, each part is cut again, and a part stays as it
is where the best of its cuts is not below a threshold. Neither networkx nor scikit-image is
imported: a graph has nodes with labels and edges with weights.
"""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array, eye_array
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import check_count, check_magnitude, shown
from eigencut.cut import CUTS
from eigencut.graphs.sparse import SparseGraph
from eigencut.solvers.relaxed_cut import eigenpairs
from eigencut.solvers.sparse import Inverse

_FEWEST = 3  # regions that an eigenvector cuts: scikit-image leaves two as they are
_LARGE = 300  # vertices from which factors are quicker than LAPACK
_WEAK = 1e-3  # of the threshold: what an edge has at least, relative to sqrt(d_i d_j)
_SHIFT = 1e-9  # of eigenvalues, before the inverse: NCuts that matter are larger
_TOLERANCE = 1e-6  # of the vector, relative
_RESTARTS = 30  # after which the general solver takes over


def cut_normalized(
    labels: Any,
    rag: Any,
    thresh: float = 0.001,
    num_cuts: int = 10,
    in_place: bool = True,
    max_edge: float = 1.0,
    *,
    rng: Any = None,
) -> NDArray[Any]:
    """Cut a region adjacency graph in two, and its parts, until no cut is below a threshold.

    In place of ``skimage.graph.cut_normalized``: the same arguments, rule and result, with nothing
    left to chance.

    Parameters
    ----------
    labels : array of int
        The region of each pixel.
    rag : networkx.Graph
        Of similarities, as by ``skimage.graph.rag_mean_color(image, labels, mode="similarity")``.
        Each node has the attribute "labels", a list.
    thresh : float, default=0.001
        A part is divided if the NCut of that is below.
    num_cuts : int, default=10
        So many evenly spaced values of the eigenvector are tried, from its least on; the largest,
        which is where they begin if the eigenvector has the other sign, is tried too.
    in_place : bool, default=True
        Whether nodes get the attribute "ncut label", and an edge to themselves.
    max_edge : float, default=1.0
        The weight of a region to itself.
    rng : None, int or numpy.random.Generator
        Without effect: nothing here is random.

    Returns
    -------
    labels : array of int
        Of the shape and type of ``labels``: each part has a label of one of its regions. Labels
        without a node become 0.

    Notes
    -----
    Regions without a path between them always come apart, for the NCut of that is 0. scikit-image
    leaves two such regions in one part, or several that have no edges at all.

    References
    ----------
    .. [1] J. Shi, J. Malik, "Normalized Cuts and Image Segmentation", IEEE Transactions on Pattern
       Analysis and Machine Intelligence 22(8), 2000.

    Examples
    --------
    With a photograph::

        labels = skimage.segmentation.slic(image, n_segments=400, start_label=0)
        rag = skimage.graph.rag_mean_color(image, labels, mode="similarity")
        parts = eigencut.image.cut_normalized(labels, rag)
    """
    _check_parameters(thresh, num_cuts)
    max_edge = check_magnitude("max_edge", max_edge, "use the weight of identical regions, 1.0")
    nodes = list(rag.nodes())
    of_node = _labels_of_nodes(rag, nodes)
    labels = _checked(labels, of_node)
    parts = _parts(_weights(rag, nodes, max_edge), thresh, num_cuts)
    new = np.zeros(int(labels.max()) + 1, dtype=labels.dtype)
    for part in parts:
        first = min(part, key=lambda vertex: nodes[vertex])
        for vertex in part:
            new[of_node[vertex]] = of_node[first][0]
    if in_place:
        for node, its_labels in zip(nodes, of_node, strict=True):
            rag.add_edge(node, node, weight=max_edge)
            rag.nodes[node]["ncut label"] = new[its_labels[0]]
    return np.asarray(new[labels])


def _parts(weights: Any, thresh: float, num_cuts: int) -> list[Indices]:
    """The vertices of each part that no cut below the threshold divides."""
    whole, waiting = [], [np.arange(weights.shape[0])]
    while waiting:
        part = waiting.pop()
        graph = SparseGraph(weights[part][:, part], np.ones(len(part)), np.arange(len(part)))
        pieces = _pieces(graph, thresh)
        if pieces.max() == 0 and len(part) >= _FEWEST:
            is_above, value = _best_cut(graph, num_cuts)
            pieces = is_above.astype(np.intp) if value < thresh else pieces
        if pieces.max() > 0:
            waiting += [part[pieces == number] for number in range(pieces.max() + 1)]
        else:
            whole.append(part)
    return whole


def _pieces(graph: SparseGraph, thresh: float) -> Indices:
    """The components without edges that are nothing beside the threshold, or one piece.

    Where the sum of ``cut / volume`` over pieces is below the threshold, so is the NCut of every
    division of the pieces in two. Taking all of them at once spares an eigenvector for each.
    """
    one, edges = np.zeros(graph.n_vertices, dtype=np.intp), graph.weights.tocoo()
    volumes = graph.n_rows * graph.degrees
    weakest = max(0.0, min(_WEAK * thresh, _WEAK)) * np.sqrt(volumes)
    is_strong = edges.data > weakest[edges.row] * np.sqrt(volumes[edges.col])
    strong = (edges.data[is_strong], (edges.row[is_strong], edges.col[is_strong]))
    n_pieces, pieces = connected_components(coo_array(strong, edges.shape), directed=False)
    if n_pieces == 1 or not thresh > 0:
        return one
    is_cut = pieces[edges.row] != pieces[edges.col]
    cut = np.bincount(pieces[edges.row[is_cut]], edges.data[is_cut], n_pieces)
    volume = np.maximum(np.bincount(pieces, volumes, n_pieces), np.finfo(np.float64).tiny)
    return pieces.astype(np.intp) if (cut / volume).sum() < thresh else one


def _best_cut(graph: SparseGraph, num_cuts: int) -> tuple[NDArray[np.bool_], float]:
    """The vertices above the best of evenly spaced thresholds, and the NCut of that."""
    vector = _second_vector(graph)
    least, largest = vector.min(), vector.max()
    thresholds = np.linspace(least, largest, num_cuts, endpoint=False)
    is_above = np.column_stack(
        [vector[:, np.newaxis] > thresholds, vector[:, np.newaxis] >= largest]
    )
    edges = graph.weights.tocoo()
    cut = edges.data @ (is_above[edges.row] & ~is_above[edges.col])
    volumes = graph.n_rows * graph.degrees
    above = volumes @ is_above
    below = volumes @ ~is_above
    # Where rounding leaves nothing on one side there is no cut.
    is_one = (above > 0) & (below > 0)
    values = np.full(len(cut), np.inf)
    values[is_one] = cut[is_one] / above[is_one] + cut[is_one] / below[is_one]
    best = int(values.argmin())
    return is_above[:, best], float(values[best])


def _second_vector(graph: SparseGraph) -> Array:
    """Of ``D^-1/2 (D - W) D^-1/2``, for a connected graph; its largest entry is positive.

    Regions of a photograph hardly touch in many places, so that hundreds of eigenvalues are nearly
    0, and only an inverse tells them apart. Its factors are cheap: regions are neighbours in a
    plane.
    """
    mass = CUTS["ncut"].mass(graph.degrees)
    root = np.sqrt(mass)
    if graph.n_vertices < _LARGE:
        return np.asarray(eigenpairs(graph, mass, 2).vectors[:, 1] * root)
    first = root / np.linalg.norm(root)
    scale = diags_array(1 / root)
    inverse = Inverse(eye_array(len(root)) - scale @ (graph.weights / graph.n_rows) @ scale, _SHIFT)

    def apart(vector: Array) -> Array:
        return np.asarray(vector - first * (first @ vector))

    operator = LinearOperator(
        graph.weights.shape, lambda v: apart(inverse(apart(v.ravel()))), dtype=np.float64
    )
    start = apart(np.random.default_rng(0).standard_normal(len(root)))
    try:
        vector = eigsh(operator, k=1, which="LA", v0=start, tol=_TOLERANCE, maxiter=_RESTARTS)[1][
            :, 0
        ]
    except ArpackNoConvergence:  # many eigenvalues below the shift
        vector = eigenpairs(graph, mass, 2).vectors[:, 1] * root
    return np.asarray(vector * np.sign(vector[np.abs(vector).argmax()]))


def _weights(rag: Any, nodes: list[Any], max_edge: float) -> csr_array:
    """The weights between nodes, and of each to itself."""
    n, place = len(nodes), {node: number for number, node in enumerate(nodes)}
    edges = [
        (place[a], place[b], weight)
        for a, b, weight in rag.edges(data="weight", default=1.0)
        if a != b
    ]
    row, column, weight = (
        (np.array(values) for values in zip(*edges, strict=True)) if edges else [np.empty(0)] * 3
    )
    weight = weight.astype(np.float64)
    is_bad = ~((weight >= 0) & (weight < np.inf))
    if is_bad.any():
        a, b = edges[int(np.argmax(is_bad))][:2]
        raise ValueError(
            "rag must have finite weights of at least 0. Got "
            f"{weight[is_bad][0]:g} between {nodes[a]} and {nodes[b]}; use mode='similarity'."
        )
    every = np.arange(n)
    row, column = row.astype(np.intp), column.astype(np.intp)
    values = np.concatenate([weight, weight, np.full(n, max_edge)])
    rows, columns = np.concatenate([row, column, every]), np.concatenate([column, row, every])
    return csr_array(coo_array((values, (rows, columns)), shape=(n, n)))


def _labels_of_nodes(rag: Any, nodes: list[Any]) -> list[list[int]]:
    if not nodes:
        raise ValueError("rag must have nodes. Got none; make it by skimage.graph.rag_mean_color.")
    for node in nodes:
        if not rag.nodes[node].get("labels"):
            raise ValueError(
                f"rag must have nodes with the attribute 'labels', a list. Got none for {node}; "
                "make it by skimage.graph.rag_mean_color, or set it."
            )
    return [list(rag.nodes[node]["labels"]) for node in nodes]


def _checked(labels: Any, of_node: list[list[int]]) -> NDArray[Any]:
    """Labels as an array that has those of the nodes."""
    found = np.asarray(labels)
    if found.dtype.kind not in "iu" or not found.size or found.min() < 0:
        what = f"{found.dtype} of shape {found.shape}"
        raise ValueError(
            f"labels must be integers of at least 0, one for each pixel. Got {what}; use "
            "skimage.segmentation.slic(image, start_label=0)."
        )
    largest = max(max(its_labels) for its_labels in of_node)
    if largest > found.max():
        raise ValueError(
            f"labels must be those that rag was made of. Got labels up to {found.max()} and a node "
            f"of label {largest}; make rag again."
        )
    return found


def _check_parameters(thresh: object, num_cuts: object) -> None:
    is_number = isinstance(thresh, Real) and not isinstance(thresh, bool)
    if not is_number or np.isnan(float(thresh)):  # type: ignore[arg-type]
        raise ValueError(f"thresh must be a number. Got {shown(thresh)}; use thresh=0.001.")
    check_count("num_cuts", num_cuts, "use 10")
