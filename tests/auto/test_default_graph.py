"""What the default takes: one yardstick for all cuts, and clusters with wide gaps as they are."""

import numpy as np
import pytest
from scipy.cluster.hierarchy import fcluster, linkage
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from conftest import change_auto_policy, same_partition
from eigencut import GPOD, Gaussian, Neighbors, RankedNeighbors
from eigencut.auto.gaps import clusters_with_gaps
from eigencut.auto.graph import Judges
from eigencut.auto.policy import POLICY
from eigencut.exceptions import GraphWarning
from eigencut.neighbors.search import Index

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


def judges_of(X, K, weight=None):
    return Judges(RankedNeighbors().search(X, weight), K, "euclidean")


def gaps_of(judges):
    return clusters_with_gaps(judges.searched, judges.rows, judges.n_clusters)


def of_vertices(judges, values):
    """Values of rows, at the vertices that stand for them."""
    found = np.empty(judges.n, dtype=values.dtype)
    found[judges.searched.distinct.vertex_of_row] = values
    return found


def groups(sizes, distance, seed=0, d=2):
    """Round clusters of standard deviation 1 on a zigzag, so far apart."""
    y = np.repeat(np.arange(len(sizes)), sizes)
    centers = np.zeros((len(sizes), d))
    centers[:, 0], centers[:, 1] = np.arange(len(sizes)), np.arange(len(sizes)) % 2
    return distance * centers[y] + np.random.default_rng(seed).normal(size=(len(y), d)), y


