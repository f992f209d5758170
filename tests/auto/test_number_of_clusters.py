"""Automatic K: as far as the spectrum goes, candidates, their edge, one cluster, any order."""

import warnings
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, GraphWarning, Neighbors, Rows, load, select
from eigencut.auto.n_clusters import (
    Candidates,
    default_affinities,
    find_number,
    may_be_one_cluster,
    numbers_of_graph,
    sure_score,
)
from eigencut.auto.policy import POLICY
from eigencut.auto.spectrum import Spectrum, conductance
from eigencut.cut import CUTS
from eigencut.solvers.relaxed_cut import pieces_of


def grid_of_blobs(K, per_cluster, seed=0):
    """Blobs on a grid whose places are 10 apart: each is a cluster, and no coarser cut is one."""
    side = int(np.ceil(np.sqrt(K)))
    places = 10.0 * np.array([(i // side, i % side) for i in range(K)])
    return make_blobs(K * per_cluster, 2, centers=places, random_state=seed)


@pytest.mark.parametrize("K", [12, 20, 45])
def test_more_than_ten_clusters_are_found_exactly(K):
    X, y = grid_of_blobs(K, 40)
    model = GPOD("auto").fit(X)
    assert model.n_clusters_ == K
    assert adjusted_rand_score(y, model.labels_) > 0.99


def test_a_range_is_kept_to_and_warned_about_at_its_edge():
    X, _ = grid_of_blobs(12, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error", GraphWarning)
        assert GPOD(range(2, 31)).fit(X).n_clusters_ == 12
        assert GPOD([13, 12, 3]).fit(X).n_clusters_ == 12
    with pytest.warns(
        GraphWarning, match=r"12, is the largest candidate.*range\(2, 25\), or 'auto'"
    ):
        assert GPOD("2-12").fit(X).n_clusters_ == 12


def test_candidates_survive_clone_and_file(tmp_path):
    X, _ = grid_of_blobs(4, 30)
    for candidates, words in ((range(2, 9), "2-8"), ([2, 4, 8], "2,4,8"), ("auto", "auto")):
        model = clone(GPOD(candidates)).fit(X)
        model.save(tmp_path / "model.eigencut")
        again = load(tmp_path / "model.eigencut")
        assert again.n_clusters == words
        assert clone(again).fit(X).n_clusters_ == model.n_clusters_ == 4


def test_rows_of_single_precision_have_candidates_too():
    X, _ = grid_of_blobs(4, 30)
    assert GPOD(range(2, 9)).fit(X.astype(np.float32)).n_clusters_ == 4


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("5-2", "n_clusters must be numbers of at least 1, like 2-10 or 2,4,8. Got '5-2'"),
        ("many", "n_clusters must be an integer of at least 1. Got 'many'; use a number"),
        ([2, 2.5], "n_clusters must be an integer of at least 1. Got 2.5; give candidates"),
        ([1], r"n_clusters must hold a candidate of at least 2 .* Got \[1\]; add data"),
        (range(0), "n_clusters must hold a candidate of at least 2 .* Got range"),
        (None, "n_clusters must be an integer of at least 1. Got None"),
    ],
)
def test_wrong_candidates_are_named(wrong, message):
    with pytest.raises(ValueError, match=message):
        GPOD(wrong).fit(np.arange(20.0).reshape(10, 2))


@pytest.mark.parametrize("n_rows", [100, 1000])
def test_of_clear_clusters_one_start_on_some_rows_is_enough(n_rows, monkeypatch):
    monkeypatch.setattr("eigencut.auto.spectrum.POLICY", replace(POLICY, few_rows=n_rows))
    X, y = grid_of_blobs(6, 60)
    affinity = Neighbors(10)
    pieces = pieces_of(affinity.fit_graph(X), affinity)
    spectrum = Spectrum.from_pieces(pieces, affinity, CUTS["ncut"], 7, n_rough=7)
    labels = spectrum.partition(6).labels[spectrum.graph.vertex_of_row]
    assert adjusted_rand_score(y, labels) > 0.99


def test_the_sure_score_falls_with_the_rows():
    assert sure_score(100) > 1.9
    assert sure_score(400) <= 1.3
    assert sure_score(10_000) > 0.59


def test_the_bound_keeps_the_best_of_all_scores():
    """What is left out cannot have been better, where all gaps are looked at."""
    for seed in range(4):
        X = np.random.default_rng(seed).normal(size=(90, 2))
        affinity = Neighbors(8)
        graph = affinity.fit_graph(X)
        candidates = Candidates.parse(range(2, 9))
        some = numbers_of_graph(graph, affinity, candidates)
        every = numbers_of_graph(graph, affinity, candidates, every=True)
        assert len(every.choices) == 7
        assert {(c.n_clusters, c.score) for c in some.choices} <= {
            (c.n_clusters, c.score) for c in every.choices
        }
        assert some.best.score == max(c.score for c in every.choices)
        spectrum = Spectrum.from_pieces(pieces_of(graph, affinity), affinity, CUTS["ncut"], 9)
        for choice in every.choices:
            score = conductance(spectrum, choice.n_clusters)
            score -= choice.n_clusters > 3 and score < 1  # of fewer than 30 rows, and not clear
            assert choice.score == pytest.approx(score, rel=0.02, abs=0.02)


def test_a_matrix_may_come_in_any_order():
    """A graph that is sorted by class, of more rows than K is decided on otherwise."""
    X, y = grid_of_blobs(8, 700, seed=3)
    first = np.lexsort(X.T[::-1])  # so that vertices are rows, in their order
    W, y = sparse.csr_array(Neighbors(8).fit_graph(X[first]).among(None)), y[first]
    order = np.argsort(y, kind="stable")
    for rows in (order, np.random.default_rng(0).permutation(len(y))):
        model = GPOD("auto", affinity="precomputed").fit(W[rows][:, rows])
        assert model.n_clusters_ == 8
        assert adjusted_rand_score(y[rows], model.labels_) > 0.999


# ------------------------------------------------------------------ one cluster


@pytest.mark.parametrize("seed", range(4))
def test_uniform_noise_in_ten_dimensions_is_one_cluster(seed):
    X = np.random.default_rng(seed).uniform(size=(300, 10))
    with pytest.warns(GraphWarning, match=r"look like one cluster.*p > 0.05.*give n_clusters"):
        model = GPOD("auto").fit(X)
    assert model.n_clusters_ == 1
    assert not model.labels_.any() and not model.predict(X).any()
    assert (model.predict_proba(X) == 1).all()


def test_one_is_no_answer_where_it_is_no_candidate():
    X = np.random.default_rng(0).normal(size=(200, 2))
    with pytest.warns(GraphWarning, match="The rows may be one cluster: . clusters"):
        assert GPOD(range(2, 5)).fit(X).n_clusters_ >= 2
    with pytest.warns(GraphWarning, match="look like one cluster"):
        assert GPOD(range(1, 5)).fit(X).n_clusters_ == 1


def test_a_stream_of_one_cluster():
    X = np.random.default_rng(1).normal(size=(500, 3))
    with pytest.warns(GraphWarning, match="look like one cluster"):
        assert GPOD("auto").fit(Rows.from_array(X)).n_clusters_ == 1


def test_the_quick_test_tells_two_clusters_from_one():
    """Also with many more columns than are compared, and more rows."""
    rng = np.random.default_rng(2)
    for n, d in ((60, 2), (1500, 3), (150, 60)):
        one = rng.normal(size=(n, d))
        two = one + 12 * (np.arange(n)[:, np.newaxis] % 2) * (np.arange(d) == 0)
        assert not may_be_one_cluster(two, Neighbors(10), 2)
        assert may_be_one_cluster(one, Neighbors(10), 2)


# ------------------------------------------------------------------ select


def test_select_goes_as_far_and_gives_a_frame_and_a_picture():
    pandas, pyplot = pytest.importorskip("pandas"), pytest.importorskip("matplotlib.pyplot")
    X, _ = grid_of_blobs(12, 30)
    found = select(X)
    assert found.best.n_clusters == found.model.n_clusters_ == 12
    frame = found.to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert list(frame.columns) == ["n_clusters", "affinity", "score"]
    assert frame["n_clusters"][0] == 12 and frame["score"].is_monotonic_decreasing
    ax = found.plot()
    drawn = {tuple(point) for line in ax.get_lines() for point in line.get_xydata()}
    assert {(c.n_clusters, c.score) for c in found.choices} <= drawn
    assert found.plot(ax) is ax
    pyplot.close(ax.figure)


def test_select_scores_every_candidate_that_is_given():
    X, _ = grid_of_blobs(4, 30)
    found = select(X, range(2, 13))
    assert sorted({c.n_clusters for c in found.choices}) == list(range(2, 13))


def test_select_takes_tfidf_of_texts():
    words = (
        ("cat", "dog", "paw", "fur"),
        ("bond", "stock", "fund", "rate"),
        ("rain", "sun", "fog"),
    )
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[i % 3], 6)) for i in range(150)]
    X = TfidfVectorizer().fit_transform(texts)
    found = select(X)
    assert found.best.n_clusters == 3
    assert adjusted_rand_score(np.arange(150) % 3, found.model.labels_) > 0.99
    assert select(X, affinity=Neighbors(metric="cosine")).best.n_clusters == 3


