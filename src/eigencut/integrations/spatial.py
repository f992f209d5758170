"""Divide maps into connected regions of similar rows; this module is ``eigencut.spatial``."""

from __future__ import annotations

import warnings
from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import KDTree

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import warn_user
from eigencut._utils.validation import is_integer, needed, real_array
from eigencut.exceptions import GraphWarning, invalid
from eigencut.gpod import GPOD
from eigencut.graphs.base import listed

__all__ = ["regions"]

CONTIGUITY = "be 'queen', 'rook', weights of libpysal, a sparse matrix or a list of pairs"


def regions(
    frame: Any,
    columns: Hashable | Sequence[Hashable],
    n_regions: int,
    *,
    contiguity: Any = "queen",
    random_state: Any = 0,
) -> Any:
    """Divide a map into connected regions of similar rows, by a normalized cut.

    Two rows that touch have the affinity exp(-d^2 / (2 s^2)), where d is their distance in the
    standardized columns, and s is half the median of these distances.

    Parameters
    ----------
    frame : DataFrame, GeoDataFrame or array of shape (n, d)
    columns : name or list of names
        The columns of numbers by which rows are compared (indices, if ``frame`` is an array).
    n_regions : int
        The number of regions; at least the number of parts of the map that do not touch.
    contiguity : "queen", "rook", libpysal W or Graph, sparse matrix or list of pairs
        Which rows touch. libpysal finds it from geometries: with "queen", a common point is
        enough, and "rook" asks for a common border. Weights of libpysal are matched with the rows
        by ``frame.index``, or by position if they number the rows from 0. A matrix is n x n, by
        position, and its weights multiply the affinities. Pairs are positions of rows. Rows that
        touch no other row are joined to the nearest row, with a warning.
    random_state : int, RandomState or None, default=0
        As in ``GPOD``.

    Returns
    -------
    region : Series of int, or array if ``frame`` is an array
        The region of each row, numbered by decreasing size; every region is connected.

    Examples
    --------
    >>> import numpy as np
    >>> import eigencut
    >>> income = np.array([[1.0], [1.2], [1.1], [5.0], [5.2], [1.0], [1.1]])
    >>> road = [(i, i + 1) for i in range(6)]
    >>> eigencut.spatial.regions(income, [0], 3, contiguity=road)
    array([0, 0, 0, 1, 1, 2, 2])
    """
    X = _standardized(_attributes(frame, columns))
    if not is_integer(n_regions) or not 1 <= n_regions <= len(X):
        expected = f"be an integer from 1 to the number of rows ({len(X)})"
        raise invalid("n_regions", expected, repr(n_regions), "correct it")
    touching = _bridged(_touching(frame, contiguity, len(X)), frame, X)
    n_parts, part = csgraph.connected_components(touching, directed=False)
    if n_parts > n_regions:
        sizes = listed(np.sort(np.bincount(part))[::-1])
        expected = f"be at least {n_parts}, the number of parts that do not touch (of {sizes} rows)"
        remedy = "ask for more, or add neighbours between parts to contiguity"
        raise invalid("n_regions", expected, n_regions, remedy)
    if n_parts > 1:
        warn_user(
            f"The map has {n_parts} parts that do not touch: no region spans two of them. To "
            "change that, add neighbours between them to contiguity."
        )
    labels = np.arange(len(X))  # if each row is a region
    if n_regions < len(X):
        model = GPOD(n_regions, affinity="precomputed", random_state=random_state)
        with warnings.catch_warnings():
            # A map in several parts has had a warning above, and ``connect_regions`` mends labels.
            warnings.simplefilter("ignore", GraphWarning)
            labels = model.fit_predict(_affinities(touching, X))
    region = connect_regions(labels, touching, X, n_regions)
    if not hasattr(frame, "columns"):
        return region
    return needed("pandas", "pandas").Series(region, index=frame.index, name="region")


def _attributes(frame: Any, columns: Any) -> Array:
    """Return the columns as an array of finite numbers."""
    is_one = isinstance(columns, str) or not hasattr(columns, "__len__")
    named = [columns] if is_one else list(columns)
    is_frame = hasattr(frame, "columns")
    array = frame if is_frame else real_array("frame", frame)
    if array.ndim != 2:
        expected = "be a DataFrame, or an array of n rows and d columns"
        raise invalid("frame", expected, f"shape {array.shape}", "pass one of them")
    known = list(frame.columns if is_frame else range(array.shape[1]))
    unknown = [name for name in named if name not in known]
    if unknown or not named:
        got = repr(unknown[0]) if unknown else "none"
        raise invalid("columns", f"be of frame, which has {known[:8]}", got, "name some of these")
    X = real_array("columns", array[named] if is_frame else array[:, named])
    bad = ~np.isfinite(X)
    if bad.any():
        at = int(np.flatnonzero(bad.any(axis=0))[0])
        got = f"{int(bad[:, at].sum())} row(s) without in {named[at]!r}"
        remedy = "fill them, or drop the rows (and their neighbourhoods)"
        raise invalid("columns", "have a finite value in every row", got, remedy)
    return X