def tied_table(n=270, seed=0):
    """A table like those of patients: small integers, 0 and 1, equal rows; two kinds of them."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n)
    columns = [rng.poisson(2 + 6 * y), rng.random(n) < 0.1 + 0.8 * y, rng.integers(4, size=n)]
    columns += [rng.binomial(6, 0.2 + 0.5 * y), np.round(rng.normal(size=n) + 2 * y)]
    X = np.column_stack(columns).astype(float)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


# ------------------------------------------------------------------ the yardstick


def yardstick(graphs, rows, counts, labels, K):
    """J, by loops over pairs of vertices."""
    logs = []
    for graph in graphs:
        W, n = graph.dense(), len(labels)
        terms = []
        for k in range(K):
            inside = volume = n_k = 0.0
            for i in range(n):
                if labels[i] == k:
                    n_k += rows[i]
                    for j in range(n):
                        weight = counts[i] * counts[j] * W[i, j]
                        volume += weight
                        inside += weight * (labels[j] == k)
            terms.append(1 - inside / volume + 1 / n_k)
        logs.append(np.log(np.mean(terms)))
    return np.mean(logs)


@pytest.mark.parametrize("d", [2, 12])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_yardstick_is_the_mean_log_cut_on_all_graphs(d, weighted):
    rng = np.random.default_rng(d)
    X = np.vstack([rng.normal(size=(60, d)), 2 + rng.normal(size=(30, d))])
    X = np.vstack([X, X[:8]])  # some rows twice
    weight = rng.integers(1, 5, size=len(X)).astype(float) if weighted else None
    judges = judges_of(X, 3, weight)
    assert len(judges.graphs) > 1
    assert (judges.dimension < POLICY.wide_dimensions) == (d == 2)
    for seed in range(3):
        labels = np.random.default_rng(seed).integers(3, size=judges.n)
        expected = yardstick(judges.graphs, judges.rows, judges.count, labels, 3)
        assert -judges.judge(labels)[0] == pytest.approx(expected, abs=1e-10)


def test_a_cluster_of_very_few_rows_is_not_believed():
    X, _ = groups([200, 200], 4.0)
    halves = (X[:, 0] > 2).astype(np.intp)
    corner = (X[:, 0] >= np.sort(X[:, 0])[-2]).astype(np.intp)  # two rows at the edge
    judges = judges_of(X, 2)
    good, odd = (judges.judge(of_vertices(judges, one))[0] for one in (halves, corner))
    assert good > odd + 0.5


@pytest.mark.parametrize("seed", range(3))
def test_the_best_by_the_yardstick_is_taken(seed):
    X, _ = make_blobs(400, 2, centers=4, cluster_std=1.6, random_state=seed)
    model, judges = GPOD(4).fit(X), judges_of(X, 4)
    scores = [choice.score for choice in model.choice_]
    assert len(scores) > 2 and scores == sorted(scores, reverse=True)
    assert repr(model.affinity_) in model.choice_[0].affinity
    for choice in model.choice_:
        if choice.affinity.startswith("relaxed"):
            k = int(choice.affinity.split("n_neighbors=")[1].rstrip(")"))
            graph = Neighbors(k, graph="mutual", density_contrast=1.0)
            labels = GPOD(4, affinity=graph).fit(X).labels_
            assert choice.score >= judges.judge(of_vertices(judges, labels))[0] - 1e-9


def test_what_is_compared():
    X, _ = make_blobs(400, 2, centers=4, cluster_std=1.6, random_state=2)
    kinds = {choice.affinity.split(" of ")[0].split(" in ")[0] for choice in GPOD(4).fit(X).choice_}
    assert kinds == {"relaxed cut", "discrete cut", "k-means"}
    relaxed = GPOD(4, solver="relaxed").fit(X)
    assert all(choice.affinity.startswith("relaxed") for choice in relaxed.choice_)
    assert isinstance(relaxed.affinity_, Neighbors) and hasattr(relaxed, "eigenvalues_")
    discrete = GPOD(4, solver="discrete").fit(X)
    assert discrete.choice_ == ()  # with nothing to compare
    assert isinstance(discrete.affinity_, RankedNeighbors) and not hasattr(discrete, "rotation_")
    ratio = GPOD(4, cut="ratiocut").fit(X)  # whose eigenvectors balance numbers of rows
    assert all(choice.affinity.startswith("relaxed") for choice in ratio.choice_)


def test_in_many_dimensions_one_mutual_graph_is_cut():
    rng = np.random.default_rng(0)
    few, many = (GPOD(3).fit(rng.normal(size=(400, d))) for d in (2, 40))
    relaxed = [
        len({one.affinity for one in model.choice_ if one.affinity.startswith("relaxed")})
        for model in (few, many)
    ]
    assert relaxed[0] > relaxed[1] == 1


def test_a_clear_first_cut_is_the_only_one():
    X, y = make_moons(500, noise=0.05, random_state=0)
    model = GPOD(2).fit(X)
    assert len(model.choice_) == 1 and adjusted_rand_score(y, model.labels_) == 1


# ------------------------------------------------------------------ wide gaps


@pytest.mark.parametrize("seed", range(6))
def test_clusters_with_gaps_are_those_of_single_linkage(seed):
    rng = np.random.default_rng(seed)
    K, d = int(rng.integers(2, 6)), int(rng.integers(1, 6))
    sizes = rng.integers(20, 80, size=K)
    X, y = groups(sizes, 25.0 if d > 1 else 60.0, seed, max(d, 2))
    X = X[:, :d]
    judges = judges_of(X, K)
    found = gaps_of(judges)
    expected = fcluster(linkage(judges.searched.distinct.rows), K, criterion="maxclust")
    assert found is not None and same_partition(found, expected)
    assert same_partition(found, of_vertices(judges, y))


def test_gaps_must_be_wide():
    X, _ = groups([100, 100], 1.0)
    assert gaps_of(judges_of(X, 2)) is None  # they overlap
    line = np.arange(50.0)[:, np.newaxis]
    for gap, is_wide in ((1.9, False), (2.1, True)):
        rows = np.vstack([line, 49 + gap + line])
        assert (gaps_of(judges_of(rows, 2)) is not None) == is_wide


@pytest.mark.parametrize("n_far", [1, POLICY.least_cluster - 1, POLICY.least_cluster])
def test_fewer_rows_than_a_cluster_has_are_no_cluster(n_far):
    X, y = groups([200, n_far], 60.0)
    found = gaps_of(judges_of(X, 2))
    assert (found is not None) == (n_far >= POLICY.least_cluster)
    X, y = groups([200, 150, n_far], 60.0)
    judges = judges_of(X, 2)
    found = gaps_of(judges)
    if n_far < POLICY.least_cluster:  # what is odd does not hide the gap between others
        assert same_partition(found[of_vertices(judges, y) < 2], np.sort(y)[y < 2])
    else:  # there are three, so two are not all of them
        assert found is None or len(np.unique(found)) == 2


@pytest.mark.parametrize("seed", range(6))
def test_the_number_of_clusters_with_gaps_is_found(seed):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(6, 60, size=int(rng.integers(2, 12)))
    X, y = groups(sizes, 40.0, seed, int(rng.choice([2, 5, 30])))
    model = GPOD("auto").fit(X)
    assert model.n_clusters_ == len(sizes) and adjusted_rand_score(y, model.labels_) == 1
    assert GPOD((2, 50)).fit(X).n_clusters_ in (2, 50)  # no other number was asked for


@pytest.mark.parametrize("seed", range(6))
def test_equal_values_of_a_rounded_column_are_no_clusters(seed):
    """A value that many rows have had a gap around it, for it had no step inside."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(5), rng.integers(40, 90, size=5))
    X = np.round(20.0 * y + rng.normal(size=len(y)))[:, np.newaxis]
    model = GPOD("auto").fit(X)
    assert model.n_clusters_ == 5 and adjusted_rand_score(y, model.labels_) == 1
    far = np.vstack([X, np.full((30, 1), 400.0)])  # a gap on one side shows that these are apart
    assert GPOD("auto").fit(far).n_clusters_ == 6