def test_clusters_of_few_rows_must_be_clear():
    """Noisy moons of few rows fall into handfuls by chance; blobs as small do not."""
    for seed in range(6):
        X, _ = make_moons(300, noise=0.1, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = find_number(X, default_affinities(X), Candidates.parse("auto"))
        assert found.best.n_clusters <= 10 or found.best.score >= 1
    X, _ = make_blobs(200, centers=15, n_features=5, random_state=0)
    found = find_number(X, default_affinities(X), Candidates.parse("auto"))
    assert found.best.n_clusters == 15


def test_what_stands_out_of_few_rows_must_be_clearer():
    X, _ = make_moons(300, noise=0.13, random_state=50)
    with pytest.warns(UserWarning, match=r"No number of clusters stands out.*not above 0\.8"):
        GPOD("auto").fit(X)


def test_one_column_of_one_cluster_is_one_cluster():
    """The level is 0.05; 6 of 60 are two standard errors above."""
    found = 0
    for seed in range(60):
        rows = np.random.default_rng([7, seed]).normal(size=(40, 1))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            found += GPOD("auto").fit(rows).n_clusters_ > 1
    assert found <= 6


def test_clusters_with_gaps_are_not_one_though_a_further_split_shows_nothing():
    rng = np.random.default_rng(1)
    for sizes in ((400, 2000), (440, 900, 1000)):
        y = np.repeat(np.arange(len(sizes)), sizes)
        X = (20.0 * y + rng.normal(size=len(y)))[:, np.newaxis]
        assert GPOD("auto").fit(X).n_clusters_ == len(sizes)


@pytest.mark.parametrize("K", ["auto", "1-4"])
@pytest.mark.filterwarnings("ignore:The graph has 2 connected components")
def test_two_groups_with_a_wide_gap_are_two_with_landmarks(K):
    """Five nearest landmarks of so few rows make pieces of one cluster, too; gaps they are not."""
    X = np.random.default_rng(0).normal(size=(240, 2)) + 10 * np.repeat([[0], [1]], 120, axis=0)
    assert GPOD(K, affinity="landmarks").fit(X).n_clusters_ == 2


def test_too_small_candidates_are_not_taken_for_one_cluster():
    X, _ = make_blobs(500, centers=5, cluster_std=0.2, random_state=3)
    for given in ("2-4", [2]):
        with pytest.warns(GraphWarning, match="Use n_clusters=5") as heard:
            GPOD(given).fit(X)
        assert not [one for one in heard if "one cluster" in str(one.message)]
    assert GPOD(np.array(5)).fit(X).n_clusters_ == 5


@pytest.mark.parametrize("n_rows", [600, 1200])
def test_clusters_inside_clusters_are_found(n_rows):
    """Two far groups, of two and of three clusters that nearly touch."""
    centers = [[0, 0], [4.5, 0], [30, 0], [34.5, 0], [30, 4.5]]
    X, y = make_blobs(n_rows, centers=centers, random_state=3)
    model = GPOD("auto").fit(X)
    assert model.n_clusters_ == 5
    assert adjusted_rand_score(y, model.labels_) > 0.9
    assert select(X).best.n_clusters == 5


def test_one_cluster_is_not_split_further():
    """Moons and rings are long: parts of them are cut easily, and are not clusters."""
    rng = np.random.default_rng(5)
    for draw in (make_moons, partial(make_circles, factor=0.4)):
        X = draw(600, noise=0.05, random_state=7)[0]
        X = np.vstack([X, X + 20])  # two far copies
        model = GPOD("auto").fit(X[rng.permutation(len(X))])
        assert model.n_clusters_ == 4


def test_gaps_that_show_fewer_clusters_than_any_candidate_silence_no_warning():
    X, _ = make_blobs(1000, centers=5, random_state=0)  # in two groups far apart
    with pytest.warns(GraphWarning, match="The rows may be one cluster: 8"):
        GPOD(range(6, 10)).fit(X)
