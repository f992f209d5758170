"""Cluster the cells of an AnnData, as scanpy's tools do; this module is ``eigencut.scanpy``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from eigencut._utils.arrays import Array
from eigencut._utils.validation import needed, real_array, shown
from eigencut.exceptions import invalid
from eigencut.gpod import GPOD

__all__ = ["cluster"]


def cluster(
    adata: Any,
    n_clusters: Any = "auto",
    *,
    key_added: str = "eigencut",
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    copy: bool = False,
) -> Any:
    """Cluster cells by a normalized cut of scanpy's graph of neighbours, or of eigencut's graph.

    Parameters
    ----------
    adata : AnnData
        With the graph of ``sc.pp.neighbors``, unless ``use_rep`` is given.
    n_clusters : int, "auto" or iterable of int, default="auto"
        As in ``GPOD``.
    key_added : str, default="eigencut"
        The key of the result in ``adata.obs`` and ``adata.uns``.
    use_rep : str, optional
        Cluster the rows of this entry of ``adata.obsm`` (or "X") by ``GPOD`` with its own graph.
    neighbors_key : str, optional
        The graph to use: a key of ``adata.uns`` for a graph of neighbours, or a key of
        ``adata.obsp`` for any other graph.
    copy : bool, default=False

    Returns
    -------
    adata : AnnData or None
        The copy, with ``copy=True``. ``adata.obs[key_added]`` has the cluster of each cell,
        numbered by decreasing size; ``adata.uns[key_added]`` has parameters and eigenvalues.
    """
    parts = ("obs", "obsm", "obsp", "uns", "n_obs")
    if isinstance(adata, type) or not all(hasattr(adata, part) for part in parts):
        remedy = "make one of rows by anndata.AnnData(X), or use eigencut.GPOD for an array"
        raise invalid("adata", "be an AnnData", shown(adata), remedy)
    if not (isinstance(key_added, str) and key_added):
        raise invalid("key_added", "be a name", shown(key_added), "leave it out for 'eigencut'")
    made = adata.uns.get(key_added)  # never overwrite the results of other tools
    params = made.get("params") if isinstance(made, Mapping) else None
    is_ours = isinstance(params, Mapping) and {"n_clusters", "asked"} <= set(params)
    if made is not None and not is_ours:
        expected = "be unused in adata.uns, or the key of an earlier call"
        got = f"{key_added!r}, which another tool has written"
        raise invalid("key_added", expected, got, "use another name, as 'cut_of_cells'")
    sources = {"use_rep": use_rep, "neighbors_key": neighbors_key}
    given = {name: value for name, value in sources.items() if value is not None}
    if len(given) > 1:
        got = " and ".join(f"{name}={value!r}" for name, value in given.items())
        raise invalid("Only one of use_rep and neighbors_key", "be given", got, "pass one of them")
    adata = adata.copy() if copy else adata
    if use_rep is not None:
        model = GPOD(n_clusters).fit(_representation(adata, use_rep))
    else:
        model = GPOD(n_clusters, affinity="precomputed").fit(_graph(adata, neighbors_key))
    names = model.labels_.astype(str).astype(object)
    ordered = sorted(set(names), key=int)  # as numbers: 2 before 10
    adata.obs[key_added] = needed("pandas", "pandas").Categorical(names, categories=ordered)
    params = {"n_clusters": model.n_clusters_, "asked": str(n_clusters), **given}
    adata.uns[key_added] = {"params": params}
    if hasattr(model, "eigenvalues_"):  # a discrete cut has none
        adata.uns[key_added]["eigenvalues"] = model.eigenvalues_
    return adata if copy else None


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


def _graph(adata: Any, neighbors_key: str | None) -> csr_array:
    """Return the graph that scanpy's other tools would take, as affinities among all cells."""
    made = adata.uns.get(neighbors_key or "neighbors", {})
    if not isinstance(made, Mapping):
        expected = "be a key that sc.pp.neighbors has written to adata.uns, or one of adata.obsp"
        got = f"{neighbors_key!r}, where there is {shown(made)}"
        raise invalid("neighbors_key", expected, got, "leave it out for the usual graph")
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
