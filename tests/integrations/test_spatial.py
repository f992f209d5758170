"""Regions of maps: on graphs of neighbours everywhere, with libpysal's own maps where it is."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.sparse import csgraph
from scipy.spatial import Delaunay
from sklearn.metrics import adjusted_rand_score

import eigencut
from eigencut import GraphWarning
from eigencut.integrations.spatial import connect_regions, regions

WHY = "libpysal is an extra: pip install 'eigencut[maps]'"


def matrix(pairs, n):
    pairs = np.asarray(pairs, dtype=int).reshape(-1, 2)
    one_way = sparse.coo_array((np.ones(len(pairs)), (pairs[:, 0], pairs[:, 1])), shape=(n, n))
    return sparse.csr_array(one_way + one_way.T)


def n_parts_of(touching, rows):
    """By a search of its own: what is reached from one row, until none is left."""
    left, n_parts = set(rows.tolist()), 0
    while left:
        reached, n_parts = [left.pop()], n_parts + 1
        while reached:
            row = reached.pop()
            beside = touching.indices[touching.indptr[row] : touching.indptr[row + 1]]
            new = left.intersection(beside.tolist())
            left -= new
            reached += new
    return n_parts


def assert_regions(labels, touching, n_regions):
    """As many as asked for, each in one piece, by decreasing size."""
    assert (np.unique(labels) == np.arange(n_regions)).all()
    assert (np.diff(np.bincount(labels)) <= 0).all()
    for k in range(n_regions):
        assert n_parts_of(touching, np.flatnonzero(labels == k)) == 1


def grid_pairs(height, width):
    at = np.arange(height * width).reshape(height, width)
    across = np.column_stack([at[:, :-1].ravel(), at[:, 1:].ravel()])
    return np.vstack([across, np.column_stack([at[:-1].ravel(), at[1:].ravel()])])


def planar_pairs(n, rng):
    triangles = Delaunay(rng.random((n, 2))).simplices
    sides = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]])
    return np.unique(np.sort(sides, axis=1), axis=0)


@st.composite
def maps(draw):
    """Attributes (some all equal) and the neighbours of a map, which may be in parts."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    if draw(st.booleans()):
        height, width = draw(st.integers(1, 7)), draw(st.integers(2, 7))
        n, pairs = height * width, grid_pairs(height, width)
    else:
        n = draw(st.integers(4, 60))
        pairs = planar_pairs(n, rng)
    pairs = pairs[rng.random(len(pairs)) < draw(st.sampled_from([1.0, 0.8, 0.6]))]
    levels = draw(st.sampled_from([1, 2, 5, 1000]))
    X = rng.integers(levels, size=(n, draw(st.integers(1, 3)))) * draw(st.sampled_from([1, 1e-200]))
    return X.astype(float), pairs


@settings(max_examples=60, deadline=None)
@given(maps(), st.data())
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_every_region_is_connected_and_there(made, data):
    X, pairs = made
    n, touching = len(X), matrix(pairs, len(X))
    is_island = touching.sum(axis=1) == 0
    n_parts = csgraph.connected_components(touching)[0]
    if not is_island.all():
        n_parts -= is_island.sum()  # each is tied to a row of a part
    K = data.draw(st.integers(n_parts, n))
    labels = regions(X, list(range(X.shape[1])), K, contiguity=touching)
    # What an island was tied to is in no matrix of ours: it counts as connected to its region.
    for k in range(K):
        mainland = np.flatnonzero((labels == k) & ~is_island)
        assert (labels == k).any()
        assert n_parts_of(touching, mainland) <= 1
    if not is_island.any():
        assert_regions(labels, touching, K)


@settings(max_examples=60, deadline=None)
@given(maps(), st.integers(1, 9), st.data())
def test_whatever_labels_are_mended(made, n_labels, data):
    """Labels at random are the worst: nearly every region is in pieces."""
    X, pairs = made
    touching = matrix(pairs, len(X))
    labels = np.random.default_rng(0).integers(n_labels, size=len(X))
    K = data.draw(st.integers(csgraph.connected_components(touching)[0], len(X)))
    assert_regions(connect_regions(labels, touching, X, K), touching, K)


def test_regions_that_are_right_stay():
    touching = matrix(grid_pairs(6, 6), 36)
    labels = np.repeat([0, 1, 2], 12)
    X = np.random.default_rng(0).normal(size=(36, 2))
    assert (connect_regions(labels, touching, X, 3) == labels).all()


