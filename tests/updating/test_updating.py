"""Models brought up to date: as if they had seen all rows, and clusters keep their numbers."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eigencut import (
    GPOD,
    Constraints,
    Gaussian,
    Kernel,
    Landmarks,
    Neighbors,
    Rows,
    align_labels,
    load,
    recluster,
)
from eigencut.affinities.landmarks import grown
from eigencut.extension.labelling import ClusterNumbers
from eigencut.inspection import label_sets, stability
from eigencut.io.sample import as_number
from eigencut.updating.update import NEW, Updated, continued, match_clusters, rows_in_common

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")

CENTRES = np.array([[0.0, 0.0], [7.0, 0.0], [0.0, 7.0]])


def rows(n, seed=0, centres=CENTRES):
    rng = np.random.default_rng(seed)
    return centres[rng.integers(len(centres), size=n)] + rng.normal(size=(n, 2))


def fitted_on_everything(first, everything, monkeypatch, **options):
    """An ordinary fit of all rows whose landmarks are those that a fit of the first placed."""
    placed = {}
    place = Landmarks._placed

    def once(self, sample):
        if "them" not in placed:
            placed["them"] = place(self, sample)
        landmarks, masses, support, _, _ = placed["them"]
        return landmarks, masses, support, sample.n_rows, as_number(sample.total)

    with monkeypatch.context() as patched:
        patched.setattr(Landmarks, "_placed", once)
        model = GPOD(**options).fit(first)
        reference = GPOD(**options).fit(everything)
    return model, reference


def bits(model, columns=slice(None)):
    """Everything that answers for new rows, to the last bit."""
    fitted, affinity = model.fitted_cut_, model.affinity_
    return [
        fitted.functions.pairs.values,
        fitted.functions.pairs.vectors,
        fitted.rotation[:, columns],
        fitted.partition.rotation[:, columns],
        affinity.multiplicity_,
        affinity.self_weights_,
        affinity._volumes,
        np.array([fitted.temperature, affinity.n_rows_, affinity.largest_weight_]),
    ]


@pytest.mark.parametrize("contrast", [0.0, 1.0])
@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
def test_landmarks_are_those_of_a_fit_of_everything_to_the_last_bit(monkeypatch, cut, contrast):
    X = rows(1500)
    affinity = Landmarks(40, density_contrast=contrast)
    options = {"n_clusters": 3, "cut": cut, "affinity": affinity}
    model, reference = fitted_on_everything(X[:900], X, monkeypatch, **options)
    model.update(X[900:1000]).update(X[1000:])
    agree = align_labels(reference, model)
    for ours, theirs in zip(bits(model), bits(agree), strict=True):
        assert (ours == theirs).all()
    assert (model.predict(X) == agree.predict(X)).all()
    assert (model.labels_ == agree.labels_[1000:]).all()


@settings(max_examples=12, deadline=None)
@given(seed=st.integers(0, 10_000), cuts=st.lists(st.integers(1, 299), max_size=4, unique=True))
def test_neither_batches_nor_their_order_nor_blocks_matter(seed, cuts):
    first, X = rows(600, seed=1), rows(300, seed=2)
    model = GPOD(3, affinity=Landmarks(30), n_init=2).fit(first)
    state = model.__dict__.copy()

    def after(batches):
        again = GPOD(3, affinity=Landmarks(30), n_init=2)
        again.__dict__ = state.copy()
        for batch in batches:
            again.update(batch)
        return bits(again)

    whole = after([X])
    batches = np.split(X, sorted(cuts))
    np.random.default_rng(seed).shuffle(batches)
    streamed = Rows(lambda: iter(np.split(X, sorted(cuts))))
    for other in (after(batches), after([streamed])):
        assert all((a == b).all() for a, b in zip(whole, other, strict=True))


def test_integer_weights_are_repeated_rows():
    first, X = rows(500), rows(80, seed=3)
    counts = np.random.default_rng(0).integers(0, 4, len(X))
    for affinity in (Landmarks(25), Neighbors(8), Gaussian(1.0)):
        one, two = (GPOD(3, affinity=affinity).fit(first) for _ in range(2))
        one.update(X, sample_weight=counts)
        two.update(np.repeat(X, counts, axis=0))
        assert (one.fitted_cut_.rotation == two.fitted_cut_.rotation).all()
        assert (one.affinity_.multiplicity_ == two.affinity_.multiplicity_).all()
        assert len(one.labels_) == len(X)


@pytest.mark.parametrize(
    "affinity", ["auto", Neighbors(8), Gaussian(1.0), Gaussian("local")], ids=str
)
def test_affinities_that_keep_rows_are_fitted_on_all_of_them(affinity):
    X = rows(240)
    X = np.vstack([X, X[:30]])  # identical rows, in both parts
    model = GPOD(3, affinity=affinity).fit(X[:200]).update(X[200:])
    reference = align_labels(GPOD(3, affinity=affinity).fit(X), model)
    assert (model.predict(X) == reference.predict(X)).all()
    assert np.abs(model.predict_proba(X) - reference.predict_proba(X)).max() < 1e-6
    assert np.allclose(model.eigenvalues_, reference.eigenvalues_)
    assert (model.labels_ == model.predict(X[200:])).all()


def test_sparse_rows_are_updated_too():
    from scipy.sparse import csr_array

    X = np.maximum(rows(150) + 3, 0).round(1)
    model = GPOD(3, affinity=Neighbors(8)).fit(csr_array(X[:100]))
    dense = GPOD(3, affinity=Neighbors(8)).fit(X[:100])
    model.update(csr_array(X[100:]))
    dense.update(X[100:])
    assert np.allclose(model.eigenvalues_, dense.eigenvalues_)


@pytest.mark.parametrize("affinity", [Landmarks(40), Neighbors(8)], ids=["landmarks", "rows"])
def test_a_new_cluster_gets_a_number_that_was_never_given(affinity):
    far = np.vstack([CENTRES, [[30.0, 30.0]]])
    model = GPOD("auto", affinity=affinity).fit(rows(600))
    before = model.predict(CENTRES)
    model.update(rows(400, 5, far))
    assert model.n_clusters_ == 4 and model.updated_.new == (3,) and not model.updated_.retired
    assert (model.predict(CENTRES) == before).all() and model.predict(far[3:]) == 3
    model.update(rows(400, 6, far), decay=0.5)
    assert model.updated_.kept == (0, 1, 2, 3)


def test_a_number_is_not_given_twice_and_columns_stay_with_numbers(tmp_path):
    """Of three clusters one dies out, and another is born, which takes the next number."""
    model = GPOD("auto", affinity=Landmarks(40)).fit(rows(900))
    dying = int(model.predict(CENTRES[:1])[0])
    centres = np.vstack([CENTRES[1:], [[30.0, 30.0]]])
    stays = model.predict(CENTRES[1:])
    for seed in range(8):
        model.update(rows(600, seed + 10, centres), decay=0.4)
    assert model.cluster_numbers_.tolist() == sorted({0, 1, 2, 3} - {dying})
    X = rows(200, 50, centres)
    labels, proba = model.predict(X), model.predict_proba(X)
    assert (model.predict(CENTRES[1:]) == stays).all() and model.predict([[30, 30]]) == 3
    assert proba.shape == (200, 4) and (proba[:, dying] == 0).all()
    assert np.allclose(proba.sum(axis=1), 1) and (proba.argmax(axis=1) == labels).all()
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    assert (again.predict(X) == labels).all() and (again.predict_proba(X) == proba).all()
    ours, theirs = model.update(X), again.update(X)
    assert all((a == b).all() for a, b in zip(bits(ours), bits(theirs), strict=True))
    path = tmp_path / "labels.npy"
    model.predict_stream(Rows.from_array(X), path)
    assert (np.load(path) == model.predict(X)).all()


def test_exports_have_the_numbers_too(tmp_path):
    pytest.importorskip("onnxruntime")
    from eigencut.export import run_onnx, to_onnx

    model = GPOD("auto", affinity=Landmarks(40)).fit(rows(900))
    centres = np.vstack([CENTRES[1:], [[30.0, 30.0]]])
    for seed in range(8):
        model.update(rows(600, seed + 10, centres), decay=0.4)
    X = rows(100, 60, centres)
    to_onnx(model, tmp_path / "model.onnx")
    found = run_onnx(tmp_path / "model.onnx", X)
    assert (found["labels"] == model.predict(X)).all() and 3 in found["labels"]
    assert np.abs(found["probabilities"] - model.predict_proba(X)).max() < 1e-6


def test_partial_fit_fits_first_and_has_the_labels_of_the_batch():
    """What BERTopic's online loop reads: ``partial_fit(batch)``, then ``labels_``."""
    model = GPOD(3, affinity=Landmarks(40))
    seen = []
    for seed in range(4):
        batch = rows(150 + seed, seed)
        assert model.partial_fit(batch) is model
        assert (model.labels_ == model.predict(batch)).all()
        seen.append(model.predict(CENTRES).tolist())
    assert model.affinity_.n_rows_ == 150 + 151 + 152 + 153
    assert seen == [seen[0]] * 4


