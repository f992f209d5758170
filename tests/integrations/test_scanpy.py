"""Clusters of cells: on what AnnData is made of everywhere, on scanpy's own data where it is."""

from copy import deepcopy
from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import KNeighborsTransformer as OfScikitLearn

import eigencut
from eigencut import GPOD
from eigencut.compat import KNeighborsTransformer

WHY = "scanpy needs half a gigabyte: make test-integrations installs it"
K = 4


class Cells:
    """What of AnnData is used: obs, obsm, obsp, uns."""

    def __init__(self, X):
        self.X, self.n_obs = X, len(X)
        self.obs = pd.DataFrame(index=[f"cell {i}" for i in range(len(X))])
        self.obsm, self.obsp, self.uns = {"X_pca": X}, {}, {}

    def copy(self):
        return deepcopy(self)


def cells(n=240, seed=0):
    X, y = make_blobs(n, 5, centers=K, cluster_std=1.2, random_state=1)
    some = np.random.default_rng(seed).permutation(n)
    adata = Cells(X[some])
    adata.obs["kind"] = pd.Categorical([f"kind {k}" for k in y[some]])
    distances = OfScikitLearn(n_neighbors=15).fit_transform(adata.X)
    weights = (distances > 0).astype(np.float32)
    adata.obsp["connectivities"] = sparse.csr_matrix((weights + weights.T) / 2)
    adata.uns["neighbors"] = {"connectivities_key": "connectivities"}
    return adata


def test_the_graph_of_neighbours_is_what_is_cut():
    adata = cells()
    assert eigencut.scanpy.cluster(adata, K) is None
    expected = GPOD(K, affinity="precomputed").fit(adata.obsp["connectivities"]).labels_
    found = adata.obs["eigencut"]
    assert (found == expected.astype(str)).all() and list(found.cat.categories) == list("0123")
    assert adjusted_rand_score(adata.obs["kind"], found) > 0.95
    assert adata.uns["eigencut"]["params"] == {"n_clusters": K, "asked": str(K)}
    assert adata.uns["eigencut"]["eigenvalues"].shape == (K,)


def test_where_the_graph_is():
    adata = cells()
    adata.obsp["mine"] = adata.obsp.pop("connectivities")
    adata.uns["other"] = {"connectivities_key": "mine"}
    by_key = eigencut.scanpy.cluster(adata, K, neighbors_key="other", copy=True)
    by_name = eigencut.scanpy.cluster(adata, K, obsp="mine", key_added="again", copy=True)
    assert "eigencut" not in adata.obs and (by_key.obs["eigencut"] == by_name.obs["again"]).all()
    with pytest.raises(KeyError, match=r"graph 'connectivities'\. It has mine; run sc\.pp\.neigh"):
        eigencut.scanpy.cluster(adata, K)
    with pytest.raises(ValueError, match=r"obsp must be left out with neighbors_key\. Got"):
        eigencut.scanpy.cluster(adata, K, obsp="mine", neighbors_key="other")
    with pytest.raises(ValueError, match="use_rep must be left out where a graph is named"):
        eigencut.scanpy.cluster(adata, K, obsp="mine", use_rep="X_pca")


def test_rows_of_a_representation():
    adata = cells()
    eigencut.scanpy.cluster(adata, use_rep="X_pca")
    expected = GPOD("auto").fit(adata.X)
    assert (adata.obs["eigencut"] == expected.labels_.astype(str)).all()
    assert adata.uns["eigencut"]["params"]["n_clusters"] == expected.n_clusters_
    with pytest.raises(KeyError, match=r"one of adata\.obsm \(X_pca\)\. Got 'X_umap'; compute"):
        eigencut.scanpy.cluster(adata, use_rep="X_umap")


def test_some_cells_only():
    adata = cells()
    eigencut.scanpy.cluster(adata, 2, restrict_to=("kind", ["kind 0", "kind 2"]))
    found, inside = adata.obs["eigencut"], adata.obs["kind"].isin(["kind 0", "kind 2"])
    assert set(found[inside]) == {"kind 0-kind 2,0", "kind 0-kind 2,1"}
    assert (found[~inside].astype(str) == adata.obs["kind"][~inside].astype(str)).all()
    assert adjusted_rand_score(adata.obs["kind"][inside], found[inside]) > 0.95
    with pytest.raises(ValueError, match=r"categories of adata\.obs\['kind'\].*Got 'none'"):
        eigencut.scanpy.cluster(adata, 2, restrict_to=("kind", ["none"]))


