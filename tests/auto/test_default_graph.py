"""Which graph the default takes."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score

import eigencut.auto.choose as module
from eigencut import GPOD, Landmarks, Neighbors, SharedNeighbors
from eigencut.auto.choose import choose_graph
from eigencut.auto.policy import POLICY
from eigencut.neighbors.index import Index


def overlapping(n=1200, d=16, spacing=0.85):
    centers = np.random.default_rng(0).normal(size=(10, d))
    return make_blobs(n, centers=centers * spacing, random_state=0)


@pytest.fixture
def scores(monkeypatch):
    """Sets the scores of graphs, by what they are."""
    original = module.spectrum_and_score

    def fix(given):
        def cut(affinity, graph, *args):
            name = getattr(affinity, "graph", "landmarks")
            if name == "mutual" and not affinity.density_contrast:
                name = "without contrast"
            if name == "symmetric" and affinity.n_neighbors > 15:
                name = "shared" if isinstance(affinity, SharedNeighbors) else "wide"
            return original(affinity, graph, *args)[0], given[name]

        monkeypatch.setattr(module, "spectrum_and_score", cut)

    return fix


def graphs(X, K=2, **options):
    return choose_graph(X, K, {}, None, X.shape[0], **options)


def taken(X, K=2):
    chosen = graphs(X, K)
    first = chosen.affinities[0]
    return type(first), getattr(first, "graph", ""), len(chosen.compared)


def test_a_clear_mutual_graph_is_the_only_one_looked_at(scores):
    X = make_moons(300, noise=0.1, random_state=0)[0]
    scores({"mutual": 0.0})
    assert taken(X) == (Neighbors, "mutual", 1)


@pytest.mark.parametrize(("symmetric", "name"), [(-0.2, "mutual"), (0.1, "symmetric")])
def test_the_symmetric_graph_must_be_much_better(scores, symmetric, name):
    X = make_moons(300, noise=0.1, random_state=0)[0]
    scores({"mutual": -1.0, "symmetric": symmetric})
    assert taken(X) == (Neighbors, name, 2)


@pytest.mark.parametrize(
    ("without", "contrast"), [(-1.4, 0.0), (-1.6, 1.0)], ids=["without", "symmetric"]
)
def test_where_contrast_makes_tiny_it_is_left_out(scores, without, contrast):
    X = make_moons(300, noise=0.1, random_state=0)[0]
    scores({"mutual": POLICY.no_cluster, "symmetric": -1.0, "without contrast": without})
    assert graphs(X).affinities[0].density_contrast == contrast


@pytest.mark.parametrize(
    ("few", "wide", "shared", "kind", "neighbors"),
    [
        (-1.0, -0.55, -3.0, SharedNeighbors, 60),  # whatever its score, of other weights
        (-1.0, -0.5, POLICY.no_cluster, Neighbors, 60),
        (-1.0, -0.7, 9.0, Neighbors, 15),
        (-0.7, -0.4, -3.0, SharedNeighbors, 60),
        (-0.7, -0.5, 9.0, Neighbors, 15),
    ],
    ids=["better", "but shared ones make tiny", "not better", "nearly clear", "not, though"],
)
def test_where_distances_hardly_differ_more_neighbors_are_tried(
    scores, few, wide, shared, kind, neighbors
):
    X = np.random.default_rng(0).normal(size=(600, 30))
    of_few = {"mutual": POLICY.no_cluster, "symmetric": few, "without contrast": -3.0}
    scores(of_few | {"wide": wide, "shared": shared})
    chosen = graphs(X, K=5)
    first = chosen.affinities[0]
    assert type(first) is kind and first.n_neighbors == neighbors
    assert len(chosen.compared) == (4 if neighbors == 15 else 5)
    assert len(chosen.affinities) == len(chosen.compared) == len(chosen.spectra)


def test_more_neighbors_are_not_tried_on_the_plane_nor_without_memory(scores):
    of_few = {"mutual": POLICY.no_cluster, "symmetric": -1.0, "without contrast": -1.0}
    scores(of_few | {"wide": 9.0, "shared": 9.0})
    rng = np.random.default_rng(0)
    plane, space = rng.normal(size=(600, 2)), rng.normal(size=(600, 30))
    few = lambda affinity: affinity.n_neighbors <= 15  # noqa: E731
    for chosen in (graphs(plane, K=5), graphs(space, K=5, allows=few)):
        assert [one.affinity.n_neighbors for one in chosen.compared] == [15, 15, 15]
    assert graphs(space, K=5).affinities[0].n_neighbors == 60


def test_a_graph_in_more_pieces_than_clusters_is_not_clear():
    """Six far blobs, of which two are asked for: no graph shows which."""
    X, _ = make_blobs(300, centers=[[100 * i, 0] for i in range(6)], random_state=0)
    chosen = graphs(X)
    assert len(chosen.compared) > 1
    assert all(one.score <= POLICY.score_in_pieces for one in chosen.compared)
    assert graphs(X, K=6).compared[0].score > 1


def test_clusters_of_topics_are_found_where_few_neighbors_see_only_topics():
    from benchmarks.embeddings.samples import clusters_of_topics

    X, y = clusters_of_topics(1000, 10, 1, separation=0.6, topic_separation=1.1)
    model = GPOD(10).fit(X)
    few = GPOD(10, affinity=Neighbors(15, density_contrast=1.0)).fit(X)
    assert type(model.affinity_) is SharedNeighbors and model.affinity_.n_neighbors == 50
    assert (model.predict(X) == model.labels_).all()
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, few.labels_) + 0.1


def test_in_many_dimensions_a_somewhat_clear_graph_is_compared_with_others():
    """Five topics that a mutual graph shows more clearly than the five clusters."""
    from benchmarks.embeddings.samples import clusters_of_topics

    X, y = clusters_of_topics(1200, 5, 900)
    model = GPOD(5).fit(X)
    first = model.choice_[0]
    assert 0 < first.score < 1 and len(model.choice_) > 1
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_landmarks_are_the_last_resort_for_many_rows(scores):
    tiny = dict.fromkeys(["mutual", "symmetric", "without contrast"], POLICY.no_cluster)
    X = make_moons(1000, noise=0.1, random_state=0)[0]
    scores(tiny | {"landmarks": -1.0})
    assert taken(X)[0] is Landmarks
    assert taken(X[:999]) == (Neighbors, "mutual", 3)
    assert taken(csr_array(X))[0] is Landmarks
    scores(tiny | {"landmarks": POLICY.no_cluster})
    assert taken(X) == (Neighbors, "mutual", 4)


def test_landmarks_that_were_looked_at_make_a_whole_model(scores, tmp_path):
    X, y = make_moons(1500, noise=0.05, random_state=0)
    tiny = dict.fromkeys(["mutual", "symmetric", "without contrast"], POLICY.no_cluster)
    scores(tiny | {"landmarks": -1.0})
    model = GPOD(2).fit(X)
    assert isinstance(model.affinity_, Landmarks) and len(model.choice_) == 4
    assert (model.predict(X) == model.labels_).all()
    assert adjusted_rand_score(y, model.labels_) > 0.9


def test_small_clusters_are_not_believed():
    """Clusters of 40 and 960 rows, far apart: a tenth of an average one has 50."""
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal(size=(960, 2)), 90 + rng.normal(size=(40, 2))])
    chosen = graphs(X)
    assert all(one.score == POLICY.no_cluster for one in chosen.compared)


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
    X, y = overlapping(d=8, spacing=1.3)
    model = GPOD(10).fit(X)
    assert len(model.choice_) >= 2 and model.affinity_.graph == "symmetric"
    assert adjusted_rand_score(y, model.labels_) > 0.5
    assert searches == [15]


def test_the_cut_that_was_looked_at_is_the_one_that_is_fitted(monkeypatch):
    calls = []
    monkeypatch.setattr("eigencut.fitted.pod", lambda *_, **__: calls.append(1))
    X, y = make_moons(400, noise=0.08, random_state=0)
    model = GPOD(2).fit(X)
    assert not calls
    assert adjusted_rand_score(y, model.labels_) > 0.95


def test_what_was_compared_is_said_to_those_who_ask(capsys):
    X, _ = overlapping()
    model = GPOD(10, verbose=True).fit(X)
    said = capsys.readouterr().err.splitlines()
    scores = [
        f"eigencut: score {one.score:.2f} of {one.affinity}, 10 clusters" for one in model.choice_
    ]
    assert [line for line in said if "score" in line] == scores
    assert f"eigencut: takes {model.affinity_!r}" in said
