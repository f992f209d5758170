"""Limits of the sizes of clusters: they hold, at the least cost, and predict keeps to them."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import eye_array, kron, vstack
from sklearn.datasets import load_wine, make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, Constraints, Landmarks, RankedNeighbors, Rows, TableModel, load
from eigencut.cli import main
from eigencut.exceptions import ModelFileError
from eigencut.extension.sizes import SizeLimits, price_clusters

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

X, TRUE = make_blobs([150, 100, 50], centers=[[0, 0], [8, 0], [0, 8]], random_state=0)


def sizes_of(labels, n_clusters=3):
    return np.bincount(labels, minlength=n_clusters)


@given(st.integers(0, 10**6), st.integers(2, 6), st.integers(12, 60))
@settings(max_examples=40, deadline=None)
def test_prices_solve_the_assignment_with_limits(seed, K, n):
    rng = np.random.default_rng(seed)
    scores = rng.dirichlet(np.full(K, 0.4), n) * rng.uniform(0.5, 3, K)
    low, high = rng.integers(0, n // K + 1), -(-n // K) + rng.integers(0, 4)
    prices, excess = price_clusters(scores, np.ones(n), SizeLimits(float(low), float(high)))
    labels = np.argmax(scores + prices, axis=1)
    sizes = sizes_of(labels, K)
    assert not excess.any() and sizes.min() >= low and sizes.max() <= high
    in_cluster, of_row = kron(np.ones((1, n)), eye_array(K)), kron(eye_array(n), np.ones((1, K)))
    best = linprog(
        -scores.ravel(),
        A_ub=vstack([in_cluster, -in_cluster]),
        b_ub=np.concatenate([np.full(K, high), np.full(K, -low)]),
        A_eq=of_row,
        b_eq=np.ones(n),
    )
    assert scores[np.arange(n), labels].sum() == pytest.approx(-best.fun, abs=1e-9)


@pytest.mark.parametrize("low", ["equal", 0.11])
@pytest.mark.parametrize(("K", "mixed"), [(3, 0.02), (6, 0.05), (8, 0.5)])
def test_prices_of_many_rows(K, mixed, low):
    """Beyond some thousands only undecided rows are looked at; the limits hold for all."""
    n, rng = 20_000, np.random.default_rng(K)
    groups = np.minimum(rng.geometric(0.4, n) - 1, K - 1)
    scores = (1 - mixed) * np.eye(K)[groups] + mixed * rng.dirichlet(np.ones(K), n)
    high = None if low == "equal" else 0.4
    limits = SizeLimits.from_parameters(low, high, K, np.ones(n))
    prices, excess = price_clusters(scores, np.ones(n), limits)
    assert not excess.any()
    sizes = sizes_of(np.argmax(scores + prices, axis=1), K)
    assert limits.low <= min(sizes) and max(sizes) <= limits.high


def test_a_few_rows_too_many_are_moved_one_by_one():
    centers = 10 * np.array([[0, 0], [1, 0], [0, 1]])
    X, y = make_blobs([4000, 4000, 4006], centers=centers, cluster_std=0.8, random_state=0)
    labels = GPOD(3, affinity=Landmarks(200), min_cluster_size="equal").fit_predict(X)
    assert np.bincount(labels).tolist() == [4002] * 3
    assert adjusted_rand_score(y, labels) > 0.998


def test_limits_next_to_the_sizes_change_few_rows():
    """Where a sample of the rows would not tell by how much a cluster is too large."""
    X, _ = make_blobs(20_000, centers=6, n_features=4, cluster_std=2.0, random_state=0)
    found = {
        low: GPOD(6, affinity=Landmarks(300), min_cluster_size=low).fit(X).labels_
        for low in (None, "equal")
    }
    assert set(np.bincount(found["equal"])) <= {3333, 3334}
    assert adjusted_rand_score(found[None], found["equal"]) > 0.99


@pytest.mark.parametrize("affinity", ["auto", "gaussian", "neighbors", "landmarks", "ranked"])
@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
@pytest.mark.parametrize(
    ("limits", "least", "most"),
    [
        ({"max_cluster_size": "equal"}, 100, 100),
        ({"min_cluster_size": 70, "max_cluster_size": 0.4}, 70, 120),
    ],
)
def test_limits_hold_on_the_training_rows(affinity, cut, limits, least, most, tmp_path):
    if affinity == "ranked":
        affinity = RankedNeighbors()
    model = GPOD(3, affinity=affinity, cut=cut, **limits).fit(X)
    sizes = sizes_of(model.labels_)
    assert sizes.min() >= least and sizes.max() <= most
    assert (np.diff(sizes) <= 0).all()
    assert (model.predict(X) == model.labels_).all()
    assert (model.predict_proba(X).argmax(axis=1) == model.labels_).all()
    new = X + np.random.default_rng(1).normal(size=X.shape)
    assert (model.predict(new)[:7] == model.predict(new[:7])).all()
    assert (model.answers(new).labels == model.predict(new)).all()
    model.save(tmp_path / "model.eigencut")
    again = load(tmp_path / "model.eigencut")
    assert (again.predict_proba(new) == model.predict_proba(new)).all()


@pytest.mark.parametrize("solver", ["auto", "relaxed", "discrete"])
def test_limits_that_do_not_bind_change_nothing(solver):
    free = GPOD(3, solver=solver).fit(X)
    limited = GPOD(3, solver=solver, min_cluster_size=50, max_cluster_size=0.5).fit(X)
    assert (limited.labels_ == free.labels_).all()
    assert (limited.predict_proba(X + 0.5) == free.predict_proba(X + 0.5)).all()
    assert (limited.transform(X) == free.transform(X)).all()


def test_new_rows_of_the_same_source_keep_to_the_limits():
    rows, _ = make_blobs(4000, centers=[[0, 0], [3, 0], [0, 3]], random_state=3)
    keep = np.concatenate([np.arange(1000), np.flatnonzero(rows[:, 0] > 1.5)])  # uneven
    rows = np.random.default_rng(0).permutation(rows[keep])
    half = len(rows) // 2
    model = GPOD(3, max_cluster_size="equal").fit(rows[:half])
    assert np.ptp(sizes_of(model.labels_)) <= 1
    share = sizes_of(model.predict(rows[half:])) / (len(rows) - half)
    error = np.sqrt(2 / 9 * (1 / half + 1 / (len(rows) - half)))
    assert (np.abs(share - 1 / 3) < 4 * error).all()


def test_order_of_rows_does_not_matter():
    order = np.random.default_rng(0).permutation(len(X))
    one = GPOD(3, max_cluster_size="equal").fit(X)
    other = GPOD(3, max_cluster_size="equal").fit(X[order])
    assert (other.labels_ == one.labels_[order]).all()


def test_weights_are_sizes():
    weight = np.random.default_rng(0).integers(1, 4, len(X))
    weighted = GPOD(3, max_cluster_size=0.4).fit(X, sample_weight=weight)
    repeated = GPOD(3, max_cluster_size=0.4).fit(np.repeat(X, weight, axis=0))
    assert (np.repeat(weighted.labels_, weight) == repeated.labels_).all()
    sums = np.bincount(weighted.labels_, weight)
    assert sums.max() <= 0.4 * weight.sum() + 3  # a row of weight 3 is not divided


def test_identical_rows_are_not_divided_and_that_is_said():
    rows = np.concatenate([np.repeat([[0.0, 0.0]], 60, axis=0), X[TRUE == 1][:40]])
    with pytest.warns(UserWarning, match="miss the limits of .* by up to 10"):
        model = GPOD(2, affinity="gaussian", max_cluster_size="equal").fit(rows)
    assert len(set(model.labels_[:60])) == 1


def test_known_labels_keep_their_numbers(tmp_path):
    known = np.full(len(X), -1)
    for k, blob in enumerate((2, 0, 1)):
        known[np.flatnonzero(np.equal(TRUE, blob))[:5]] = k
    model = GPOD(3, max_cluster_size=110).fit(X, known_labels=known)
    sizes = sizes_of(model.labels_)
    assert sizes.max() <= 110
    assert (model.labels_[TRUE == 2] == 0).all() and (model.labels_[TRUE == 1] == 2).all()
    model.save(tmp_path / "model.eigencut")
    with pytest.raises(ValueError, match="without known labels"):
        load(tmp_path / "model.eigencut").update(X)
    together = Constraints(must_link=[(0, 1)])
    assert sizes_of(GPOD(3, max_cluster_size=110).fit(X, constraints=together).labels_).max() <= 110


def test_streams_tables_and_updates():
    stream = GPOD(3, affinity="landmarks", max_cluster_size=0.36).fit(Rows.from_array(X))
    assert sizes_of(stream.predict(X)).max() <= 0.4 * len(X)  # by the masses of landmarks
    table = TableModel(GPOD(3, min_cluster_size=90)).fit(X)
    assert sizes_of(table.labels_).min() >= 90
    model = GPOD(3, max_cluster_size="equal").fit(X)
    model.update(X + 0.01)
    assert model.updated_.kept == (0, 1, 2)
    assert set(model.updated_.sizes.values()) == {200.0}


@pytest.mark.parametrize(
    ("limits", "said"),
    [
        ({"min_cluster_size": 101}, "3 clusters x 101 = 303, more than the 300 rows"),
        ({"max_cluster_size": 99}, "3 clusters x 99 = 297, fewer than the 300 rows"),
        ({"max_cluster_size": 0.2}, "3 clusters x 60 = 180, fewer than the 300 rows"),
        ({"min_cluster_size": "equal", "max_cluster_size": 200}, "must agree"),
        ({"min_cluster_size": 0}, "min_cluster_size must be None, a number of rows"),
        ({"max_cluster_size": 1.5}, "max_cluster_size must be None, a number of rows"),
        ({"max_cluster_size": float("nan")}, "max_cluster_size must be"),
        ({"max_cluster_size": True}, "max_cluster_size must be"),
        ({"min_cluster_size": "half"}, "Got 'half'"),
    ],
)
def test_limits_that_cannot_hold_are_refused(limits, said):
    with pytest.raises(ValueError, match=said):
        GPOD(3, **limits).fit(X)


def test_votes_of_a_file_are_bounded(tmp_path):
    from dataclasses import replace

    model = GPOD(3, max_cluster_size="equal").fit(X)
    model.fitted_cut_ = replace(model.fitted_cut_, votes=0 * model.fitted_cut_.votes)
    model.save(tmp_path / "model.eigencut")
    with pytest.raises(ModelFileError, match="votes"):
        load(tmp_path / "model.eigencut")


def test_command_line(tmp_path, capsys):
    path, model = tmp_path / "rows.csv", tmp_path / "model.eigencut"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    fit = ["fit", str(path), "-k", "3", "-o", str(model), "--json"]
    assert main([*fit, "--min-size", "80", "--max-size", "0.4"]) == 0
    sizes = json.loads(capsys.readouterr().out)["sizes"]
    assert min(sizes) >= 80 and max(sizes) <= 120
    assert main([*fit, "--max-size", "equal"]) == 0
    assert json.loads(capsys.readouterr().out)["sizes"] == [100, 100, 100]
    assert main([*fit, "--max-size", "most"]) == 2
    assert "a share of them below 1, or 'equal'" in capsys.readouterr().err


def test_moons_of_equal_size():
    rows, moon = make_moons(600, noise=0.12, random_state=0)
    labels = GPOD(2, max_cluster_size="equal").fit(rows).labels_
    assert sizes_of(labels, 2).tolist() == [300, 300]
    assert max((labels == moon).mean(), (labels != moon).mean()) > 0.95


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
@pytest.mark.parametrize("seed", [10, 17])
def test_repeated_rows_end_in_no_loop(seed):
    """Moves of rows that count differently once went around a cycle for ever."""
    rows = load_wine().data[np.random.default_rng(seed).integers(0, 140, 140)]
    sizes = sizes_of(GPOD(3, max_cluster_size="equal").fit(rows).labels_)
    assert sizes.max() <= 49
