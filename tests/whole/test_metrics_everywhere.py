"""What must always be true, by every metric: in memory, in streams, in files, and refusals."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV

from eigencut import (
    GPOD,
    Gaussian,
    Landmarks,
    Neighbors,
    Precomputed,
    RankedNeighbors,
    Rows,
    TableModel,
    load,
    select,
)
from eigencut.inspection import assess, significance
from eigencut.neighbors.metrics import METRICS
from metric_data import DISTANCES, rows_for

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")

ALL = tuple(METRICS)
AFFINITIES = {
    "auto": lambda metric: "auto",
    "gaussian": lambda metric: "gaussian",
    "neighbors": lambda metric: Neighbors(8, metric=metric),
    "landmarks": lambda metric: Landmarks(60, metric=metric),
}


@pytest.fixture(params=ALL)
def metric(request):
    return request.param


@pytest.fixture(params=AFFINITIES.values(), ids=AFFINITIES.keys())
def model(request, metric):
    return GPOD(3, affinity=request.param(metric), metric=metric)


def test_clusters_answers_files_and_order(model, metric, tmp_path):
    X, cluster = rows_for(metric)
    X = np.vstack([X, X[:20]])
    new = rows_for(metric, 90, seed=1)[0]
    fitted = clone(model).fit(X)
    assert adjusted_rand_score(cluster, fitted.labels_[:300]) > 0.95
    assert fitted.affinity_.metric == metric
    assert (fitted.predict(X) == fitted.labels_).all()
    assert np.abs(fitted.transform(X) - fitted.embedding_).max() < 1e-8
    labels, support = fitted.predict(new), fitted.score_samples(new)
    assert [fitted.predict(new[i : i + 1])[0] for i in range(0, 90, 9)] == labels[::9].tolist()
    assert (fitted.predict_proba(new).argmax(axis=1) == labels).all()
    assert np.isfinite(fitted.score(new))
    path = tmp_path / "model.eigencut"
    fitted.save(path)
    again = load(path)
    assert again.metric == metric and again.affinity_.metric == metric
    assert (again.transform(new) == fitted.transform(new)).all()
    assert (again.score_samples(new) == support).all()
    order = np.random.default_rng(0).permutation(len(X))
    permuted = clone(model).fit(X[order])
    assert adjusted_rand_score(permuted.labels_, fitted.labels_[order]) == 1
    assert np.abs(permuted.eigenvalues_ - fitted.eigenvalues_).max() < 1e-9


def test_integer_weights_are_numbers_of_rows(model, metric):
    X = rows_for(metric, 90)[0]
    weight = 1 + np.arange(90) % 3
    weighted, repeated = (
        clone(model).fit(X, sample_weight=weight),
        clone(model).fit(np.repeat(X, weight, axis=0)),
    )
    assert (weighted.eigenvalues_ == repeated.eigenvalues_).all()
    assert (weighted.predict(X) == repeated.predict(X)).all()


def test_a_stream_is_as_good_as_memory_to_the_last_bit(metric):
    X, new = rows_for(metric, 900)[0], rows_for(metric, 90, seed=1)[0]
    model = GPOD(3, affinity=Landmarks(60, metric=metric)).fit(X)
    for step in (37, 400):
        blocks = [np.asfortranarray(X[i : i + step]) for i in range(0, len(X), step)]
        streamed = GPOD(3, affinity=Landmarks(60), metric=None)
        streamed.set_params(affinity__metric=metric).fit(Rows(lambda b=blocks: iter(b)))
        assert (streamed.affinity_.landmarks_ == model.affinity_.landmarks_).all()
        assert (streamed.eigenvalues_ == model.eigenvalues_).all()
        assert (streamed.transform(new) == model.transform(new)).all()


def test_dask_is_as_good_as_memory(metric):
    da = pytest.importorskip("dask.array")
    from eigencut.integrations.dask import fit, predict

    X = rows_for(metric, 600)[0]
    chunks = da.from_array(X, chunks=(170, X.shape[1]))
    model = fit(GPOD(3, affinity="landmarks", metric=metric), chunks)
    expected = GPOD(3, affinity="landmarks", metric=metric).fit(X)
    assert (model.affinity_.landmarks_ == expected.affinity_.landmarks_).all()
    assert (predict(model, chunks).compute(scheduler="sync") == expected.labels_).all()


def test_the_number_of_clusters_is_found_by_the_metric(metric):
    X, cluster = rows_for(metric)
    model = GPOD("auto", metric=metric).fit(X)
    assert model.n_clusters_ == 3 and model.affinity_.metric == metric
    assert adjusted_rand_score(cluster, model.labels_) > 0.95
    found = select(X, range(2, 6), metric=metric)
    assert found.best.n_clusters == 3
    assert {choice.affinity.metric for choice in found.choices} == {metric}
    assert found.model.metric == metric


def test_risk_is_of_the_same_weights(metric):
    X, new = rows_for(metric)[0], rows_for(metric, 60, seed=1)[0]
    sigma = float(np.median(DISTANCES[metric](X, X))) / 2
    model = GPOD(3, affinity=Gaussian(sigma, metric=metric)).fit(X)
    W = np.exp(-(DISTANCES[metric](new, new) ** 2) / (2 * sigma**2))
    f = model.fitted_cut_.functions.unit(model.transform(new))
    squares = (f[:, np.newaxis] - f) ** 2
    by_definition = np.einsum("ij,ijk->k", W, squares).mean() / (2 * 60 * 59)
    assert np.isclose(-model.score(new), by_definition, rtol=1e-6)
    assert np.isfinite(assess(model, new).population_error.value)


def test_sparse_rows_by_cosine():
    X, _cluster = rows_for("cosine")
    X = np.where(np.abs(X) > 0.3, X, 0)
    X = X[X.any(axis=1)]
    dense = GPOD(3, metric="cosine").fit(X)
    of_sparse = GPOD(3, metric="cosine").fit(sparse.csr_array(X))
    assert (of_sparse.labels_ == dense.labels_).all()
    with pytest.raises(ValueError, match="X must be dense with this metric"):
        GPOD(3, metric="manhattan").fit(sparse.csr_array(X))


def test_directions_have_no_length():
    X, cluster = rows_for("cosine")
    lengths = 10.0 ** np.random.default_rng(0).integers(-200, 200, size=(len(X), 1))
    for affinity in ("gaussian", "neighbors", "landmarks"):
        model = GPOD(3, affinity=affinity, metric="cosine").fit(X)
        assert (model.predict(X * lengths) == model.labels_).all()
        assert adjusted_rand_score(cluster, model.labels_) == 1


ONE_POINT = {
    "auto": GPOD(2, metric="cosine"),
    "discrete": GPOD(2, solver="discrete", metric="cosine"),
    "gaussian": GPOD(2, affinity=Gaussian(metric="cosine")),
    "neighbors": GPOD(2, affinity=Neighbors(4, metric="cosine")),
    "mutual": GPOD(2, affinity=Neighbors(4, graph="mutual", metric="cosine")),
    "ranked": GPOD(2, affinity=RankedNeighbors(4, metric="cosine")),
    "landmarks": GPOD(2, affinity=Landmarks(12, metric="cosine")),
}


@pytest.mark.parametrize("model", ONE_POINT.values(), ids=ONE_POINT.keys())
@pytest.mark.parametrize("lengths", ["integers", "floats"])
def test_parallel_rows_are_one_row(model, lengths):
    """Also those that rounding has moved apart; there are no more clusters than directions."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        n_directions, d = int(rng.integers(3, 12)), int(rng.integers(2, 6))
        directions = rng.integers(-4, 5, size=(n_directions, d)).astype(float)
        directions[:, 0] = np.arange(1, n_directions + 1) ** 2  # no two of them are parallel
        directions[:, 1] = 7
        times = rng.integers(1, 9, (60, 1)) if lengths == "integers" else rng.random((60, 1)) + 0.1
        direction = np.arange(60) % n_directions
        X = directions[direction] * times
        for rows in (X, sparse.csr_array(X)):
            if isinstance(model.affinity, Gaussian) and sparse.issparse(rows):
                continue
            K = min(n_directions, 1 + seed)
            fitted = clone(model).set_params(n_clusters=K).fit(rows)
            assert (fitted.predict(rows) == fitted.labels_).all()
            assert (fitted.labels_ == fitted.labels_[direction]).all()
            with pytest.raises(ValueError, match="n_clusters must be at most the number of"):
                clone(model).set_params(n_clusters=n_directions + 1).fit(rows)