def test_twelve_clusters_are_in_the_order_of_their_numbers():
    adata = cells()
    eigencut.scanpy.cluster(adata, 12)
    assert list(adata.obs["eigencut"].cat.categories) == [str(k) for k in range(12)]


def test_new_cells_take_the_clusters_of_others():
    reference, everything = cells(), cells()
    eigencut.scanpy.cluster(reference, K)
    eigencut.scanpy.ingest(everything, reference)  # which are the same cells
    assert (everything.obs["eigencut"] == reference.obs["eigencut"]).all()
    assert (everything.obs["eigencut_share"] == 1).all()
    new = Cells(reference.X + 0.1 * np.random.default_rng(0).normal(size=reference.X.shape))
    eigencut.scanpy.ingest(new, reference)
    assert adjusted_rand_score(new.obs["eigencut"], reference.obs["eigencut"]) > 0.95
    assert list(new.obs["eigencut"].cat.categories) == list("0123")
    alone = Cells(new.X[:1])
    eigencut.scanpy.ingest(alone, reference)
    assert alone.obs["eigencut"].iloc[0] == new.obs["eigencut"].iloc[0]
    with pytest.raises(KeyError, match=r"key must be a column of reference\.obs\. Got 'none'"):
        eigencut.scanpy.ingest(new, reference, key="none")
    new.obsm["X_pca"] = new.X[:, :3]
    with pytest.raises(ValueError, match="Got 3 in adata and 5 in reference; project"):
        eigencut.scanpy.ingest(new, reference)


@pytest.fixture(scope="module")
def scanpy():
    return pytest.importorskip("scanpy", reason=WHY)


@pytest.mark.filterwarnings("ignore")
def test_blood_cells_as_well_as_leiden(scanpy, tmp_path):
    """On scanpy's own cells and graph; 8 is the number of clusters at which Leiden is best."""
    adata = scanpy.datasets.pbmc68k_reduced()
    eigencut.scanpy.cluster(adata, 8)
    found = adjusted_rand_score(adata.obs["bulk_labels"], adata.obs["eigencut"])
    assert found > 0.49  # Leiden has 0.504 at 8 clusters: docs/ecosystem.md
    eigencut.scanpy.cluster(adata, key_added="auto")
    scanpy.tl.leiden(adata, flavor="igraph", n_iterations=2, directed=False)
    ours, theirs = (
        adjusted_rand_score(adata.obs["bulk_labels"], adata.obs[key]) for key in ("auto", "leiden")
    )
    assert ours > theirs  # each with its own number of clusters
    adata.write_h5ad(tmp_path / "cells.h5ad")
    again = scanpy.read_h5ad(tmp_path / "cells.h5ad")
    assert (again.obs["eigencut"] == adata.obs["eigencut"]).all()
    assert again.uns["eigencut"]["params"]["n_clusters"] == 8
    half, rest = adata[::2].copy(), adata[1::2].copy()
    known = rest.obs.pop("eigencut")
    eigencut.scanpy.ingest(rest, half)
    assert adjusted_rand_score(known, rest.obs["eigencut"]) > 0.8


@pytest.mark.filterwarnings("ignore")
def test_scanpy_takes_our_search(scanpy):
    from scanpy.neighbors._common import _ind_dist_shortcut

    adata = scanpy.datasets.pbmc68k_reduced()
    graphs = []
    # By a tree: scikit-learn's brute force in float32 has rows that are not at distance 0 of
    # themselves, which umap's weights take for their nearest neighbour.
    for search in (KNeighborsTransformer, partial(OfScikitLearn, algorithm="kd_tree")):
        scanpy.pp.neighbors(adata, transformer=search(n_neighbors=15))
        graphs.append((adata.obsp["distances"].copy(), adata.obsp["connectivities"].copy()))
    for ours, theirs in zip(*graphs, strict=True):
        assert abs(ours - theirs).max() < 1e-4 * theirs.max()
    mat = KNeighborsTransformer(n_neighbors=9).fit_transform(
        np.random.default_rng(0).random((10, 2))
    )
    assert mat.nnz / 10 == 10 and _ind_dist_shortcut(mat) is not None
