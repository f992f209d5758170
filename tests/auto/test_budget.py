"""What a fit may take: refusals, and which graph "auto" takes."""

import json
import math
import re
import sys

import numpy as np
import pytest
from benchmarks.fit_memory import Case, measure
from scipy import sparse
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

from benchmarks import RESULTS
from conftest import change_auto_policy, in_threads
from eigencut import GPOD, Gaussian, GraphWarning, Landmarks, Neighbors, load, select
from eigencut._utils.memory import FitSizes, in_words
from eigencut.affinities import Precomputed
from eigencut.affinities.base import Affinity
from eigencut.auto.budget import Budget, landmarks_for
from eigencut.auto.n_clusters import some_rows
from eigencut.io.rows import Rows

needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
FAST = [
    Case("gaussian", 3000, 4, 3),
    Case("neighbors", 30_000, 2, 2),
    Case("neighbors", 1000, 3000, 2),
    Case("neighbors", 3000, 2000, 2, density=0.01),
    Case("auto", 1500, 1500, 2),
    Case("precomputed", 2000, 2000, 2),
    Case("precomputed", 6000, 6000, 2, density=0.005),
    Case("landmarks", 200_000, 2, 2),
    Case("stream", 200_000, 2, 2),
]
MANY = 250_000  # rows of which neighbours take more memory than landmarks


pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


@pytest.fixture(scope="module")
def many():
    return make_moons(MANY, noise=0.05, random_state=0)[0]


def needed(affinity, n_rows, d=2, K=2):
    return affinity.memory_bytes(FitSizes(n_rows, d, K))


def between(smaller, larger):
    """A limit that allows the one and not the other."""
    assert smaller < larger
    return (smaller + larger) / 2


# ------------------------------------------------------------------ what a fit takes


@needs_linux
@pytest.mark.parametrize("case", FAST, ids=str)
def test_formulas_bound_the_memory_of_a_fit(case):
    """In a process of its own; with some slack, for libraries and allocators differ."""
    found = measure(case)
    assert 0.9 < found["ratio"] < 3, found


def test_formulas_bound_what_was_measured():
    stored = json.loads((RESULTS / "fit_memory.json").read_text(encoding="utf-8"))
    graphs = {"gaussian", "neighbors", "precomputed", "auto", "landmarks", "stream"}
    assert {found["graph"] for found in stored} == graphs and len(stored) >= 60
    for found in stored:
        case = Case(*(found[size] for size in ("graph", "n", "d", "K", "threads", "density")))
        assert 1 <= case.said_mb / found["measured MB"] < 3.2, found


@pytest.mark.parametrize("affinity", [Gaussian(), Neighbors(), Landmarks()])
def test_more_takes_more(affinity):
    base = affinity.memory_bytes(FitSizes(10_000, 4, 3))
    for more in [(20_000, 4, 3), (10_000, 64, 3), (10_000, 4, 30)]:
        assert affinity.memory_bytes(FitSizes(*more)) > base
    few, many = (in_threads(n, affinity.memory_bytes, FitSizes(10**6, 64, 3)) for n in (1, 16))
    assert many > few


def test_a_stream_takes_as_much_however_long_it_is():
    rows = Landmarks().memory_bytes(FitSizes(10**9, 2, 2))
    assert Landmarks().memory_bytes(FitSizes(None, 2, 2)) < rows / 10
    assert Gaussian().memory_bytes(FitSizes(None, 2, 2)) is None  # cannot be fitted on one


# ---------------------------------------------------------------------------- refusals


def test_the_refusal_says_what_is_needed_allowed_and_to_be_done(many):
    X = many[:20_000]
    with pytest.raises(MemoryError) as error:
        GPOD(2, affinity="gaussian", memory_limit="300MB").fit(X)
    size = in_words(needed(Gaussian(), 20_000), math.ceil)
    assert str(error.value) == (
        f"memory_limit must be at least {size} to fit Gaussian() on 20000 rows. "
        "Got '300MB'; raise it, or use affinity='neighbors'."
    )


@pytest.mark.parametrize("affinity", ["auto", "neighbors", "landmarks", "gaussian"])
def test_what_is_asked_for_is_enough(affinity):
    X = np.random.default_rng(0).normal(size=(3000, 20))
    with pytest.raises(MemoryError) as error:
        GPOD(3, affinity=affinity, memory_limit="1MB").fit(X)
    asked = re.search(r"at least ([\d.]+ \w+)", str(error.value))[1]
    GPOD(3, affinity=affinity, memory_limit=asked).fit(X)