@pytest.mark.parametrize("affinity", ["auto", "gaussian", "neighbors", "landmarks"])
def test_a_pole_and_a_meridian_are_one_place_each(affinity):
    poles = np.column_stack([np.repeat([90.0, -90.0], 9), np.arange(-160, 200, 20)])
    X = np.vstack([poles, [[0.1, 0.0], [0.1, 360.0]] * 5])
    model = GPOD(3, affinity=affinity, metric="haversine").fit(X)
    assert np.unique(model.labels_[[0, 9, 18]]).tolist() == [0, 1, 2]
    assert (model.labels_ == np.repeat(model.labels_[[0, 9, 18]], [9, 9, 10])).all()
    assert (model.predict(X) == model.labels_).all()


@pytest.mark.parametrize("affinity", ["gaussian", "neighbors", "landmarks"])
@pytest.mark.parametrize("metric", ["manhattan", "chebyshev"])
def test_extreme_numbers(metric, affinity):
    X, cluster = rows_for(metric)
    for unit in (1e-300, 1e300):
        model = GPOD(3, affinity=affinity, metric=metric).fit(X * unit)
        assert adjusted_rand_score(cluster, model.labels_) == 1
        far = np.vstack([X[:3] * unit, np.full((1, X.shape[1]), 1.7e308)])
        assert np.isfinite(model.transform(far)).all()