def _standardized(X: Array) -> Array:
    """Return columns with mean 0 and standard deviation 1; constant columns become 0."""
    largest = np.abs(X).max(axis=0, initial=0.0)
    X = X / np.where(largest > 0, largest, 1.0)  # squares of huge values stay finite
    X = X - X.mean(axis=0)
    spread = X.std(axis=0)
    return np.asarray(X * np.where(spread > 1e-12, 1 / np.maximum(spread, 1e-12), 0.0))


def _touching(frame: Any, contiguity: Any, n: int) -> sparse.csr_array:
    """Return the symmetric weights of rows that touch, at most 1, without a diagonal."""
    if isinstance(contiguity, str):
        found = _from_geometries(frame, contiguity)
    elif sparse.issparse(contiguity):
        found = contiguity
    elif hasattr(contiguity, "sparse"):
        found = _in_order_of(frame, contiguity, n)
    else:
        found = _from_pairs(contiguity, n)
    if found.shape != (n, n):
        expected = f"be of the {n} rows of frame"
        remedy = "make it from the same frame"
        raise invalid("contiguity", expected, f"the shape {found.shape}", remedy)
    weights = sparse.coo_array(found).astype(np.float64)
    bad = weights.data[~((weights.data >= 0) & np.isfinite(weights.data))]
    if len(bad):
        expected = "have finite weights that are not negative"
        raise invalid("contiguity", expected, f"{bad[0]:.6g}", "pass 1 for rows that touch")
    off = (weights.row != weights.col) & (weights.data > 0)
    kept = (weights.data[off], (weights.row[off], weights.col[off]))
    one_way = sparse.csr_array(sparse.coo_array(kept, shape=(n, n)))
    both = sparse.csr_array((one_way + one_way.T) / 2)
    largest = both.data.max(initial=0.0)
    return both / largest if largest > 0 else both


def _from_geometries(frame: Any, kind: str) -> Any:
    if kind not in ("queen", "rook"):
        raise invalid("contiguity", CONTIGUITY, repr(kind), "pass one of them")
    if not hasattr(frame, "geometry"):
        expected = "be given for a frame without geometries"
        got = f"{kind!r}, which needs the geometries of a GeoDataFrame"
        raise invalid("contiguity", expected, got, "pass a sparse matrix or a list of pairs")
    absent = np.flatnonzero(frame.geometry.isna() | frame.geometry.is_empty)
    if len(absent):
        got = f"{len(absent)} row(s) without, the first {frame.index[absent[0]]!r}"
        remedy = "drop them, or pass contiguity as a matrix or a list of pairs"
        raise invalid("frame", "have a geometry in every row", got, remedy)
    make = getattr(needed("libpysal.weights", "maps"), kind.title())  # Queen or Rook
    # Without its warnings about islands and parts: ``regions`` warns about both.
    return make.from_dataframe(frame, use_index=False, silence_warnings=True).sparse


def _in_order_of(frame: Any, weights: Any, n: int) -> Any:
    """Return the matrix of libpysal's weights in the order of the frame's rows."""
    is_graph = hasattr(weights, "unique_ids")
    ids = list(weights.unique_ids if is_graph else weights.id_order)
    index = list(frame.index) if hasattr(frame, "columns") else list(range(n))
    by_label = len(set(index)) == n == len(ids) and set(ids) == set(index)
    by_position = len(ids) == n and set(ids) == set(range(n))
    # A Graph has labels; a W has labels if its order of ids was set, and positions otherwise.
    has_labels = is_graph or getattr(weights, "id_order_set", False)
    if by_label and by_position and index not in (ids, list(range(n))) and not has_labels:
        got = f"weights that number {n} rows from 0, and an index with the same numbers reordered"
        remedy = "pass weights.sparse for positions, or make them with use_index=True for labels"
        raise invalid("contiguity", "match the rows of frame in only one way", got, remedy)
    if not (by_label or by_position):
        expected = f"be of the {n} rows of frame"
        got = f"weights of {len(ids)} rows, the first of them {ids[0] if ids else None!r}"
        raise invalid("contiguity", expected, got, "make them from the same frame")
    place = {name: at for at, name in enumerate(ids)}
    order = [place[row] for row in (index if by_label else range(n))]
    return sparse.csr_array(weights.sparse)[order][:, order]


def _from_pairs(pairs: Any, n: int) -> sparse.coo_array:
    found = real_array("contiguity", pairs)
    found = found if found.size else np.empty((0, 2))
    if found.ndim != 2 or found.shape[1] != 2 or (found != np.rint(found)).any():
        expected = f"{CONTIGUITY} of positions"
        raise invalid("contiguity", expected, type(pairs).__name__, "pass one of them")
    if found.size and (found.min() < 0 or found.max() >= n):
        expected, got = f"have positions from 0 to {n - 1}", f"{found.min():g} to {found.max():g}"
        raise invalid("contiguity", expected, got, "count rows from 0")
    # Pairs that are given twice, or in both directions, count once.
    once = np.unique(np.sort(found.astype(np.intp), axis=1), axis=0)
    return sparse.coo_array((np.ones(len(once)), (once[:, 0], once[:, 1])), shape=(n, n))