def test_decay_forgets():
    old, new = rows(600), rows(600, 1, CENTRES + 40)
    for affinity in (Landmarks(40), Gaussian(1.0)):
        model = GPOD(3, affinity=affinity).fit(old)
        for _ in range(5):
            model.update(new, decay=0.1)
        kept = getattr(model.affinity_, "rows_", getattr(model.affinity_, "landmarks_", None))
        assert kept.min() > 30  # nothing is left of the old rows
        assert 600 <= model.affinity_.n_rows_ < 700


def test_decay_of_half_is_half_the_weight():
    first, X = rows(400), rows(200, 1)
    model = GPOD(3, affinity=Neighbors(8)).fit(first).update(X, decay=0.5)
    weight = np.repeat([0.5, 1.0], [400, 200])
    reference = GPOD(3, affinity=Neighbors(8)).fit(np.vstack([first, X]), sample_weight=weight)
    assert np.allclose(model.eigenvalues_, reference.eigenvalues_, atol=1e-12)


@pytest.mark.parametrize(
    "change, words",
    [
        ({"decay": 0}, "decay must be a number above 0 and at most 1"),
        ({"decay": 1.5}, "decay must be"),
        ({"decay": "all"}, "decay must be"),
        ({"sample_weight": [-1.0] * 20}, "sample_weight"),
    ],
)
def test_bad_arguments_are_refused_and_change_nothing(change, words):
    model = GPOD(2, affinity=Landmarks(10)).fit(rows(200))
    state = dict(model.__dict__)
    with pytest.raises(ValueError, match=words):
        model.update(rows(20), **change)
    assert model.__dict__ == state