def test_a_piece_joins_the_neighbour_it_is_most_similar_to():
    """A road: the last place has the label of the first ones and the income of those between."""
    X = np.array([[0.0], [0], [0], [5], [5], [9], [9], [6]])
    touching = matrix([(0, 1), (1, 2), (2, 3), (3, 4), (4, 7), (7, 5), (5, 6)], 8)
    labels = np.array([0, 0, 0, 1, 1, 2, 2, 0])
    assert connect_regions(labels, touching, X, 3).tolist() == [0, 0, 0, 1, 1, 2, 2, 1]
    X[7] = 8
    assert connect_regions(labels, touching, X, 3).tolist() == [0, 0, 0, 2, 2, 1, 1, 1]


def planted(n=300, K=4, seed=0):
    """Places at random, in regions that differ."""
    rng = np.random.default_rng(seed)
    places, centres = rng.random((n, 2)), rng.random((K, 2))
    y = ((places[:, np.newaxis] - centres) ** 2).sum(axis=2).argmin(axis=1)
    triangles = Delaunay(places).simplices
    pairs = np.vstack([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [0, 2]]])
    frame = pd.DataFrame(rng.normal(size=(n, 2), scale=0.2) + 2 * rng.normal(size=(K, 2))[y])
    frame.columns = ["income", "age"]
    frame.index = [f"county {i}" for i in range(n)]
    return frame, y, np.unique(np.sort(pairs, axis=1), axis=0)


def test_regions_of_a_map_are_found_and_have_the_index_of_the_frame():
    frame, y, pairs = planted()
    found = regions(frame, ["income", "age"], 4, contiguity=pairs)
    assert found.index.equals(frame.index) and found.name == "region"
    assert adjusted_rand_score(y, found) > 0.9
    assert eigencut.spatial.regions is regions


def test_ways_to_say_what_touches_agree():
    frame, _, pairs = planted()
    expected = regions(frame, ["income"], 5, contiguity=pairs)
    both = matrix(pairs, len(frame))
    for same in (pairs.tolist(), pairs[:, ::-1], both, sparse.coo_matrix(both), 7 * both):
        assert (regions(frame, "income", 5, contiguity=same) == expected).all()
    array = regions(frame.to_numpy(), [0], 5, contiguity=both)
    assert isinstance(array, np.ndarray) and (array == expected.to_numpy()).all()


class Weights:
    """What of libpysal's weights is used: their order and their matrix."""

    def __init__(self, ids, touching):
        self.id_order, self.sparse = ids, touching


def test_weights_in_another_order_than_the_rows():
    frame, _, pairs = planted()
    touching = matrix(pairs, len(frame))
    expected = regions(frame, "income", 4, contiguity=touching)
    some = np.random.default_rng(1).permutation(len(frame))
    shuffled = Weights(list(frame.index[some]), touching[some][:, some])
    assert (regions(frame, "income", 4, contiguity=shuffled) == expected).all()
    numbered = Weights(list(range(len(frame))), touching)
    assert (regions(frame, "income", 4, contiguity=numbered) == expected).all()
    with pytest.raises(ValueError, match="the first of them 'county 1'"):
        regions(frame, "income", 4, contiguity=Weights(["county 1"], touching[:1][:, :1]))


def test_numbered_weights_and_an_index_of_the_same_numbers():
    """Made from this frame, they are positions; from the frame before it was sorted, labels."""
    frame, _, pairs = planted()
    frame = frame.reset_index(drop=True).sort_values("age")
    touching = matrix(pairs, len(frame))  # by position
    expected = regions(frame, "income", 4, contiguity=touching)
    unknown = Weights(list(range(len(frame))), touching)
    for is_set in (None, False):
        if is_set is not None:
            unknown.id_order_set = is_set
        with pytest.raises(ValueError, match=r"in only one way.*weights\.sparse.*use_index=True"):
            regions(frame, "income", 4, contiguity=unknown)
    ordered = Weights(list(frame.index), touching)  # as use_index=True has them
    assert (regions(frame, "income", 4, contiguity=ordered) == expected).all()
    back = np.argsort(frame.index)
    labelled = Weights(list(range(len(frame))), touching[back][:, back])
    labelled.id_order_set = True
    assert (regions(frame, "income", 4, contiguity=labelled) == expected).all()


