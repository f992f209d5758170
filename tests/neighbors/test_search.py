"""Nearest neighbours against the definition, ties and duplicates included."""

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from conftest import in_threads
from eigencut import kernels
from eigencut.neighbors import search
from eigencut.neighbors.metrics import METRICS, Space, distinct_rows
from eigencut.neighbors.search import CellIndex, Policy, TreeIndex, brute_index, build_index

EXACT = {"kdtree": TreeIndex, "brute": brute_index}
OF_NUMBERS = ["euclidean", "cosine", "manhattan", "chebyshev"]  # for others see test_metrics


pytestmark = pytest.mark.usefixtures("kernels")


def nearest_by_definition(queries, points, k, metric="euclidean"):
    distances = cdist(queries, points, metric)
    numbers = np.argsort(distances, axis=1, kind="stable")[:, :k]  # ties: by number
    return np.take_along_axis(distances, numbers, axis=1), numbers


def build(kind, rows, metric="euclidean"):
    space = Space(rows, METRICS[metric])
    return kind(space.points(rows), space), space


def clouds(d, n=700, m=200):
    rng = np.random.default_rng(d)
    return rng.normal(size=(n, d)), rng.normal(size=(m, d))


@pytest.mark.parametrize("kind", EXACT.values(), ids=EXACT.keys())
@pytest.mark.parametrize("d", [1, 2, 5, 20])
@pytest.mark.parametrize("k", [1, 9, 300, 9999])
def test_exact_indexes_are_exact(kind, d, k):
    rows, new = clouds(d)
    index, space = build(kind, rows)
    expected = nearest_by_definition(space.points(new), space.points(rows), k)
    distances, numbers = index.query(space.points(new), k)
    assert (numbers == expected[1]).all()
    assert np.abs(distances - expected[0]).max() < 1e-14


@pytest.mark.parametrize("kind", EXACT.values(), ids=EXACT.keys())
def test_ties_come_by_number(kind):
    """On a lattice almost every k-th distance is shared; on a simplex all are."""
    lattice = np.stack(np.meshgrid(np.arange(30.0), np.arange(20.0)), axis=-1).reshape(-1, 2)
    index, space = build(kind, lattice)
    for k in (2, 6, 11):
        numbers = index.query(space.points(lattice), k)[1]
        expected = nearest_by_definition(space.points(lattice), space.points(lattice), k)[1]
        assert (numbers == expected).all()
    index, space = build(kind, np.eye(60))
    numbers = index.query(space.points(np.eye(60)), 4)[1]
    assert numbers[0].tolist() == [0, 1, 2, 3] and numbers[59].tolist() == [59, 0, 1, 2]


@pytest.mark.parametrize("kind", EXACT.values(), ids=EXACT.keys())
def test_cancellation_does_not_hide_neighbours(kind):
    """One row far away: |x|^2 - 2xy + |y|^2 has lost the distances among the others."""
    rows = np.vstack([np.random.default_rng(0).normal(size=(400, 3)), [[1e9, 0, 0]]])
    index, space = build(kind, rows)
    expected = nearest_by_definition(rows[:400], rows, 6)[1]
    assert (index.query(space.points(rows[:400]), 6)[1] == expected).all()