def test_what_cannot_be_updated_says_so():
    X = rows(40)
    W = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    with pytest.raises(ValueError, match="Precomputed, which has neither; fit it again"):
        GPOD(2, affinity="precomputed").fit(W).update(W)
    with pytest.raises(ValueError, match="Precomputed, which has neither"):
        GPOD(2, affinity="precomputed").fit(W).drift(W)
    with pytest.raises(TypeError, match="rows in memory for a model with Neighbors"):
        GPOD(2, affinity=Neighbors(5)).fit(X).update(Rows.from_array(X))
    with pytest.raises(ValueError, match="features"):
        GPOD(2, affinity=Neighbors(5)).fit(X).update(X[:, :1])


def test_a_kernel_is_updated_by_its_rows():
    from sklearn.metrics.pairwise import laplacian_kernel

    X = rows(90)
    model = GPOD(3, affinity=Kernel(laplacian_kernel)).fit(X[:60]).update(X[60:])
    reference = GPOD(3, affinity=Kernel(laplacian_kernel)).fit(X)
    assert np.allclose(model.eigenvalues_, reference.eigenvalues_)


def test_an_update_that_fails_leaves_the_model(monkeypatch):
    X = rows(300)
    model = GPOD(3, affinity=Landmarks(20)).fit(X)
    state, answers = dict(model.__dict__), model.predict_proba(X)
    monkeypatch.setattr(GPOD, "_set_cut", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        model.update(X)
    assert model.__dict__ == state and (model.predict_proba(X) == answers).all()


def test_a_cluster_that_has_gone_is_forgotten_as_a_whole():
    places = np.array([[0, 0], [14, 0], [0, 14]])
    model = GPOD("auto", affinity=Landmarks(60)).fit(rows(900, 0, places))
    given = GPOD(3, affinity=Landmarks(60)).fit(rows(900, 0, places))
    before, going = model.predict(places), int(model.predict(places[:1])[0])
    for seed in range(1, 7):
        model.update(rows(600, seed, places[1:]), decay=0.6)
        assert (model.predict(places[1:]) == before[1:]).all()
        if seed < 6:
            given.update(rows(600, seed, places[1:]), decay=0.6)
    assert going not in model.cluster_numbers_ and model.n_clusters_ == 2
    assert np.linalg.norm(model.affinity_.landmarks_ - places[0], axis=1).min() > 7
    assert model.affinity_.n_rows_ == pytest.approx(model.affinity_.multiplicity_.sum(), rel=1e-6)
    # With K given it stays: one of the others would have to be cut in its place.
    assert (given.predict(places) == before).all() and not given.updated_.retired


def test_a_cluster_that_is_always_small_is_kept_as_long_as_rows_of_it_come():
    """It has a fourteenth of the rows of an average one, which once it stays away is too little."""
    places, share = np.array([[0, 0], [14, 0], [0, 14], [14, 14]]), [0.327, 0.327, 0.328, 0.018]
    rng = np.random.default_rng(0)
    X, more = (places[rng.choice(4, n, p=share)] + rng.normal(size=(n, 2)) for n in (4000, 4000))
    model = GPOD(3, affinity=Landmarks(200)).fit(X)
    landmarks, judged = model.affinity_.landmarks_, model.fitted_cut_.outlier_threshold
    labels = np.linalg.norm(landmarks[:, np.newaxis] - places, axis=2).argmin(axis=1)
    for batch, is_kept in ((more, True), (more[np.linalg.norm(more - 14, axis=1) > 7], False)):
        found = grown(model.affinity_, batch, None, judged, 0.6, labels)
        assert (found.places[labels == 3] >= 0).any() == is_kept
        assert (found.places[labels != 3] >= 0).mean() > 0.9
    # Without decay nothing is forgotten.
    found = grown(model.affinity_, batch, None, judged, 1.0, labels)
    assert (found.places == np.arange(len(labels))).all()


def test_the_last_cluster_but_one_may_go():
    model = GPOD("auto", affinity=Landmarks(60)).fit(rows(900, 0, CENTRES[:2] * 2))
    stays = model.predict(CENTRES[:1])
    for seed in range(8):
        model.update(rows(600, seed + 1, CENTRES[:1]), decay=0.6)
    assert model.n_clusters_ == 1 and (model.predict(rows(50, 9, CENTRES[:1])) == stays).all()
    two = GPOD([2, 3], affinity=Landmarks(60)).fit(rows(900, 0, CENTRES[:2] * 2))
    for seed in range(8):  # where one cluster is no answer, there are two
        two.update(rows(600, seed + 1, CENTRES[:1]), decay=0.6)
    assert two.n_clusters_ in (2, 3)


@pytest.mark.parametrize("seed", [3, 9])
def test_numbers_stay_in_a_stream(seed):
    """Clusters that move, appear, two at a time, and vanish; twenty batches of few rows."""
    rng = np.random.default_rng(seed)
    places = 9.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1], [2, 0], [2, 1]])[rng.permutation(6)]
    paces = rng.uniform(-0.05, 0.05, (6, 2))
    born, gone = [0, 0, 0, 5, 10, 10], [8, 14, 20, 20, 20, 20]
    model, numbers = GPOD("auto", affinity=Landmarks(100), n_init=2), {}
    for time in range(20):
        there = [k for k in range(6) if born[k] <= time < gone[k]]
        centres = places + time * paces
        kind = rng.choice(there, 500)
        model.partial_fit(centres[kind] + rng.normal(size=(500, 2)), decay=0.7)
        found = dict(zip(there, model.predict(centres[there]).tolist(), strict=True))
        assert len(set(found.values())) == len(there)
        assert all(numbers.setdefault(k, number) == number for k, number in found.items())


