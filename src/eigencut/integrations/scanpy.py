"""Clusters of cells in AnnData, in the manner of scanpy's tools; reached as ``eigencut.scanpy``.

Nothing here imports scanpy, which makes the graph of neighbours: all there is to it is AnnData's
``obs``, ``obsm``, ``obsp`` and ``uns``. As a search of neighbours scanpy takes
``eigencut.compat.KNeighborsTransformer``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from eigencut.affinity import Neighbors
from eigencut.estimator import GPOD
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.optional import needed

__all__ = ["cluster", "ingest"]

_ALONE = "X"  # what scanpy calls the matrix itself, as a representation


def cluster(
    adata: Any,
    n_clusters: Any = "auto",
    *,
    key_added: str = "eigencut",
    use_rep: str | None = None,
    neighbors_key: str | None = None,
    obsp: str | None = None,
    restrict_to: tuple[str, Sequence[str]] | None = None,
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
        Of ``adata.obs`` and ``adata.uns``.
    use_rep : str, optional
        Cluster the rows of this entry of ``adata.obsm`` (or "X") by ``GPOD`` with its own graph.
    neighbors_key : str, optional
        Of ``adata.uns``: which graph of neighbours, if there are several.
    obsp : str, optional
        Of ``adata.obsp``: any other graph of affinities.
    restrict_to : tuple of str and sequence of str, optional
        A key of ``adata.obs`` and categories: only their cells are clustered, and the others keep
        their category; names of clusters begin with those of the categories.
    copy : bool, default=False

    Returns
    -------
    adata : AnnData or None
        The copy, if one was asked for. ``adata.obs[key_added]`` is the cluster of each cell, a
        categorical of "0", "1", ... by decreasing size; ``adata.uns[key_added]`` has the parameters
        and the eigenvalues.

    Examples
    --------
    With the cells of an experiment::

        sc.pp.neighbors(adata)
        eigencut.scanpy.cluster(adata)
        sc.pl.umap(adata, color="eigencut")
    """
    adata = adata.copy() if copy else adata
    of_cells = np.arange(adata.n_obs)
    if restrict_to is not None:
        of_cells = _cells_of(adata, *restrict_to)
    if use_rep is not None and (neighbors_key is not None or obsp is not None):
        raise ValueError(
            "use_rep must be left out where a graph is named. Got use_rep="
            f"{use_rep!r}, neighbors_key={neighbors_key!r} and obsp={obsp!r}; pass one of them."
        )
    if use_rep is not None:
        model = GPOD(n_clusters).fit(_representation(adata, use_rep)[of_cells])
    else:
        graph = _graph(adata, neighbors_key, obsp)
        model = GPOD(n_clusters, affinity="precomputed").fit(graph[of_cells][:, of_cells])
    names = model.labels_.astype(str).astype(object)
    if restrict_to is not None:
        key, categories = restrict_to
        prefixed = [f"{'-'.join(categories)},{name}" for name in names]
        names = adata.obs[key].astype(str).to_numpy().astype(object)
        names[of_cells] = prefixed
    adata.obs[key_added] = _categorical(names)
    params = {"n_clusters": model.n_clusters_, "asked": str(n_clusters)}
    given = {"use_rep": use_rep, "neighbors_key": neighbors_key, "obsp": obsp}
    params |= {name: value for name, value in given.items() if value is not None}
    adata.uns[key_added] = {"params": params, "eigenvalues": model.eigenvalues_}
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
    """Give new cells the clusters of cells that are clustered already.

    A new cell takes the cluster that has the most weight among the cells near it, by the weights of
    ``Neighbors``; one that is a cell of the reference takes that cell's.

    Parameters
    ----------
    adata : AnnData
        The new cells.
    reference : AnnData
        Those that are clustered, with the same representation: for "X_pca", new cells projected on
        its components, as ``sc.tl.ingest`` does.
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
    """
    if key not in reference.obs:
        raise KeyError(
            f"key must be a column of reference.obs. Got {key!r}; cluster the reference first."
        )
    adata = adata.copy() if copy else adata
    rows, new = _representation(reference, use_rep), _representation(adata, use_rep)
    if rows.shape[1] != new.shape[1]:
        raise ValueError(
            f"use_rep must have as many columns in both. Got {new.shape[1]} in adata and "
            f"{rows.shape[1]} in reference; project the new cells on the reference's components."
        )
    names, numbers = np.unique(reference.obs[key].astype(str).to_numpy(), return_inverse=True)
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
    if use_rep != _ALONE and use_rep not in adata.obsm:
        raise KeyError(
            f"use_rep must be 'X' or one of adata.obsm ({', '.join(adata.obsm) or 'empty'}). Got "
            f"{use_rep!r}; compute it first, as by sc.pp.pca(adata)."
        )
    found = adata.X if use_rep == _ALONE else adata.obsm[use_rep]
    return found if hasattr(found, "tocsr") else np.asarray(found, dtype=np.float64)


def _graph(adata: Any, neighbors_key: str | None, obsp: str | None) -> csr_array:
    """The affinities that scanpy's other tools would take."""
    if obsp is not None and neighbors_key is not None:
        raise ValueError(
            f"obsp must be left out with neighbors_key. Got obsp={obsp!r} and neighbors_key="
            f"{neighbors_key!r}; pass one of them."
        )
    key = obsp
    if key is None:
        made = adata.uns.get(neighbors_key or "neighbors", {})
        key = made.get("connectivities_key", "connectivities")
        if neighbors_key is not None and neighbors_key not in adata.uns:
            key = neighbors_key
    if key not in adata.obsp:
        raise KeyError(
            f"adata.obsp must have the graph {key!r}. It has {', '.join(adata.obsp) or 'none'}; "
            "run sc.pp.neighbors(adata) first, or pass use_rep='X_pca'."
        )
    return csr_array(adata.obsp[key]).astype(np.float64)


def _cells_of(adata: Any, key: str, categories: Sequence[str]) -> Indices:
    known = list(adata.obs[key].astype("category").cat.categories)
    for name in categories:
        if name not in known:
            raise ValueError(
                f"restrict_to must name categories of adata.obs[{key!r}] "
                f"({', '.join(map(str, known))}). Got {name!r}; correct it."
            )
    return np.flatnonzero(adata.obs[key].isin(categories).to_numpy())


def _categorical(names: Any, categories: Any = None) -> Any:
    """With categories in the order of their numbers: 2 before 10."""
    listed = set(names) if categories is None else set(categories)

    def place(name: str) -> list[Any]:
        parts = str(name).replace(",", " ").split()
        return [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]

    ordered = sorted(listed, key=place)
    return needed("pandas", "pandas").Categorical(names, categories=ordered)
