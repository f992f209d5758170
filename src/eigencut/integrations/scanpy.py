"""Clusters of cells in AnnData, in the manner of scanpy's tools; reached as ``eigencut.scanpy``.

Nothing here imports scanpy, which makes the graph of neighbours: all there is to it is AnnData's
``obs``, ``obsm``, ``obsp`` and ``uns``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import check_count, needed, real_array, shown
from eigencut.affinities import Neighbors
from eigencut.exceptions import invalid
from eigencut.gpod import GPOD

__all__ = ["cluster", "ingest"]


def cluster(
    adata: Any,
    n_clusters: Any = "auto",
    *,
    key_added: str = "eigencut",
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    copy: bool = False,
) -> Any:
    """Cluster cells by a normalized cut of scanpy's graph of neighbours, or of one of our own.

    Parameters
    ----------
    adata : AnnData
        With the graph of ``sc.pp.neighbors``, unless ``use_rep`` is given.
    n_clusters : int, "auto" or iterable of int, default="auto"
        As of ``GPOD``.
    key_added : str, default="eigencut"
        Of ``adata.obs`` and ``adata.uns``, where it must be free, or of an earlier call.
    use_rep : str, optional
        Cluster the rows of this entry of ``adata.obsm`` (or "X") by ``GPOD`` with its own graph.
    neighbors_key : str, optional
        Of ``adata.uns``: which graph of neighbours, if there are several.
    obsp : str, optional
        Of ``adata.obsp``: any other graph of affinities.
    copy : bool, default=False

    Returns
    -------
    adata : AnnData or None
        The copy, if one was asked for. ``adata.obs[key_added]`` is the cluster of each cell, "0",
        "1", ... by decreasing size; ``adata.uns[key_added]`` has parameters and eigenvalues.

    Examples
    --------
    With the cells of an experiment::

        sc.pp.neighbors(adata)
        eigencut.scanpy.cluster(adata)
    """
    _check_cells(adata=adata)
    _check_key_added(adata, key_added)
    sources = {"use_rep": use_rep, "neighbors_key": neighbors_key, "obsp": obsp}
    given = {name: value for name, value in sources.items() if value is not None}
    if len(given) > 1:
        got = " and ".join(f"{name}={value!r}" for name, value in given.items())
        one = "Only one of use_rep, neighbors_key and obsp"
        raise invalid(one, "be given", got, "pass one of them")
    adata = adata.copy() if copy else adata
    if use_rep is not None:
        model = GPOD(n_clusters).fit(_representation(adata, use_rep))
    else:
        graph = _graph(adata, neighbors_key, obsp)
        model = GPOD(n_clusters, affinity="precomputed").fit(graph)
    adata.obs[key_added] = _categorical(model.labels_.astype(str).astype(object))
    params = {"n_clusters": model.n_clusters_, "asked": str(n_clusters), **given}
    adata.uns[key_added] = {"params": params}
    if hasattr(model, "eigenvalues_"):  # not of a discrete cut
        adata.uns[key_added]["eigenvalues"] = model.eigenvalues_
    return adata if copy else None


def ingest(
    adata: Any,
    reference: Any,
    *,
    key: str = "eigencut",
    use_rep: str = "X_pca",
    n_neighbors: int = 15,
    copy: bool = False,
) -> Any:
    """Give new cells the cluster that has the most weight, by ``Neighbors``, among cells near them.

    Parameters
    ----------
    adata : AnnData
        The new cells.
    reference : AnnData
        Those that are clustered, with the same representation, such as the same components.
    key : str, default="eigencut"
        Of ``reference.obs``, by ``cluster`` or anything else; then of ``adata.obs``.
    use_rep : str, default="X_pca"
        Of ``adata.obsm`` and ``reference.obsm``.
    n_neighbors : int, default=15
    copy : bool, default=False

    Returns
    -------
    adata : AnnData or None
        The copy, if one was asked for. ``adata.obs[key]`` is the cluster of each cell, and
        ``adata.obs[key + "_share"]`` what it has of the weight.

    Examples
    --------
    Cells of yesterday, clustered, and those of today in the same components::

        eigencut.scanpy.cluster(reference, 8, use_rep="X_pca")
        eigencut.scanpy.ingest(adata, reference)
    """
    _check_cells(adata=adata, reference=reference)
    check_count("n_neighbors", n_neighbors, "use the default of 15")
    if not isinstance(key, str) or key not in reference.obs:
        expected = "be a column of reference.obs"
        raise invalid("key", expected, shown(key), "cluster the reference first")
    has_cluster = reference.obs[key].notna().to_numpy()
    if not has_cluster.any():
        expected = "have cells with a cluster"
        remedy = "cluster the reference first"
        raise invalid(f"reference.obs[{key!r}]", expected, f"none among {len(has_cluster)}", remedy)
    adata = adata.copy() if copy else adata
    rows, new = _representation(reference, use_rep)[has_cluster], _representation(adata, use_rep)
    if rows.shape[1] != new.shape[1]:
        got = f"{new.shape[1]} in adata and {rows.shape[1]} in reference"
        remedy = "project the new cells on the reference's components"
        raise invalid("use_rep", "have as many columns in both", got, remedy)
    _check_finite("reference", use_rep, rows)
    _check_finite("adata", use_rep, new)
    clusters = reference.obs[key][has_cluster].astype(str).to_numpy()
    names, numbers = np.unique(clusters, return_inverse=True)
    found = _votes(rows, numbers, len(names), new, n_neighbors)
    best = found.argmax(axis=1)
    adata.obs[key] = _categorical(names[best].astype(object), names)
    adata.obs[f"{key}_share"] = found[np.arange(len(best)), best]
    return adata if copy else None


def _votes(rows: Array, numbers: Indices, n_names: int, new: Array, k: int) -> Array:
    """What each cluster has of the weights from new rows to the rows."""
    affinity = Neighbors(min(k, len(rows))).fit(rows)
    of_vertex = affinity.identical_vertices(rows)
    clusters = np.zeros((len(affinity.multiplicity_), n_names))
    np.add.at(clusters, (of_vertex, numbers), 1.0)
    clusters /= clusters.sum(axis=1, keepdims=True)
    product = affinity.apply(new, clusters)
    found = product.values / product.degrees[:, np.newaxis]
    same = affinity.identical_vertices(new)
    found[same >= 0] = clusters[same[same >= 0]]
    return np.asarray(found)


def _representation(adata: Any, use_rep: str) -> Array:
    if not isinstance(use_rep, str) or (use_rep != "X" and use_rep not in adata.obsm):
        expected = f"be 'X' or one of adata.obsm ({', '.join(adata.obsm) or 'empty'})"
        remedy = "compute it first, as by sc.pp.pca(adata)"
        raise invalid("use_rep", expected, shown(use_rep), remedy)
    found = adata.X if use_rep == "X" else adata.obsm[use_rep]
    found = found if hasattr(found, "tocsr") else real_array(f"use_rep={use_rep!r}", found)
    if found.ndim != 2 or found.shape[0] != adata.n_obs:
        expected = f"have a row for each of the {adata.n_obs} cells"
        remedy = "compute it again of these cells"
        raise invalid(f"use_rep={use_rep!r}", expected, f"shape {found.shape}", remedy)
    return found


def _check_finite(name: str, use_rep: str, rows: Any) -> None:
    with np.errstate(invalid="ignore"):
        nothing = np.asarray((rows * 0.0).sum(axis=1)).ravel()  # sparse or not; else NaN
    bad = np.flatnonzero(np.isnan(nothing))
    if len(bad):
        expected = f"be finite in {name}"
        got = f"NaN or infinity for {len(bad)} cell(s), the first at position {bad[0]}"
        raise invalid(f"use_rep={use_rep!r}", expected, got, "drop them, or compute it again")


def _graph(adata: Any, neighbors_key: str | None, obsp: str | None) -> csr_array:
    """The affinities that scanpy's other tools would take."""
    key = obsp
    if key is None:
        made = adata.uns.get(neighbors_key or "neighbors", {})
        if not isinstance(made, Mapping):
            expected = "name what sc.pp.neighbors has written into adata.uns"
            got = f"{neighbors_key!r}, where there is {shown(made)}"
            raise invalid("neighbors_key", expected, got, "pass obsp for another graph")
        key = made.get("connectivities_key", "connectivities")
        if neighbors_key is not None and neighbors_key not in adata.uns:
            key = neighbors_key
    if key not in adata.obsp:
        got = f"{', '.join(adata.obsp) or 'none'}"
        remedy = "run sc.pp.neighbors(adata) first, or pass use_rep='X_pca'"
        raise invalid("adata.obsp", f"have the graph {key!r}", got, remedy)
    found, n_cells = adata.obsp[key], adata.n_obs
    if np.shape(found) != (n_cells, n_cells):
        expected = f"be of shape ({n_cells}, {n_cells}), the affinities among all cells"
        remedy = "run sc.pp.neighbors(adata) on these cells"
        raise invalid(f"adata.obsp[{key!r}]", expected, f"shape {np.shape(found)}", remedy)
    return csr_array(found).astype(np.float64)