def test_smaller_clusters_are_found_in_larger_ones():
    X, y = groups([30, 30, 30, 30], 0.0)
    X = X + np.array([[0.0, 0.0], [40.0, 0.0], [1000.0, 0.0], [1040.0, 0.0]])[y]
    searched = judges_of(X, 4).searched
    labels = clusters_with_gaps(searched, np.ones(len(X)))
    assert len(np.unique(labels)) == 4
    assert same_partition(clusters_with_gaps(searched, np.ones(len(X)), 2), np.sort(y) >= 2)
    assert same_partition(GPOD(2).fit(X).labels_, y >= 2)


@pytest.mark.parametrize("d", [1, 2, 10])
def test_one_cluster_has_no_wide_gaps(d):
    found = 0
    for seed in range(60):
        X = np.random.default_rng(seed).uniform(size=(40, d))
        found += clusters_with_gaps(judges_of(X, 2).searched, np.ones(40)) is not None
    assert found <= 6  # 0.05 of 60, and two standard errors


def test_the_gaps_of_words_say_nothing():
    X, _ = groups([50, 50], 30.0)
    steps = np.tile([0.0, 90.0], 50)[:, np.newaxis]
    assert gaps_of(judges_of(X, 2)) is not None
    assert gaps_of(judges_of(np.hstack([X, steps]), 2)) is None


SMALL = [([1000, 40], 20.0), ([290, 9], 50.0), ([400, 60, 37, 6], 50.0), ([1000, 5], 90.0)]


@pytest.mark.parametrize(("sizes", "distance"), SMALL, ids=[str(sizes) for sizes, _ in SMALL])
@pytest.mark.parametrize("d", [2, 5, 20])
@pytest.mark.parametrize("seed", range(2))
def test_small_far_clusters_are_found(sizes, distance, d, seed, cut):
    X, y = groups(sizes, distance, seed, d)
    model = GPOD(len(sizes), cut=cut).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    new, truth = groups(sizes, distance, seed + 10, d)
    assert adjusted_rand_score(truth, model.predict(new)) == 1


@pytest.mark.filterwarnings("error::eigencut.GraphWarning")
def test_nothing_is_said_of_small_clusters_with_wide_gaps():
    X, _ = groups([1000, 9], 50.0)
    assert np.bincount(GPOD(2).fit(X).labels_).tolist() == [1000, 9]


def test_small_clusters_without_wide_gaps_are_said():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(300, 2)), [[12.0, 0.0], [12.0, 1.0]]])
    with pytest.warns(GraphWarning, match="less than a twentieth of an average"):
        GPOD(2, affinity=Gaussian(2.0)).fit(X)


# ------------------------------------------------------------------ what must not matter

TABLES = {
    "moons": (make_moons(300, noise=0.2, random_state=0)[0], 2),
    "blobs": (make_blobs(300, 8, centers=5, cluster_std=3.5, random_state=0)[0], 5),
    "small and far": (groups([290, 9], 50.0)[0], 2),
    "ties": (tied_table()[0], 2),
}


@pytest.mark.parametrize(("X", "K"), TABLES.values(), ids=TABLES.keys())
def test_the_order_of_rows_does_not_matter(X, K):
    order = np.random.default_rng(0).permutation(len(X))
    first, second = GPOD(K).fit(X), GPOD(K).fit(X[order])
    assert (first.labels_[order] == second.labels_).all()
    assert first.choice_ == second.choice_


@pytest.mark.parametrize(("X", "K"), TABLES.values(), ids=TABLES.keys())
@pytest.mark.parametrize("factor", [1e-3, 0.5, 1024.0, 7e5])
def test_a_common_factor_of_weights_does_not_matter(X, K, factor):
    weight = np.random.default_rng(0).uniform(0.5, 3.0, size=len(X))
    first, second = (GPOD(K).fit(X, sample_weight=one) for one in (weight, factor * weight))
    assert same_partition(first.labels_, second.labels_)
    assert [one.affinity for one in first.choice_] == [one.affinity for one in second.choice_]
    scores = [[one.score for one in model.choice_] for model in (first, second)]
    assert scores[0] == pytest.approx(scores[1], abs=1e-9)


@pytest.mark.parametrize(("X", "K"), TABLES.values(), ids=TABLES.keys())
def test_integer_weights_are_repeated_rows(X, K):
    weight = np.random.default_rng(0).integers(1, 4, size=len(X))
    weighted, repeated = (
        GPOD(K).fit(X, sample_weight=weight),
        GPOD(K).fit(np.repeat(X, weight, axis=0)),
    )
    assert (np.repeat(weighted.labels_, weight) == repeated.labels_).all()
    assert weighted.choice_ == repeated.choice_


