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


def test_a_discrete_cut_has_no_eigenvalues(monkeypatch):
    monkeypatch.setattr("eigencut.integrations.scanpy.GPOD", partial(GPOD, solver="discrete"))
    adata = cells()
    eigencut.scanpy.cluster(adata, K, use_rep="X_pca")
    assert adjusted_rand_score(adata.obs["kind"], adata.obs["eigencut"]) > 0.95
    assert set(adata.uns["eigencut"]) == {"params"}


def test_where_the_graph_is():
    adata = cells()
    adata.obsp["mine"] = adata.obsp.pop("connectivities")
    adata.uns["other"] = {"connectivities_key": "mine"}
    by_key = eigencut.scanpy.cluster(adata, K, neighbors_key="other", copy=True)
    by_name = eigencut.scanpy.cluster(adata, K, neighbors_key="mine", key_added="again", copy=True)
    assert "eigencut" not in adata.obs and (by_key.obs["eigencut"] == by_name.obs["again"]).all()
    with pytest.raises(ValueError, match=r"graph 'connectivities'\. Got mine; run sc\.pp\.neigh"):
        eigencut.scanpy.cluster(adata, K)
    with pytest.raises(ValueError, match="Got use_rep='X_pca' and neighbors_key='mine'; pass one"):
        eigencut.scanpy.cluster(adata, K, neighbors_key="mine", use_rep="X_pca")


def test_rows_of_a_representation():
    adata = cells()
    eigencut.scanpy.cluster(adata, use_rep="X_pca")
    expected = GPOD("auto").fit(adata.X)
    assert (adata.obs["eigencut"] == expected.labels_.astype(str)).all()
    assert adata.uns["eigencut"]["params"]["n_clusters"] == expected.n_clusters_
    with pytest.raises(ValueError, match=r"one of adata\.obsm \(X_pca\)\. Got 'X_umap'; compute"):
        eigencut.scanpy.cluster(adata, use_rep="X_umap")


def test_what_others_have_written_is_kept():
    adata = cells()
    adata.uns["pca"], adata.uns["leiden"] = np.ones(3), {"params": {"resolution": 1.0}}
    before = deepcopy(adata.uns)
    for key in ("neighbors", "leiden", "pca"):
        with pytest.raises(ValueError, match=f"key_added must be unused.*'{key}', .*use another"):
            eigencut.scanpy.cluster(adata, K, key_added=key)
    assert str(adata.uns) == str(before)
    for n_clusters in (2, 3):  # ours may be written again
        eigencut.scanpy.cluster(adata, n_clusters, key_added="mine")
        assert adata.uns["mine"]["params"]["n_clusters"] == n_clusters
    with pytest.raises(ValueError, match=r"neighbors_key must be a key.*'pca', where .*leave it"):
        eigencut.scanpy.cluster(adata, K, neighbors_key="pca")


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"key_added": ""}, "key_added must be a name. Got ''; leave it out"),
        ({"key_added": 5}, "key_added must be a name. Got 5; leave it out"),
        ({"neighbors_key": "small"}, r"of shape \(240, 240\).*Got shape \(5, 5\); run sc"),
        ({"neighbors_key": "list"}, r"of shape \(240, 240\).*Got shape \(3,\); run sc"),
        ({"use_rep": "short"}, r"a row for each of the 240 cells\. Got shape \(5, 2\)"),
        ({"use_rep": "words"}, "use_rep='words' must hold real numbers"),
    ],
)
def test_wrong_arguments_are_named(wrong, sentence):
    adata = cells()
    adata.obs["kind"] = adata.obs["kind"].cat.add_categories("kind 9")
    adata.obsp["small"], adata.obsp["list"] = np.eye(5), [1, 2, 3]
    adata.obsm["short"], adata.obsm["words"] = np.ones((5, 2)), np.full((240, 2), "a")
    with pytest.raises(ValueError, match=sentence):
        eigencut.scanpy.cluster(adata, 2, **wrong)
    assert list(adata.obs) == ["kind"] and list(adata.uns) == ["neighbors"]


@pytest.mark.parametrize("wrong", [None, np.ones((5, 2)), "cells.h5ad", Cells])
def test_what_is_no_anndata_is_refused(wrong):
    with pytest.raises(ValueError, match=r"adata must be an AnnData\. Got .*; make one"):
        eigencut.scanpy.cluster(wrong, 2)


def test_twelve_clusters_are_in_the_order_of_their_numbers():
    adata = cells()
    eigencut.scanpy.cluster(adata, 12)
    assert list(adata.obs["eigencut"].cat.categories) == [str(k) for k in range(12)]


@pytest.fixture(scope="module")
def scanpy():
    return pytest.importorskip("scanpy", reason=WHY)


@pytest.mark.filterwarnings("ignore")
def test_blood_cells_beside_leiden_at_equal_numbers(scanpy):
    """On scanpy's own cells and graph: alike up to eight clusters, and mostly worse beyond."""
    pytest.importorskip("igraph", reason=WHY)
    adata, theirs = scanpy.datasets.pbmc68k_reduced(), {}
    for resolution in np.arange(0.1, 2.1, 0.1):
        how = dict(flavor="igraph", directed=False, n_iterations=-1, random_state=0)
        scanpy.tl.leiden(adata, resolution=resolution, **how)
        found = adjusted_rand_score(adata.obs["bulk_labels"], adata.obs["leiden"])
        theirs.setdefault(adata.obs["leiden"].nunique(), []).append(found)
    less = {}
    for K in (K for K in theirs if 3 <= K <= 14):
        eigencut.scanpy.cluster(adata, K)
        ours = adjusted_rand_score(adata.obs["bulk_labels"], adata.obs["eigencut"])
        less[K] = np.mean(theirs[K]) - ours
    assert len(less) >= 6 and max(less.values()) < 0.1, less
    assert np.mean([value for K, value in less.items() if K <= 8]) < 0.01, less


@pytest.mark.filterwarnings("ignore")
def test_blood_cells_with_numbers_of_their_own(scanpy, tmp_path):
    adata = scanpy.datasets.pbmc68k_reduced()
    eigencut.scanpy.cluster(adata, 8)
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