def test_numbered_weights_and_an_index_that_repeats():
    frame, _, pairs = planted()
    touching = matrix(pairs, len(frame))
    expected = regions(frame, "income", 4, contiguity=touching).to_numpy()
    numbered = Weights(list(range(len(frame))), touching)
    for index in (np.arange(300) // 2, np.zeros(300, dtype=int), np.arange(300) % 299):
        found = regions(frame.set_index(index), "income", 4, contiguity=numbered)
        assert (found.to_numpy() == expected).all()


def test_nothing_of_the_size_of_all_pairs():
    """40 000 rows: a matrix of all pairs would be 12.8 GB."""
    n = 200
    X = np.repeat([[0.0], [3.0]], n * n // 2, axis=0)
    X += np.random.default_rng(0).normal(size=X.shape, scale=0.1)
    labels = regions(X, [0], 2, contiguity=grid_pairs(n, n))
    assert len(np.unique(labels[: n * n // 2])) == 1 and (np.bincount(labels) == n * n // 2).all()


def test_islands_are_tied_and_named():
    frame, _, pairs = planted()
    off = pairs[(pairs != 7).all(axis=1) & (pairs != 9).all(axis=1)]
    with pytest.warns(GraphWarning, match=r"2 of 300 rows touch no other .* by the columns"):
        found = regions(frame, ["income", "age"], 4, contiguity=off)
    assert set(found) == set(range(4))


def test_islands_are_tied_to_the_nearest_place():
    """Two lines of places, and an island beside the second that has the income of the first."""

    class Points:
        def __init__(self, xy):
            self.x, self.y, self.centroid = xy[:, 0], xy[:, 1], self

    xy = np.array([[0.0, 0], [1, 0], [2, 0], [7, 0], [8, 0], [9, 0], [10, 0]])
    frame = pd.DataFrame({"income": [1.0, 1.1, 1, 5, 5.1, 5, 1]})
    object.__setattr__(frame, "geometry", Points(xy))
    road = [(i, i + 1) for i in range(5)]
    with pytest.warns(GraphWarning, match="by its centroid"):
        found = regions(frame, "income", 2, contiguity=road)
    assert found.tolist() == [1, 1, 1, 0, 0, 0, 0]


def test_parts_that_do_not_touch():
    pairs = [*grid_pairs(3, 3), *(grid_pairs(2, 2) + 9)]
    X = np.arange(13.0)[:, np.newaxis]
    with pytest.raises(ValueError, match=r"n_regions must be at least 2.*of 9, 4 rows.*Got 1"):
        regions(X, [0], 1, contiguity=pairs)
    with pytest.warns(GraphWarning, match="2 parts that do not touch"):
        found = regions(X, [0], 2, contiguity=pairs)
    assert found.tolist() == [0] * 9 + [1] * 4


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"n_regions": 0}, "n_regions must be an integer from 1 to the number of rows"),
        ({"n_regions": 2.0}, "n_regions must be an integer"),
        ({"n_regions": 301}, "n_regions must be an integer"),
        ({"columns": []}, "columns must be of frame.* Got none"),
        ({"columns": ["name"]}, "columns must hold real numbers"),
        ({"columns": ["income", "rent"]}, r"which has \['income', 'age'.*Got 'rent'"),
        ({"columns": "rent"}, "Got 'rent'"),
        ({"columns": ["gap"]}, r"Got 1 row\(s\) without in 'gap'"),
        ({"contiguity": "bishop"}, "Got 'bishop'"),
        ({"contiguity": "queen"}, "frame without geometries"),
        ({"contiguity": [(0, 1, 2)]}, "pairs of positions. Got list"),
        ({"contiguity": [(0, 300)]}, "positions from 0 to 299"),
        ({"contiguity": sparse.eye_array(4)}, r"the 300 rows of frame. Got the shape \(4, 4\)"),
        ({"contiguity": -sparse.eye_array(300)}, "not negative. Got -1"),
        ({"contiguity": []}, "n_regions must be at least 300"),
    ],
)
def test_refusals(change, message):
    frame, _, pairs = planted()
    frame["name"], frame["gap"] = "a", np.where(np.arange(300) == 3, np.nan, 1.0)
    given = {"columns": "income", "n_regions": 4, "contiguity": pairs} | change
    with pytest.raises(ValueError, match=message):
        regions(frame, **given)


@pytest.mark.parametrize(
    ("frame", "columns", "message"),
    [
        ([1, 2, 3], [0], r"frame must be a DataFrame.* Got shape \(3,\)"),
        ([[1], [2, 3], [3]], [0], "frame must hold real numbers. Got a list"),
        (None, [0], "frame must be a DataFrame"),
        (np.eye(3), [3], r"frame, which has \[0, 1, 2\]. Got 3"),
        (np.eye(3), ["a"], r"frame, which has \[0, 1, 2\]. Got 'a'"),
        (np.eye(3), 1.5, r"frame, which has \[0, 1, 2\]. Got 1.5"),
    ],
)
def test_refusals_of_arrays(frame, columns, message):
    with pytest.raises(ValueError, match=message):
        regions(frame, columns, 2, contiguity=[(0, 1), (1, 2)])


def test_lists_are_arrays():
    given = [[1.0], [1.0], [3.0]]
    assert regions(given, [0], 2, contiguity=[(0, 1), (1, 2)]).tolist() == [0, 0, 1]


@pytest.fixture(scope="module")
def mexico():
    libpysal = pytest.importorskip("libpysal", reason=WHY)
    geopandas = pytest.importorskip("geopandas", reason=WHY)
    return geopandas.read_file(libpysal.examples.get_path("mexicojoin.shp"))


COLUMNS = ["PCGDP1940", "PCGDP1970", "PCGDP2000"]


@pytest.mark.parametrize("kind", ["queen", "rook"])
@pytest.mark.parametrize("n_regions", [2, 5, 8])
def test_the_states_of_mexico(mexico, kind, n_regions):
    from libpysal.weights import Queen, Rook

    weights = (Queen if kind == "queen" else Rook).from_dataframe(mexico, use_index=False)
    found = regions(mexico, COLUMNS, n_regions, contiguity=kind)
    assert_regions(found.to_numpy(), sparse.csr_array(weights.sparse), n_regions)
    assert (regions(mexico, COLUMNS, n_regions, contiguity=weights) == found).all()
    weights.transform = "r"  # each row's weights sum to 1: no longer symmetric
    uneven = regions(mexico, COLUMNS, n_regions, contiguity=weights)
    assert_regions(uneven.to_numpy(), sparse.csr_array(weights.sparse), n_regions)


def test_the_graphs_and_names_of_libpysal(mexico):
    from libpysal.graph import Graph
    from libpysal.weights import Queen

    named = mexico.set_index("NAME")
    expected = regions(mexico, COLUMNS, 5, contiguity="queen").to_numpy()
    shuffled = named.sample(frac=1, random_state=0)
    graph = Graph.build_contiguity(shuffled, rook=False)
    assert (regions(named, COLUMNS, 5, contiguity=graph) == expected).all()
    weights = Queen.from_dataframe(shuffled, use_index=True)
    assert (regions(named, COLUMNS, 5, contiguity=weights) == expected).all()


@pytest.mark.filterwarnings("ignore::FutureWarning")
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("n_regions", [3, 6])
def test_regions_of_a_reordered_frame_are_connected(mexico, seed, n_regions):
    """Whatever the order of rows and the way to say what touches, or it is refused."""
    from libpysal.graph import Graph
    from libpysal.weights import KNN, Queen

    frame = mexico.sample(frac=1, random_state=seed)
    touching = sparse.csr_array(Queen.from_dataframe(frame, use_index=False).sparse)
    default = Queen.from_dataframe(frame)
    with pytest.raises(ValueError, match="in only one way"):
        regions(frame, COLUMNS, n_regions, contiguity=default)
    for same in (
        "queen",
        default.sparse,
        Queen.from_dataframe(frame, use_index=True),
        Queen.from_dataframe(mexico, use_index=True),
        Graph.build_contiguity(frame, rook=False),
        Graph.build_contiguity(mexico, rook=False),
    ):
        found = regions(frame, COLUMNS, n_regions, contiguity=same)
        assert_regions(found.to_numpy(), touching, n_regions)
    nearest = KNN.from_dataframe(frame, k=4)  # which has the labels of the index
    found = regions(frame, COLUMNS, n_regions, contiguity=nearest)
    one_way = sparse.csr_array(nearest.sparse)
    assert_regions(found.to_numpy(), sparse.csr_array(one_way + one_way.T), n_regions)


def test_a_row_without_a_geometry(mexico):
    frame = mexico.copy()
    frame.loc[3, "geometry"] = None
    with pytest.raises(ValueError, match=r"a geometry in every row. Got 1 row\(s\).* first 3;"):
        regions(frame, COLUMNS, 4)


def test_a_state_that_is_an_island(mexico):
    """Yucatan's neighbours away: Campeche and Quintana Roo are left, and it is far from others."""
    alone = mexico[~mexico["NAME"].isin(["Campeche", "Quintana Roo"])].reset_index(drop=True)
    with pytest.warns(GraphWarning, match="1 of 30 rows touch no other .* by its centroid"):
        found = regions(alone, COLUMNS, 4)
    yucatan, near = (found[alone["NAME"] == name].item() for name in ("Yucatan", "Tabasco"))
    assert yucatan == near or (found == yucatan).sum() == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        regions(mexico, COLUMNS, 4)