@pytest.mark.parametrize("seed", range(5))
def test_tables_with_ties_are_cut_in_two(seed):
    X, y = tied_table(seed=seed)
    model = GPOD(2).fit(X)
    assert np.bincount(model.labels_).min() > len(X) / 10
    assert adjusted_rand_score(y, model.labels_) > 0.5
    assert (model.predict(X) == model.labels_).all()


# ------------------------------------------------------------------ how it is fitted


def test_all_graphs_share_one_search(monkeypatch):
    searches = []
    for kind in Index.__subclasses__() + [
        deeper for one in Index.__subclasses__() for deeper in one.__subclasses__()
    ]:
        if "query_itself" in vars(kind) or kind.__base__ is Index:
            original = kind.query_itself

            def counted(self, k, original=original):
                searches.append(k)
                return original(self, k)

            monkeypatch.setattr(kind, "query_itself", counted)
    for d, most in ((2, 2), (30, 1)):  # by a tree, for few and for more; and by all pairs
        X, _ = make_blobs(600, d, centers=6, cluster_std=d, random_state=0)
        assert len(GPOD(6).fit(X).choice_) > 2
        assert len(searches) <= most and searches == sorted(searches)
        searches.clear()


def test_the_cut_that_was_looked_at_is_the_one_that_is_fitted(monkeypatch):
    calls = []
    monkeypatch.setattr("eigencut.fitted.pod", lambda *_, **__: calls.append(1))
    X, y = make_moons(400, noise=0.08, random_state=0)
    model = GPOD(2).fit(X)
    assert not calls
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_what_was_compared_is_said_to_those_who_ask(capsys):
    X, _ = make_circles(300, factor=0.5, noise=0.2, random_state=0)
    model = GPOD(3, verbose=True).fit(X)
    said = capsys.readouterr().err.splitlines()
    scores = [f"eigencut: score {one.score:.2f} of the {one.affinity}" for one in model.choice_]
    assert len(scores) > 2 and [line for line in said if "score" in line] == scores


def test_many_clusters_have_discrete_cuts_only(monkeypatch):
    X, y = make_blobs(600, 4, centers=12, cluster_std=0.6, random_state=0)
    compared = GPOD(12).fit(X)
    assert compared.choice_[0].affinity.startswith("relaxed cut")
    change_auto_policy(monkeypatch, relaxed_work=1e4)
    model = GPOD(12).fit(X)
    assert isinstance(model.affinity_, RankedNeighbors)
    assert adjusted_rand_score(y, model.labels_) > 0.95
    relaxed = GPOD(12, solver="relaxed").fit(X)
    assert len(relaxed.eigenvalues_) == 12


def test_many_clusters_that_overlap_are_round_where_rows_are():
    X, y = make_blobs(3000, 16, centers=60, cluster_std=5.0, random_state=0)
    model, plain = GPOD(60).fit(X), GPOD(60, solver="discrete").fit(X)
    found, of_neighbors = (adjusted_rand_score(y, one.labels_) for one in (model, plain))
    assert found > of_neighbors + 0.01
    assert (model.predict(X) == model.labels_).all()


def test_many_clusters_of_unequal_spread_are_not_made_round():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(60), 50)
    spread = np.exp(rng.normal(0, 1.2, size=(60, 16)))
    X = 6 * rng.normal(size=(60, 16))[y] + spread[y] * rng.normal(size=(3000, 16))
    model, plain = GPOD(60).fit(X), GPOD(60, solver="discrete").fit(X)
    assert (model.labels_ == plain.labels_).all()


def test_a_narrow_gap_inside_a_cluster_does_not_hide_the_wide_ones():
    """Rounded numbers: one cluster falls in two where a number is missing."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 40)
    X = (20 * y + rng.integers(0, 6, size=240))[:, np.newaxis].astype(float)
    X[(y == 5) & (X[:, 0] == 103)] = 102
    assert 103 not in X
    model = GPOD(6).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert len(model.choice_) == 1


@pytest.mark.parametrize(("n", "K", "seed"), [(12, 3, 11), (16, 5, 2), (20, 8, 0), (10, 2, 17)])
@pytest.mark.filterwarnings("ignore")
def test_every_cluster_of_few_rows_without_structure_has_rows(n, K, seed):
    """Clusters of k-means are extended by votes, of no more neighbours than the smallest has."""
    model = GPOD(K).fit(np.random.default_rng(seed).normal(size=(n, 2)))
    assert np.bincount(model.labels_, minlength=K).min() > 0