def test_without_a_limit_it_is_what_is_available(monkeypatch, many):
    monkeypatch.setattr("eigencut.auto.budget.available_bytes", lambda: 3e8)
    with pytest.raises(MemoryError) as error:
        GPOD(2, affinity=Gaussian(sigma=0.5)).fit(many[:20_000])
    size = in_words(needed(Gaussian(), 20_000), math.ceil)
    assert str(error.value) == (
        f"A fit of Gaussian(sigma=0.5) on 20000 rows would take {size} of memory, and 300 MB are "
        "available; free some, or use affinity='neighbors'."
    )


def test_where_landmarks_do_not_fit_a_stream_may(many):
    limit = between(Landmarks().memory_bytes(FitSizes(None, 2, 2)), needed(Landmarks(), MANY))
    model = GPOD(2, memory_limit=limit)
    with pytest.raises(MemoryError, match=r"to fit Landmarks\(\) on 250000 rows") as error:
        model.fit(many)
    assert str(error.value).endswith("or fit a stream of the rows (eigencut.Rows).")
    assert model.fit(Rows.from_array(many)).n_clusters_ == 2


def test_a_stream_is_refused_too(many):
    rows = Rows.from_array(many[:1000])
    limit = Landmarks().memory_bytes(FitSizes(None, 2, 2))
    expected = r"fit Landmarks\(n_landmarks=9000\) on a stream"
    with pytest.raises(MemoryError, match=expected) as error:
        GPOD(2, affinity=Landmarks(9000), memory_limit=limit).fit(rows)
    assert str(error.value).endswith("raise it, or use affinity='landmarks'.")
    with pytest.raises(MemoryError, match="raise it, or use fewer landmarks"):
        GPOD(2, memory_limit=limit - 1).fit(rows)


def test_a_limit_too_small_for_anything(many):
    with pytest.raises(MemoryError, match=r"on 300 rows\. Got 5; raise it, or fit on fewer"):
        GPOD(2, memory_limit=5).fit(many[:300])


def test_select_refuses_before_it_begins(monkeypatch, many):
    monkeypatch.setattr("eigencut.auto.budget.available_bytes", lambda: 1e9)
    with pytest.raises(MemoryError, match="available; free some, or select on some of the rows"):
        select(many, affinity="gaussian")


def test_an_affinity_of_unknown_size_is_not_refused():
    class Unknown(Precomputed):
        memory_bytes = Affinity.memory_bytes

    weights = np.exp(-np.abs(np.subtract.outer(range(6), range(6))))
    assert Unknown().memory_bytes(FitSizes(6, 6, 2)) is None
    GPOD(2, affinity=Unknown(), memory_limit=1).fit(weights)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_affinities_computed_elsewhere_are_counted(kind):
    weights = kind(np.exp(-np.abs(np.subtract.outer(range(6), range(6)))))
    with pytest.raises(MemoryError, match=r"at least .* to fit Precomputed\(\) on 6 rows"):
        GPOD(2, affinity="precomputed", memory_limit=1).fit(weights)


def test_auto_is_refused_before_anything_is_computed(monkeypatch, many):
    def fit_graph(self, X):
        raise AssertionError("a graph was made")

    monkeypatch.setattr(Neighbors, "fit_graph", fit_graph)
    with pytest.raises(MemoryError, match="memory_limit must be at least"):
        GPOD(2, memory_limit="1MB").fit(many[:3000])


@pytest.mark.parametrize("wrong", [Neighbors(n_neighbors="many"), Landmarks(n_landmarks="many")])
def test_a_wrong_parameter_is_named_before_its_memory_is_counted(wrong, many):
    with pytest.raises(ValueError, match=r"an integer of at least .* Got 'many'"):
        GPOD(2, affinity=wrong).fit(many[:100])


def test_a_wrong_limit_is_named(many):
    with pytest.raises(ValueError, match="memory_limit must be a positive number of bytes"):
        GPOD(2, memory_limit="much").fit(many[:100])


@pytest.mark.parametrize("limit", [None, 10**9, "1GB"])
def test_the_limit_is_kept_in_a_file(limit, many, tmp_path):
    GPOD(2, memory_limit=limit).fit(many[:100]).save(tmp_path / "model.eigencut")
    assert load(tmp_path / "model.eigencut").memory_limit == limit