def test_float32_hides_no_neighbour():
    """Points closer to each other than float32 can tell, among many that it can."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(300, 10))
    rows = np.vstack([rows, rows[:200] + 1e-7 * rng.normal(size=(200, 10))])
    rows = np.vstack([rows, rows[0] + 1e-9 * rng.normal(size=(100, 10))])
    index, space = build(brute_index, rows)
    points = space.points(rows)
    expected = nearest_by_definition(points, points, 7)
    distances, numbers = index.query_itself(7)
    assert (numbers == expected[1]).all()
    assert np.abs(distances - expected[0]).max() < 1e-14


def test_brute_force_does_not_depend_on_threads_or_blocks(monkeypatch):
    rows, new = clouds(12)
    index, space = build(brute_index, rows)
    expected = in_threads(1, index.query, space.points(new), 8)
    monkeypatch.setattr(type(kernels.chosen), "queries_at_a_time", lambda *_: 7)
    for n_jobs in (1, 3):
        found = in_threads(n_jobs, index.query, space.points(new), 8)
        assert all((a == b).all() for a, b in zip(found, expected, strict=True))


@pytest.mark.parametrize("kind", EXACT.values(), ids=EXACT.keys())
@pytest.mark.parametrize("metric", OF_NUMBERS)
def test_metrics(kind, metric):
    rows, new = clouds(3)
    index, space = build(kind, rows, metric)
    scipy_name = {"manhattan": "cityblock"}.get(metric, metric)
    numbers = index.query(space.points(new), 7)[1]
    assert (numbers == nearest_by_definition(new, rows, 7, scipy_name)[1]).all()


@pytest.mark.parametrize("scale", [1e-200, 1e150])
def test_units_do_not_matter(scale):
    rows, new = clouds(4)
    for metric in OF_NUMBERS:
        index, space = build(brute_index, rows * scale, metric)
        same, same_space = build(brute_index, rows, metric)
        found = index.query(space.points(new * scale), 5)[1]
        assert (found == same.query(same_space.points(new), 5)[1]).all()


@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_sparse_rows_have_the_same_neighbours(metric):
    rows = sparse.random_array((500, 80), density=0.1, random_state=0, format="csr")
    rows[:, [0]] = 0.1
    rows = rows.tocsr()
    index, space = build(brute_index, rows, metric)
    assert sparse.issparse(index.points)
    found = index.query(space.points(rows[:100]), 6)
    expected = nearest_by_definition(rows[:100].toarray(), rows.toarray(), 6, metric)[1]
    assert (found[1] == expected).all()


def test_sparse_rows_are_distinguished_like_dense_ones():
    dense = np.random.default_rng(0).integers(0, 2, size=(300, 6)).astype(float)
    of_dense, of_sparse = distinct_rows(dense), distinct_rows(sparse.csr_array(dense))
    assert len(of_sparse.multiplicity) == len(of_dense.multiplicity) < 300
    assert (of_sparse.rows.toarray()[of_sparse.vertex_of_row] == dense).all()
    shuffled = distinct_rows(sparse.csr_array(dense[::-1]))
    assert (shuffled.rows.toarray() == of_sparse.rows.toarray()).all()
    assert (shuffled.vertex_of_row[::-1] == of_sparse.vertex_of_row).all()
    assert (shuffled.multiplicity == of_sparse.multiplicity).all()


def test_a_row_without_direction_is_refused():
    rows = np.array([[1.0, 2.0], [0.0, 0.0]])
    for X in (rows, sparse.csr_array(rows)):
        with pytest.raises(ValueError, match=r"no row of zeros.*cosine.*row 1"):
            Space(X, METRICS["cosine"]).points(X)


# --------------------------------------------------------------- approximate


def test_approximate_finds_nearly_all_and_itself_first():
    rows, new = clouds(12, n=5000, m=500)
    index, space = build(CellIndex, rows)
    _, numbers = index.query_itself(10)
    assert (numbers[:, 0] == np.arange(5000)).all()
    distances, numbers = index.query(space.points(new), 10)
    expected = nearest_by_definition(space.points(new), space.points(rows), 10)
    recall = np.mean([len(set(a) & set(b)) / 10 for a, b in zip(numbers, expected[1], strict=True)])
    assert recall > 0.9
    direct = np.linalg.norm(space.points(new)[:, None] - space.points(rows)[numbers], axis=2)
    assert np.abs(distances - direct).max() < 1e-14
    assert (np.diff(distances, axis=1) >= 0).all()


def test_approximate_does_not_depend_on_threads_or_company():
    rows, new = clouds(12, n=5000)
    index, space = build(CellIndex, rows)
    expected = in_threads(1, index.query, space.points(new), 10)[1]
    assert (in_threads(3, index.query, space.points(new), 10)[1] == expected).all()
    assert (build(CellIndex, rows)[0].query(space.points(new), 10)[1] == expected).all()
    for row in range(0, len(new), 20):
        alone = index.query(space.points(new[[row]]), 10)[1]
        assert (alone == expected[row]).all()


def test_approximate_far_away_is_exact_enough():
    """Queries far from all points, and points that float32 cannot tell apart."""
    rows, _ = clouds(12, n=5000)
    rows[:50] = rows[0] + 1e-9 * rows[:50]
    index, space = build(CellIndex, rows)
    far = space.points(1e30 * np.eye(12))
    expected = nearest_by_definition(far, space.points(rows), 5)[0]
    assert index.query(far, 5)[0] == pytest.approx(expected, rel=1e-12)
    near = space.points(rows[:1])
    assert (index.query(near, 20)[1] == nearest_by_definition(near, index.points, 20)[1]).all()


def test_approximate_answers_even_where_cells_hold_too_few():
    rows, new = clouds(12, n=3000)
    index, space = build(CellIndex, rows)
    numbers = index.query(space.points(new), 2900)[1]
    assert (numbers >= 0).all() and len(set(numbers[0].tolist())) == 2900


def test_auto_takes_the_fastest(monkeypatch):
    def kind(n, d, metric="euclidean", dense=True):
        rows = np.random.default_rng(0).normal(size=(n, d))
        space = Space(rows, METRICS[metric])
        return build_index("auto", rows if dense else sparse.csr_array(rows), space)[0]

    monkeypatch.setattr(search, "POLICY", Policy(brute_products=300**2 * 12))
    assert kind(500, 2) == "kdtree"
    assert kind(200, 12) == "brute"
    assert kind(500, 12, "manhattan") == "brute"
    assert kind(500, 2, dense=False) == "brute"
    assert kind(500, 12) == kind(500, 12, "cosine") == "approximate"