def test_the_date_line_is_no_border():
    X, cluster = rows_for("haversine")
    assert (np.abs(X[cluster == 0, 1]) > 170).all()  # on both sides
    model = GPOD(3, metric="haversine").fit(X)
    west, east = model.predict([[-17.0, -179.9], [-17.0, 179.9]])
    assert west == east
    flat = GPOD(3).fit(X)
    assert flat.predict([[-17.0, -179.9]]) != flat.predict([[-17.0, 179.9]])


@pytest.mark.parametrize(
    "model, message",
    [
        (GPOD(2, metric="l2"), "metric must be 'euclidean' or .* Got 'l2'"),
        (GPOD(2, affinity=Neighbors(5), metric="cosine"), r"Neighbors\(..., metric='cosine'\)"),
        (GPOD(2, affinity="precomputed", metric="cosine"), "has no metric.* Got 'cosine'; leave"),
        (GPOD(2, affinity=Precomputed(), metric="cosine"), "has no metric.* Got 'cosine'; leave"),
        (GPOD(2, affinity=lambda A, B: A @ B.T, metric="cosine"), "has no metric"),
    ],
)
def test_metrics_that_do_not_go_with_an_affinity(model, message):
    with pytest.raises(ValueError, match=message):
        model.fit(np.eye(6))


def test_what_compares_with_normal_rows_refuses_codes():
    model = GPOD(3, metric="jaccard").fit(rows_for("jaccard")[0])
    with pytest.raises(ValueError, match=r"metric must be .* for significance.* Got 'jaccard'"):
        significance(model)


def test_parameters_of_a_named_affinity_can_be_searched():
    X = rows_for("cosine")[0]
    search = GridSearchCV(
        GPOD(3, affinity="gaussian", metric="cosine"), {"affinity__sigma": [0.3, 0.6]}, cv=2
    )
    assert search.fit(X).best_estimator_.affinity_.metric == "cosine"


@pytest.mark.parametrize("metric", ["hamming", "jaccard", "haversine"])
def test_tables_are_not_scaled_where_that_has_no_meaning(metric):
    X = rows_for(metric)[0]
    with pytest.raises(ValueError, match=f"scale must be 'none' with metric='{metric}'"):
        TableModel(GPOD(3, metric=metric)).fit(X)
    model = TableModel(GPOD(3, metric=metric), scale="none").fit(X)
    assert (model.predict(X) == model.labels_).all()


def test_a_table_without_a_complete_row_has_directions_too():
    X = rows_for("cosine")[0]
    model = TableModel(GPOD(3, metric="cosine"), scale="none", missing="drop").fit(X)
    assert model.predict(np.full((2, X.shape[1]), np.nan)).tolist() == [-1, -1]


@pytest.mark.parametrize("affinity", ["neighbors", "landmarks"])
def test_a_model_is_brought_up_to_date_by_its_metric(metric, affinity):
    X, new = rows_for(metric)[0], rows_for(metric, 90, seed=1)[0]
    model = GPOD(3, affinity=affinity, metric=metric).fit(X)
    before = model.predict(new)
    model.update(new)
    assert model.affinity_.metric == metric and model.affinity_.n_rows_ == 390
    assert adjusted_rand_score(model.predict(new), before) > 0.9
    assert np.isfinite(model.drift(new).p_value)


def test_a_new_cluster_is_seen_by_the_metric():
    for metric, far in (("haversine", [-40.0, 100.0]), ("cosine", None)):
        X = rows_for(metric)[0]
        model = GPOD(3, affinity="neighbors", metric=metric).fit(X)
        rng = np.random.default_rng(2)
        if far is None:
            far = -np.sign(X.mean(axis=0)) * np.abs(X).mean()
        new = np.asarray(far) + 0.05 * rng.normal(size=(60, X.shape[1]))
        found = model.drift(np.vstack([X[:200], new])).new_cluster
        assert found is not None and set(found.rows) <= set(range(200, 260))
