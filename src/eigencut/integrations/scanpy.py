"""Clusters of cells in AnnData, in the manner of scanpy's tools; reached as ``eigencut.scanpy``.

Nothing here imports scanpy, which makes the graph of neighbours: all there is to it is AnnData's
``obs``, ``obsm``, ``obsp`` and ``uns``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse
from sklearn.neighbors import KNeighborsClassifier

from eigencut._utils.arrays import Array
from eigencut._utils.validation import check_count, needed, real_array, shown
from eigencut.exceptions import invalid
from eigencut.gpod import GPOD
from eigencut.io.refused_rows import refuse_infinite

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
        The copy, if one was asked for. ``adata.obs[key_added]`` is the cluster of each cell, by
        decreasing size; ``adata.uns[key_added]`` has the parameters and the eigenvalues.
    """
    _check_cells(adata)
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
) -> None:
    """Give new cells the clusters of the cells near them, which count by the inverse of distance.

    ``adata.obs[key]`` gets the clusters, ``adata.obs[key + "_share"]`` their share of the weight.

    Parameters
    ----------
    adata, reference : AnnData
        The new cells, and those that are clustered, with the same representation.
    key : str, default="eigencut"
        Of ``reference.obs``, by ``cluster`` or anything else; then of ``adata.obs``.
    use_rep : str, default="X_pca"
        Of ``adata.obsm`` and ``reference.obsm``.
    n_neighbors : int, default=15
    """
    _check_cells(adata)
    _check_cells(reference, "reference")
    check_count("n_neighbors", n_neighbors, "use the default of 15")
    if not isinstance(key, str) or key not in reference.obs or reference.obs[key].isna().all():
        got, remedy = shown(key), "cluster the reference first"
        raise invalid("key", "be a column of reference.obs with clusters", got, remedy)
    known = reference.obs[key].notna().to_numpy()
    rows, new = _representation(reference, use_rep)[known], _representation(adata, use_rep)
    if rows.shape[1] != new.shape[1]:
        got = f"{new.shape[1]} in adata and {rows.shape[1]} in reference"
        remedy = "project the new cells on the reference's components"
        raise invalid("use_rep", "have as many columns in both", got, remedy)
    for each in (rows, new):
        refuse_infinite(each, csr_array(each) if issparse(each) else each)
    nearest = KNeighborsClassifier(min(n_neighbors, rows.shape[0]), weights="distance")
    shares = nearest.fit(rows, reference.obs[key][known].astype(str)).predict_proba(new)
    names = nearest.classes_[shares.argmax(axis=1)].astype(object)
    adata.obs[key] = _categorical(names, nearest.classes_)
    adata.obs[f"{key}_share"] = shares.max(axis=1)


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


def _check_cells(adata: Any, name: str = "adata") -> None:
    parts = ("obs", "obsm", "obsp", "uns", "n_obs")
    if isinstance(adata, type) or not all(hasattr(adata, part) for part in parts):
        remedy = "make one of rows by anndata.AnnData(X), or use eigencut.GPOD for an array"
        raise invalid(name, "be an AnnData", shown(adata), remedy)


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