def test_numbers_stay_where_landmarks_are_as_many_as_rows():
    """A row that is a landmark has support that no other row has."""
    rng = np.random.default_rng(0)
    places = 9.0 * np.array([[0, 0], [1, 0], [0, 1], [1, 1]])
    model, numbers = GPOD("auto", affinity=Landmarks(300), n_init=2), []
    for time in range(8):
        there = [0, 1, 2] if time < 4 else [0, 1, 2, 3]
        kind = rng.choice(there, 300)
        model.partial_fit(places[kind] + rng.normal(size=(300, 2)), decay=0.7)
        found = model.predict(places[:3]).tolist()
        numbers = found if time == 0 else numbers
        assert found == numbers
        assert model.n_clusters_ == len(there)
        assert len(model.affinity_.landmarks_) < 400
    assert model.updated_.n_new_landmarks == 0


def test_few_rows_at_a_time_do_not_add_landmarks_without_end():
    model = GPOD("auto", affinity=Landmarks(200), n_init=2)
    for seed in range(8):
        model.partial_fit(rows(80, seed), decay=0.7)
    assert len(model.affinity_.landmarks_) <= 100  # of about 250 rows that are not forgotten


@pytest.mark.parametrize("affinity", [Landmarks(150), "auto"])
def test_a_new_cluster_that_is_small_beside_the_others_costs_none_of_them(affinity):
    """Less than a sixteenth of an average cluster, but a component of the graph."""
    first = rows(6000)
    model = GPOD("auto", affinity=affinity, n_init=2).fit(first)
    before = model.predict(first)
    far = rows(60, 1, np.array([[60.0, 60.0]]))
    batch = np.vstack([rows(240, 2), far])
    model.update(batch)
    assert model.n_clusters_ == 4 and model.updated_.new == (3,)
    assert (model.predict(first) == before).mean() > 0.999
    assert (model.predict(far) == 3).all()
    assert (model.labels_ == model.predict(batch)).all()