# ------------------------------------------------------------------------------- auto


def test_auto_goes_down_the_ladder_by_memory(many):
    assert isinstance(GPOD(2).fit(many[:5000]).affinity_, Neighbors)
    limit = between(needed(Landmarks(), MANY), needed(Neighbors(), MANY))
    model = GPOD(2, memory_limit=limit).fit(many)
    assert isinstance(model.affinity_, Landmarks)
    assert len(model.labels_) == MANY


def test_auto_chooses_the_number_of_clusters_within_the_limit(many):
    few = many[:4000]
    limit = between(needed(Neighbors(), 4000, K=10), needed(Gaussian(), 4000, K=2))
    model = GPOD("auto", memory_limit=limit).fit(few)
    assert isinstance(model.affinity_, Neighbors) and model.n_clusters_ == 2


def test_auto_goes_down_the_ladder_by_rows(monkeypatch, many):
    assert isinstance(GPOD(2).fit(many[:300]).affinity_, Neighbors)
    change_auto_policy(monkeypatch, most_rows_for_neighbors=200)
    assert isinstance(GPOD(2).fit(many[:300]).affinity_, Landmarks)
    assert isinstance(GPOD(2).fit(sparse.csr_array(many[:300])).affinity_, Landmarks)


def test_auto_says_when_the_memory_of_the_moment_decided(monkeypatch, many):
    limit = between(needed(Landmarks(), MANY), needed(Neighbors(), MANY))
    monkeypatch.setattr("eigencut.auto.budget.available_bytes", lambda: limit)
    with pytest.warns(GraphWarning, match="affinity='auto' takes 'landmarks': 'neighbors' would"):
        GPOD(2).fit(many)


@pytest.mark.parametrize("n_rows", [4000, 20_000])
def test_some_rows_do_not_depend_on_the_order(n_rows, many):
    X = many[:n_rows]
    shuffled = np.random.default_rng(0).permutation(X)
    rows, counts = some_rows(X, 1000)
    assert (rows == some_rows(shuffled, 1000)[0]).all() and (counts == 1).all()
    assert len(np.unique(rows, axis=0)) == len(rows) == len(counts) <= 1000


def test_what_is_decided_on_depends_on_different_rows_only(monkeypatch, many):
    """Whether rows are there once or nine times, in the sorted way and in the sampled one."""
    X, three = many[:300], np.full(300, 3.0)
    for most in (100_000, 200):
        change_auto_policy(monkeypatch, whole_rows=most)
        once, thrice = (
            some_rows(X, 100, 3 * three),
            some_rows(np.tile(X, (3, 1)), 100, np.tile(three, 3)),
        )
        assert (once[0] == thrice[0]).all() and (once[1] == 9).all() and (thrice[1] == 9).all()


def test_auto_does_not_depend_on_the_order_of_many_rows(many):
    order = np.random.default_rng(0).permutation(20_000)
    limit = between(needed(Neighbors(), 20_000), needed(Gaussian(), 20_000))
    first = GPOD(2, memory_limit=limit).fit(many[:20_000])
    second = GPOD(2, memory_limit=limit).fit(many[:20_000][order])
    assert repr(first.affinity_) == repr(second.affinity_)
    assert (first.labels_[order] == second.labels_).all()


def test_sparse_rows_count_by_what_they_store():
    X = sparse.random_array((1000, 100_000), density=1e-4, random_state=np.random.default_rng(0))
    assert Budget.from_rows(X.tocsr(), 2).sizes.n_features == pytest.approx(10)


# ------------------------------------------------------------------ many clusters


def test_landmarks_grow_with_the_clusters():
    assert landmarks_for(2) == Landmarks().n_landmarks
    assert landmarks_for(1000) == 5 * 1000


@pytest.mark.parametrize("n_rows", [600, 6000])
def test_very_many_clusters_are_cut_without_eigenvectors(monkeypatch, n_rows):
    change_auto_policy(monkeypatch, relaxed_work=1e5)
    X, truth = make_blobs(n_rows, 8, centers=30, cluster_std=0.5, random_state=3)
    model = GPOD(30).fit(X)
    assert not hasattr(model, "eigenvalues_")
    assert adjusted_rand_score(truth, model.labels_) > 0.95
    landmarks = GPOD(30, affinity=Landmarks(300)).fit(X)
    assert not hasattr(landmarks, "eigenvalues_")
    assert adjusted_rand_score(truth, landmarks.labels_) > 0.95