def _bridged(touching: sparse.csr_array, frame: Any, X: Array) -> sparse.csr_array:
    """Join each row that touches no other (an island) to the nearest row that is not an island."""
    is_island = np.diff(touching.indptr) == 0
    islands, others = np.flatnonzero(is_island), np.flatnonzero(~is_island)
    if not len(islands) or not len(others):
        return touching
    places, by = X, "the columns"
    if hasattr(frame, "geometry"):
        with warnings.catch_warnings():
            # geopandas warns about degrees, which rarely change which row is nearest.
            warnings.simplefilter("ignore", UserWarning)
            points = frame.geometry.centroid
        centroids = np.column_stack([points.x, points.y])
        if np.isfinite(centroids).all():
            places, by = centroids, "its centroid"
    nearest = others[KDTree(places[others]).query(places[islands])[1]]
    warn_user(
        f"{len(islands)} of {len(X)} rows touch no other (islands). Each was joined to the nearest "
        f"row by {by}. To change that, add their neighbours to contiguity."
    )
    ties = (np.ones(len(islands)), (islands, nearest))
    bridges = sparse.coo_array(ties, shape=touching.shape)
    return sparse.csr_array(touching + bridges + bridges.T)


def _affinities(touching: sparse.csr_array, X: Array) -> sparse.csr_array:
    """Return the weights of rows that touch times a Gaussian of their distance in the columns."""
    edges = touching.tocoo()
    squares = ((X[edges.row] - X[edges.col]) ** 2).sum(axis=1)
    different = squares[squares > 0]
    half_median = np.median(np.sqrt(different)) / 2 if len(different) else 1.0
    # The weights stay positive: neighbours stay connected, however different they are.
    values = edges.data * np.maximum(np.exp(-squares / (2 * half_median**2)), 1e-6)
    return sparse.csr_array(sparse.coo_array((values, (edges.row, edges.col)), shape=edges.shape))


def connect_regions(labels: Indices, touching: Any, X: Array, n_regions: int) -> Indices:
    """Return connected regions, by decreasing size; small pieces join their nearest neighbour."""
    edges = sparse.triu(touching).tocoo()
    i, j = edges.row, edges.col
    inside = labels[i] == labels[j]
    same = sparse.coo_array((np.ones(inside.sum()), (i[inside], j[inside])), shape=touching.shape)
    n_pieces, piece = csgraph.connected_components(same, directed=False)
    piece = piece.astype(np.intp)
    if n_pieces > n_regions:
        between = np.unique(np.column_stack([piece[i], piece[j]])[~inside], axis=0)
        sizes, label_of = np.bincount(piece), np.empty(n_pieces, dtype=np.intp)
        label_of[piece] = labels
        in_order = np.lexsort([-sizes, label_of])  # the largest piece of each label is kept
        first = np.unique(label_of[in_order], return_index=True)[1]
        is_kept = np.isin(np.arange(n_pieces), in_order[first])
        piece = _join(piece, is_kept, between, X, n_regions)[piece]
    for number in range(n_pieces, n_regions):  # split a row off the edge of the largest region
        rows = np.flatnonzero(piece == np.bincount(piece).argmax())
        within = touching[rows][:, rows]
        order = csgraph.breadth_first_order(within, 0, False, return_predecessors=False)
        piece[rows[order[-1]]] = number
    _, place, sizes = np.unique(piece, return_inverse=True, return_counts=True)
    return np.argsort(np.argsort(-sizes, kind="stable"))[place]


def _join(piece: Indices, keeps: Any, between: Indices, X: Array, n_regions: int) -> Indices:
    """Join pieces, the smallest first and ``keeps`` last; return the piece that each ends up in."""
    sizes = np.bincount(piece).astype(float)
    sums = np.zeros((len(keeps), X.shape[1]))
    np.add.at(sums, piece, X)
    neighbours: list[set[int]] = [set() for _ in keeps]
    for a, b in between.tolist():
        neighbours[a].add(b)
        neighbours[b].add(a)
    joined = np.arange(len(keeps))
    waits = sizes + len(piece) * np.asarray(keeps)  # the order in which pieces are joined
    waits[[not beside for beside in neighbours]] = np.inf
    for _ in range(len(keeps) - n_regions):
        a = int(waits.argmin())
        beside = np.array(sorted(neighbours[a]))
        apart = sums[beside] / sizes[beside, np.newaxis] - sums[a] / sizes[a]
        b = int(beside[(apart**2).sum(axis=1).argmin()])
        joined[joined == a] = b
        sizes[b], sums[b], keeps[b] = sizes[b] + sizes[a], sums[b] + sums[a], keeps[b] or keeps[a]
        for c in neighbours[a]:
            neighbours[c].discard(a)
        for c in neighbours[a] - {b}:
            neighbours[c].add(b)
            neighbours[b].add(c)
        waits[a] = np.inf
        waits[b] = sizes[b] + len(piece) * keeps[b] if neighbours[b] else np.inf
    return joined
