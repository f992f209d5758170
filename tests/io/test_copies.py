"""Copies of fitted models, by pickle, copy, joblib, cloudpickle and skops: they answer the same."""

import pickle
from copy import deepcopy
from io import BytesIO

import joblib
import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import make_blobs
from sklearn.metrics.pairwise import laplacian_kernel

from eigencut import GPOD, Gaussian, Kernel, Landmarks, Neighbors, RankedNeighbors, TableModel
from eigencut.compat import SpectralClustering
from eigencut.hierarchy.recluster import recluster
from eigencut.neighbors.metrics import METRICS, Space
from eigencut.neighbors.search import INDEXES, build_index

ANSWERS = ("predict", "transform", "score_samples", "predict_margin", "predict_proba")


def blobs(n_columns, n=150):
    return make_blobs(n, n_columns, centers=3, cluster_std=0.8, random_state=n_columns)[0]


def by_joblib(model):
    room = BytesIO()
    joblib.dump(model, room)
    room.seek(0)
    return joblib.load(room)


def by_skops(model):
    io = pytest.importorskip("skops.io")
    data = io.dumps(model)
    return io.loads(data, trusted=io.get_untrusted_types(data=data))


WAYS = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "deepcopy": deepcopy,
    "joblib": by_joblib,
    "skops": by_skops,
}
AFFINITIES = {
    "default": None,
    "gaussian": "gaussian",
    "local": Gaussian("local"),
    "kernel": Kernel(laplacian_kernel),
    "neighbors": Neighbors(8),
    "mutual": Neighbors(8, graph="mutual", weights="binary"),
    "contrast": Neighbors(8, density_contrast=1.0),
    "cosine": Neighbors(8, metric="cosine"),
    "manhattan": Neighbors(8, metric="manhattan"),
    "manhattan, brute": Neighbors(8, metric="manhattan", index="brute"),
    "chebyshev": Neighbors(8, metric="chebyshev"),
    "brute": Neighbors(8, index="brute"),
    "kdtree": Neighbors(8, index="kdtree"),
    "approximate": Neighbors(8, index="approximate"),
    "ranked": RankedNeighbors(20),
    "landmarks": Landmarks(80),
    "landmarks, cosine": Landmarks(80, metric="cosine"),
}


def same(model, again, X):
    for method in ANSWERS:
        if hasattr(model, method):
            expected, found = getattr(model, method)(X), getattr(again, method)(X)
            assert np.array_equal(expected, found, equal_nan=True), method


@pytest.fixture(params=WAYS, ids=list(WAYS))
def way(request):
    return WAYS[request.param]


@pytest.fixture(scope="module", params=[2, 16, 64])
def n_columns(request):
    return request.param


@pytest.fixture(scope="module", params=AFFINITIES, ids=list(AFFINITIES))
def model(request, n_columns):
    affinity = AFFINITIES[request.param]
    given = {} if affinity is None else {"affinity": affinity}
    return GPOD(3, **given).fit(blobs(n_columns))


@pytest.mark.filterwarnings("ignore")
def test_every_affinity(model, n_columns, way):
    new = blobs(n_columns, 240)
    again = way(model)
    same(model, again, new)
    model.affinity_.identical_vertices(new)  # which keeps what it finds
    assert np.array_equal(way(model).predict(new), again.predict(new))


@pytest.mark.parametrize("affinity", [Neighbors(8), RankedNeighbors(20), Landmarks(60)])
@pytest.mark.filterwarnings("ignore")
def test_sparse_rows(affinity, way):
    X = np.random.default_rng(0).poisson(0.4, size=(300, 64)) * (np.arange(300) % 3 + 1)[:, None]
    rows = sparse.csr_array(X.astype(float))
    model = GPOD(3, affinity=affinity).fit(rows)
    same(model, way(model), rows)


def test_by_cloudpickle(n_columns):
    """As MLflow, Spark and BERTopic keep models."""
    cloudpickle = pytest.importorskip("cloudpickle")
    model = GPOD(3).fit(blobs(n_columns))
    same(model, pickle.loads(cloudpickle.dumps(model)), blobs(n_columns, 240))


@pytest.mark.parametrize("metric", ["hamming", "jaccard", "haversine"])
@pytest.mark.filterwarnings("ignore")
def test_other_metrics(metric, way):
    X = np.random.default_rng(0).integers(2, size=(200, 2 if metric == "haversine" else 12))
    X = X + (0.0 if metric != "haversine" else np.random.default_rng(1).random(X.shape))
    model = GPOD(2, affinity=Neighbors(10, metric=metric)).fit(X)
    same(model, way(model), X)


def test_tables(way):
    frame = pd.DataFrame(blobs(16), columns=[f"c{i}" for i in range(16)])
    frame["kind"] = np.where(frame.c0 > 0, "one", "other")
    frame.loc[3, "c1"] = np.nan
    model = TableModel(GPOD(3), missing="median").fit(frame)
    again = way(model)
    assert np.array_equal(again.predict(frame), model.predict(frame))
    assert np.array_equal(again.predict_proba(frame), model.predict_proba(frame))


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors"])
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_spectral_clustering(n_columns, affinity, way):
    model = SpectralClustering(3, affinity=affinity, gamma=0.1, random_state=0)
    model.fit(blobs(n_columns))
    new = blobs(n_columns, 240)
    assert np.array_equal(way(model).predict(new), model.predict(new))


def test_reclustered_models(n_columns, way):
    X = blobs(n_columns)
    model = recluster(GPOD(3).fit(X), X, cluster=0)
    same(model, way(model), blobs(n_columns, 240))


@pytest.mark.parametrize("kind", INDEXES[1:])
def test_an_index_wherever_its_copy_lies(kind):
    """Arrays of copies begin at multiples of 16 bytes, and wide vectors want multiples of 64."""
    points = np.random.default_rng(0).normal(size=(500, 7))
    space = Space(points, METRICS["euclidean"])
    index = build_index(kind, space.points(points), space)[1]
    pickled, queries = pickle.dumps(index), np.random.default_rng(1).normal(size=(50, 7))
    expected = index.query(queries, 5)
    for again in [pickle.loads(pickled) for _ in range(8)]:
        for left, right in zip(expected, again.query(queries, 5), strict=True):
            assert np.array_equal(left, right)
    graph = getattr(index, "_graph", points[:0])
    assert len(pickled) < 2 * points.nbytes + graph.nbytes  # the points and little more