@pytest.mark.parametrize("outliers", ["keep", "label"])
def test_labels_after_an_update_are_those_of_predict(outliers):
    model = GPOD("auto", affinity=Landmarks(100), outliers=outliers, n_init=2).fit(rows(2000))
    batch = np.vstack([rows(300, 1), [[500.0, 500.0]]])
    weight = np.r_[0.0, 0.0, np.ones(299)]
    for weights in (None, weight):
        model.update(batch, sample_weight=weights)
        assert (model.labels_ == model.predict(batch)).all()


# ---------------------------------------------------------------------------------- numbers


def best_by_brute_force(together):
    """The most rows in common over all one-to-one assignments."""
    n_after, n_before = together.shape
    size = max(n_after, n_before)
    square = np.zeros((size, size))
    square[:n_after, :n_before] = together
    return max(
        sum(square[i, j] for i, j in enumerate(order))
        for order in itertools.permutations(range(size))
    )


labels_of_places = st.integers(1, 40).flatmap(
    lambda n: st.tuples(
        st.lists(st.integers(0, 3), min_size=n, max_size=n),
        st.lists(st.integers(0, 4), min_size=n, max_size=n),
    )
)


@settings(max_examples=100, deadline=None)
@given(labels_of_places, st.permutations(range(5)))
def test_matching_is_optimal_and_does_not_depend_on_numbering(labels, order):
    before, after = map(np.array, labels)
    sizes = np.bincount(after, minlength=5).astype(float)
    together = np.zeros((5, 4))
    np.add.at(together, (after, before), 1)
    assert (rows_in_common(before, after, np.ones(len(before)), (5, 4)) == together).all()
    matched = match_clusters(together, sizes)
    # Those that go on share more than half of the smaller, and none is taken twice.
    going_on = np.flatnonzero(matched != NEW)
    assert len(set(matched[going_on])) == len(going_on)
    for k in going_on:
        smaller = min(sizes[k], together[:, matched[k]].sum())
        assert together[k, matched[k]] > smaller / 2
    assert sum(together[k, matched[k]] for k in going_on) <= best_by_brute_force(together)
    # More than half of both is a match whatever else there is.
    for k, j in itertools.product(range(5), range(4)):
        if together[k, j] > max(sizes[k], together[:, j].sum()) / 2:
            assert matched[k] == j
    renamed = np.array(order)[after]
    again = match_clusters(
        rows_in_common(before, renamed, np.ones(len(before)), (5, 4)), sizes[np.argsort(order)]
    )
    mine = {(int(matched[k]), k) for k in going_on}
    strict = {(j, k) for j, k in mine if together[k, j] > max(sizes[k], together[:, j].sum()) / 2}
    assert all(again[order[k]] == j for j, k in strict)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True),
    st.integers(0, 5),
    st.data(),
)
def test_numbers_are_kept_or_never_given_before(old, n_new, data):
    numbers = ClusterNumbers(np.array(sorted(old)), max(old) + 1 + data.draw(st.integers(0, 3)))
    kept = data.draw(st.lists(st.integers(0, len(old) - 1), unique=True))
    matched = np.array(data.draw(st.permutations([*kept, *[NEW] * n_new])), dtype=int)
    if not len(matched):
        return
    columns, after = continued(numbers, matched, np.arange(len(matched), dtype=float))
    assert sorted(columns.tolist()) == list(range(len(matched)))
    assert (np.diff(after.numbers) > 0).all() and after.n_given == numbers.n_given + n_new
    for column, number in zip(columns, after.numbers, strict=True):
        if matched[column] == NEW:
            assert number >= numbers.n_given
        else:
            assert number == numbers.numbers[matched[column]]


