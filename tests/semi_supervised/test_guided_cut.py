"""Models that know labels or pairs: what must always be true of them."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import eigencut
from eigencut import GPOD, Constraints, Gaussian, Kernel, Landmarks, Neighbors
from eigencut.extension.eigenfunctions import CombinedFunctions

AFFINITIES = {
    "auto": "auto",
    "gaussian": Gaussian(sigma=0.8),
    "local": Gaussian(),
    "neighbors": Neighbors(),
    "landmarks": Landmarks(n_landmarks=50),
    "function": Kernel(lambda A, B: 1 / (1 + ((A[:, None] - B) ** 2).sum(2))),
}
pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


def several_blobs(n=240, seed=0):
    """Two classes of two round clusters each, crosswise; some rows twice."""
    centers = np.array([[0, 0], [4, 4], [0, 4], [4, 0]])
    X, z = make_blobs(n, centers=centers, cluster_std=0.8, random_state=seed)
    X, y = np.vstack([X, X[:5]]), np.append(z, z[:5]) // 2
    return X, y


def some_known(y, n_known, seed=0):
    known = np.full(len(y), -1)
    rows = np.random.default_rng(seed).choice(len(y), n_known, replace=False)
    known[rows] = y[rows]
    return known


@pytest.fixture(params=AFFINITIES.values(), ids=AFFINITIES.keys())
def affinity(request):
    return request.param


def is_consistent(model, X):
    """Labels, probabilities, margins, embedding and a file agree."""
    labels = model.predict(X)
    assert (labels == model.labels_).all()
    assert (model.predict_proba(X).argmax(axis=1) == labels).all()
    assert [model.predict(X[i : i + 1])[0] for i in range(0, len(X), 19)] == labels[::19].tolist()
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-8
    assert ((model.predict_margin(X) >= 0) & (model.predict_margin(X) <= 1)).all()


@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
def test_labels_teach_what_clusters_cannot_know(affinity, cut):
    X, y = several_blobs()
    model = GPOD(2, affinity=affinity, cut=cut).fit(X, known_labels=some_known(y, 40))
    assert isinstance(model.fitted_cut_.functions, CombinedFunctions)
    new, expected = several_blobs(400, seed=1)
    assert (model.predict(new) == expected).mean() > 0.93
    is_consistent(model, X)


def test_saved_models_are_the_same_bit_for_bit(affinity, tmp_path):
    if isinstance(affinity, Kernel):
        pytest.skip("functions are not saved")
    X, y = several_blobs()
    pairs = Constraints([(0, 1), (1, 2), (2, 3), (10, 200)])
    model = GPOD(2, affinity=affinity).fit(X, constraints=pairs)
    again = (GPOD(2, affinity=affinity).fit(X, known_labels=some_known(y, 40)), model)
    new = several_blobs(100, seed=2)[0]
    for one in again:
        one.save(tmp_path / "model.eigencut")
        for copy in (eigencut.load(tmp_path / "model.eigencut"), pickle.loads(pickle.dumps(one))):
            for rows in (X, new):
                assert (copy.predict(rows) == one.predict(rows)).all()
                assert (copy.transform(rows) == one.transform(rows)).all()
                assert (copy.predict_proba(rows) == one.predict_proba(rows)).all()
            assert (copy.labels_ == one.labels_).all()


def test_single_precision_gives_the_labels_of_double():
    X, y = several_blobs(1000)
    pairs = Constraints([(0, 1), (1, 2), (2, 3)])
    model = GPOD(2, affinity=Gaussian(0.8)).fit(
        X, known_labels=some_known(y, 60), constraints=pairs
    )
    assert model.fitted_cut_.functions.single_precision_pays(len(X))
    one_by_one = np.concatenate([model.predict(X[i : i + 50]) for i in range(0, len(X), 50)])
    assert (model.predict(X) == one_by_one).all() and (model.labels_ == one_by_one).all()


@settings(max_examples=15, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=8),
    st.lists(st.tuples(st.integers(0, 59), st.integers(0, 59)), max_size=8),
    st.sampled_from(["neighbors", "gaussian", Landmarks(n_landmarks=20)]),
    st.integers(2, 4),
)
def test_linked_rows_have_equal_labels_always(must, cannot, affinity, K):
    X = np.random.default_rng(0).standard_normal((60, 2))
    X[50:] = X[:10]
    must, cannot = ([p for p in pairs if p[0] != p[1]] for pairs in (must, cannot))
    try:
        model = GPOD(K, affinity=affinity).fit(X, constraints=Constraints(must, cannot))
    except ValueError as error:
        assert "contradict" in str(error)
        return
    for i, j in must:
        assert model.labels_[i] == model.labels_[j]
    is_consistent(model, X)


@pytest.mark.parametrize("n_clusters", [2, 4])
@pytest.mark.parametrize("swap", [[0, 1], [1, 0]])
def test_cluster_k_is_class_k(n_clusters, swap):
    X, z = make_blobs(200, centers=4, cluster_std=0.5, random_state=3)
    if n_clusters == 2:
        X, z = X[z < 2], z[z < 2]
    y = np.where(z < 2, np.array([*swap, 0, 0])[z], -1)  # two of the clusters are known of
    known = np.where(some_known(np.zeros(len(y), dtype=int), 30) == 0, y, -1)
    model = GPOD(n_clusters).fit(X, known_labels=known)
    assert (model.labels_[y >= 0] == y[y >= 0]).all()
    assert (model.labels_[y < 0] >= 2).all()
    assert adjusted_rand_score(z, model.labels_) == 1.0


def test_rows_in_another_order_get_the_same_labels():
    X, y = several_blobs()
    known = some_known(y, 40)
    pairs = np.array([(0, 7), (3, 9), (100, 30)])
    labels = GPOD(2).fit(X, known_labels=known, constraints=Constraints(pairs)).labels_
    order = np.random.default_rng(1).permutation(len(X))
    place = np.argsort(order)
    moved = GPOD(2).fit(X[order], known_labels=known[order], constraints=Constraints(place[pairs]))
    assert (moved.labels_ == labels[order]).all()


def test_pairs_teach_too():
    X, y = several_blobs(400)
    pairs = np.random.default_rng(0).integers(len(X), size=(120, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    model = GPOD(2).fit(X, constraints=Constraints(pairs[same], pairs[~same]))
    assert adjusted_rand_score(y, GPOD(2).fit(X).labels_) < 0.1
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_pairs_that_cannot_be_told_apart_are_counted():
    X = make_moons(200, noise=0.05, random_state=0)[0]
    X[1] = X[0]
    with pytest.warns(eigencut.GraphWarning, match="2 of 2 cannot-link pairs have the same label"):
        GPOD(2).fit(X, constraints=Constraints(cannot_link=[(0, 1), (0, 1)]))


def test_without_anything_known_nothing_changes():
    X, y = several_blobs()
    plain = GPOD(2).fit(X)
    unknown = GPOD(2).fit(X, known_labels=np.full(len(X), -1))
    for other in (unknown, GPOD(2).fit(X, y), GPOD(2).fit(X, some_known(y, 40))):
        assert (other.labels_ == plain.labels_).all()
        assert (other.transform(X) == plain.transform(X)).all()


@pytest.mark.parametrize("classes", [(0, 1), (1, 0)])
def test_all_rows_may_be_known(classes):
    X, y = several_blobs()
    known = np.array(classes)[y]
    model = GPOD(2).fit(X, known_labels=known)
    assert (model.labels_ == known).mean() > 0.97
    is_consistent(model, X)


def test_minus_one_is_unknown_whatever_the_other_classes_are():
    X, z = make_blobs(200, centers=[[0, 0], [9, 9]], random_state=0)
    known = np.where((z == 0) & (np.arange(200) < 20), 1, -1)
    assert (GPOD(2).fit(X, known_labels=known).labels_ == 1 - z).all()


def test_scikit_learn_hands_labels_through():
    X, y = several_blobs()
    known = some_known(y, 40)
    pipeline = make_pipeline(StandardScaler(), GPOD(2))
    assert (pipeline.fit_predict(X, gpod__known_labels=known) == y).mean() > 0.9
    full = cross_val_score(GPOD(2, affinity="gaussian"), X, y, cv=3)
    assert (full == cross_val_score(GPOD(2, affinity="gaussian"), X, cv=3)).all()
    model = GPOD(2).fit(X, known_labels=known)
    assert (GPOD(2).fit_transform(X, known_labels=known) == model.transform(X)).all()
    assert (GPOD(2).fit_predict(X, known_labels=known) == model.labels_).all()


@pytest.mark.parametrize(
    ("model", "y", "pairs", "match"),
    [
        (GPOD(2), [0, 2, -1], None, r"known_labels must hold classes from 0 to 1 .* Got 2;"),
        (GPOD(2, outliers="label"), None, [(0, 1)], "outliers must be 'keep' with must_link"),
        (GPOD(2, cut="ratiocut", extension="paper"), [0, 1, -1], None, "extension must be 'consis"),
        (GPOD(2), None, [(0, 999)], "must_link must hold numbers of rows, from 0 to 244. Got 999"),
    ],
)
def test_what_cannot_be_done_is_refused(model, y, pairs, match):
    X, _ = several_blobs()
    known = None if y is None else np.append(y, np.full(len(X) - 3, -1))
    constraints = None if pairs is None else Constraints(pairs)
    with pytest.raises(ValueError, match=match):
        model.fit(X, known_labels=known, constraints=constraints)
    assert not hasattr(model, "labels_")


@pytest.mark.parametrize("name", ["gaussian", "neighbors", "landmarks"])
def test_onnx_gives_the_same_labels(name, tmp_path):
    pytest.importorskip("onnxruntime")
    X, y = several_blobs()
    model = GPOD(2, affinity=AFFINITIES[name]).fit(X, known_labels=some_known(y, 40))
    eigencut.export.to_onnx(model, tmp_path / "model.onnx")
    new = several_blobs(200, seed=3)[0]
    outputs = eigencut.export.run_onnx(tmp_path / "model.onnx", new)
    assert (outputs["labels"] == model.predict(new)).all()
    assert np.abs(outputs["probabilities"] - model.predict_proba(new)).max() < 1e-6
    assert np.abs(outputs["embedding"] - model.transform(new)).max() < 1e-6


def with_rows_of_two_classes_linked(affinity):
    X, y = several_blobs()
    linked = [int(np.abs(X - center).sum(axis=1).argmin()) for center in ([0, 0], [0, 4])]
    known = some_known(y, 60)
    known[linked] = -1
    constraints = Constraints([linked])
    model = GPOD(2, affinity=affinity).fit(X, known_labels=known, constraints=constraints)
    return X, model, linked


def test_rows_that_digests_put_together_are_not_exported(tmp_path):
    pytest.importorskip("onnx")
    _, model, _ = with_rows_of_two_classes_linked(Gaussian(0.8))
    with pytest.raises(ValueError, match="2 must-link rows that are looked up by their digests"):
        eigencut.export.to_onnx(model, tmp_path / "model.onnx")


def test_a_saved_model_without_training_data_holds_no_linked_row(tmp_path):
    X, model, linked = with_rows_of_two_classes_linked(Landmarks(n_landmarks=50))
    assert model.fitted_cut_.functions.fixed is not None
    assert model.labels_[linked[0]] == model.labels_[linked[1]]
    model.save(tmp_path / "model.eigencut", include_training_data=False)
    content = (tmp_path / "model.eigencut").read_bytes()
    assert all(X[row].tobytes() not in content for row in linked)
    copy = eigencut.load(tmp_path / "model.eigencut")
    assert (copy.predict(X) == model.labels_).all()


def test_weights_are_numbers_of_identical_rows():
    X, y = several_blobs(120)
    known = some_known(y, 40)
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    pairs = Constraints([(0, 7), (3, 9)])
    weighted = GPOD(2, affinity="gaussian").fit(X, known_labels=known, sample_weight=weight)
    repeated = GPOD(2, affinity="gaussian").fit(
        np.repeat(X, weight, axis=0), known_labels=known.repeat(weight)
    )
    assert (weighted.predict(X) == repeated.predict(X)).all()
    assert (weighted.transform(X) == repeated.transform(X)).all()
    known[[0, 7, 3, 9]] = -1
    linked = GPOD(2).fit(X, known_labels=known, sample_weight=weight, constraints=pairs)
    assert linked.labels_[0] == linked.labels_[7] and linked.labels_[3] == linked.labels_[9]
    assert (linked.predict(X) == linked.labels_).all()