def _check_cells(**cells: Any) -> None:
    for name, value in cells.items():
        parts = ("obs", "obsm", "obsp", "uns", "n_obs")
        if isinstance(value, type) or not all(hasattr(value, part) for part in parts):
            remedy = "make one of rows by anndata.AnnData(X), or use eigencut.GPOD for an array"
            raise invalid(name, "be an AnnData", shown(value), remedy)


def _check_key_added(adata: Any, key_added: Any) -> None:
    """What others have written into ``adata.uns`` is theirs, as the graph of neighbours is."""
    if not (isinstance(key_added, str) and key_added):
        raise invalid("key_added", "be a name", shown(key_added), "leave it out for 'eigencut'")
    made = adata.uns.get(key_added)
    params = made.get("params") if isinstance(made, Mapping) else None
    is_ours = isinstance(params, Mapping) and {"n_clusters", "asked"} <= set(params)
    if made is not None and not is_ours:
        expected = "be free in adata.uns, or of an earlier call"
        got = f"{key_added!r}, which something else has written"
        raise invalid("key_added", expected, got, "use another name, as 'cut_of_cells'")


def _categorical(names: Any, categories: Any = None) -> Any:
    """With categories in the order of their numbers: 2 before 10."""
    listed = set(names if categories is None else categories)
    ordered = sorted(listed, key=lambda name: (len(name) if name.isdigit() else np.inf, name))
    return needed("pandas", "pandas").Categorical(names, categories=ordered)