def test_align_labels_undoes_any_renumbering():
    X = rows(300)
    for affinity in (Landmarks(25), Neighbors(8)):
        model = GPOD(3, affinity=affinity).fit(X)
        for order in itertools.permutations(range(3)):
            other = GPOD(3, affinity=affinity).fit(X)
            other._renumber(np.array(order), ClusterNumbers.of_fit(3))
            assert (other.predict(X) == np.argsort(order)[model.predict(X)]).all()
            assert (other.labels_ == other.predict(X)).all()
            for places in (None, X):
                again = align_labels(other, model, places)
                assert (again.predict(X) == model.predict(X)).all()
                assert (again.labels_ == model.labels_).all()


def test_align_labels_says_what_is_missing():
    X = rows(40)
    W = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=2))
    matrix, model = GPOD(2, affinity="precomputed").fit(W), GPOD(2, affinity=Neighbors(5)).fit(X)
    with pytest.raises(ValueError, match="must be over the same columns"):
        align_labels(model, matrix)
    with pytest.raises(ValueError, match="X must be given for a reference with Precomputed"):
        align_labels(matrix, matrix)


LABELS = np.where(np.arange(80) % 40 < 3, np.arange(80) // 40, -1)  # which the clusters respect


@pytest.mark.parametrize(
    "known",
    [
        {"constraints": Constraints(must_link=[(0, 79)])},
        {"constraints": Constraints(cannot_link=[(0, 79)])},
        {"known_labels": LABELS},
        {"known_labels": np.where(LABELS < 0, -1, 1 - LABELS)},
    ],
    ids=["changed", "respected", "labels", "swapped"],
)
@pytest.mark.parametrize("options", [{}, {"affinity": Landmarks(20)}, {"min_cluster_size": 40}])
def test_a_model_that_knows_labels_or_pairs_is_not_updated_without_them(tmp_path, known, options):
    """Also where they changed nothing: the next cut might not respect them."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(40, 2)), rng.normal(6, 1, size=(40, 2))])
    model = GPOD(2, **options).fit(X, **known)
    before = model.predict(X)
    model.save(tmp_path / "model.eigencut")
    for each in (model, load(tmp_path / "model.eigencut")):
        with pytest.raises(ValueError, match="without known labels and pairs to be updated"):
            each.update(X[:10])
        assert (each.predict(X) == before).all()
    GPOD(2, **options).fit(X, known_labels=np.full(80, -1)).update(X[:10])  # nothing is known


def test_what_speaks_of_clusters_minds_numbers_with_gaps():
    """Cluster 1 goes: the others are described under their numbers; what cannot, says so."""
    rng = np.random.default_rng(0)
    places = np.array([[0.0, 0.0], [20.0, 0.0], [0.0, 20.0]])
    X = np.vstack([place + rng.normal(size=(60 - 10 * k, 2)) for k, place in enumerate(places)])
    model = GPOD("auto", affinity="gaussian").fit(X)
    left = np.vstack([X[:60], X[110:]])
    for _ in range(6):
        model.update(left, decay=0.4)
    assert model.cluster_numbers_.tolist() == [0, 2]
    assert [one.cluster for one in model.describe(left).clusters] == [0, 2]
    for ask in (
        lambda: recluster(model, cluster=0),
        lambda: stability(model, left),
        lambda: label_sets(model, left),
    ):
        with pytest.raises(ValueError, match=r"clusters 0 to K-1 .* Got clusters 0, 2"):
            ask()


@pytest.mark.parametrize("affinity", [Landmarks(30), Neighbors(8)], ids=["landmarks", "rows"])
def test_a_graph_in_pieces_is_said_once(affinity):
    """At the fit, or at the update that it falls into pieces at; a fit again says it again."""
    far = CENTRES * 30

    def pieces(call):
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            call()
        return sum("connected components" in str(one.message) for one in heard)

    model = GPOD(3, affinity=affinity)
    assert pieces(lambda: model.partial_fit(rows(300, 0, far))) == 1
    assert model.n_components_found_ > 1
    for seed in (1, 2):
        assert pieces(lambda: model.partial_fit(rows(60, seed, far))) == 0  # noqa: B023
    assert pieces(lambda: model.fit(rows(300, 0, far))) == 1
    whole = GPOD("auto", affinity=affinity).fit(rows(400, 0, CENTRES / 4))
    assert whole.n_components_found_ == 1
    assert pieces(lambda: whole.update(rows(200, 1, CENTRES + 500))) == 1
    assert pieces(lambda: whole.update(rows(200, 2, CENTRES + 500))) == 0


def test_printed_sizes_add_up():
    """Of landmarks, and after decay, they are fractions."""
    sizes = {0: 326.4, 1: 288.4, 3: 285.2}
    lines = str(Updated((0, 1), (3,), (), sizes, sum(sizes.values()))).splitlines()
    assert lines[0].startswith("900 rows, ")
    assert lines[1:] == ["  kept     0 (326 rows), 1 (289 rows)", "  new      3 (285 rows)"]
