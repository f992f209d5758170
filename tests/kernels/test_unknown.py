"""Numbers that are none of a row, and weights that are all zero: the same in both builds."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import eigencut.kernels
from eigencut.kernels.numpy_kernels import (
    LAYOUT,
    SLACK,
    EdgeWeight,
    Grid,
    NeighborGraph,
    NumpyKernels,
    Width,
)

BUILDS = {build.name: build for build in (NumpyKernels(), eigencut.kernels.chosen)}
ALL = pytest.mark.parametrize("build", BUILDS.values(), ids=BUILDS.keys())


def length(a, b):
    return np.linalg.norm(a - b, axis=1)


def some_graph(rng, n, d, k, weight):
    vertices = rng.normal(size=(n, d))
    distances = np.linalg.norm(vertices[:, np.newaxis] - vertices, axis=2)
    near = np.argsort(distances, axis=1, kind="stable")[:, :k]
    radii = np.take_along_axis(distances, near, axis=1)[:, -1]
    edges = sparse.csr_array(
        (np.ones(n * k, np.int8), np.sort(near).ravel().astype(np.int32), np.arange(n + 1) * k),
        shape=(n, n),
    ).T.tocsr()
    edges.indices, edges.indptr = edges.indices.astype(np.int32), edges.indptr.astype(np.int32)
    return NeighborGraph(vertices, radii, edges, weight, length, True)


def one_by_one(graph, row, distances, near, weighted):
    """The sum and largest exponent of one row, straight from what they are."""
    n, edges = len(weighted), {}
    for y, distance in zip(near, distances, strict=True):
        if 0 <= y < n:
            edges[int(y)] = distance
    if 0 <= near[0] < n:
        reverse = graph.reverse
        for y in reverse.indices[reverse.indptr[near[0]] : reverse.indptr[near[0] + 1]]:
            edges.setdefault(int(y), np.linalg.norm(row - graph.vertices[y]))
    terms = []
    for y, distance in edges.items():
        share, exponent = graph.weight(
            np.array([distance]), np.array([distances[-1]]), graph.radii[[y]]
        )
        if share[0] > 0 and exponent[0] > -np.inf:
            terms.append((share[0], exponent[0], weighted[y]))
    if not terms:
        known = 0 <= near[0] < n
        return (weighted[near[0]] if known else np.zeros(weighted.shape[1])), -np.inf
    largest = max(exponent for _, exponent, _ in terms)
    return sum(share * np.exp(exponent - largest) * v for share, exponent, v in terms), largest


@ALL
@settings(max_examples=40)
@given(seed=st.integers(0, 10**6), is_mutual=st.booleans(), binary=st.booleans())
def test_neighbor_sums(build, seed, is_mutual, binary):
    """Of searches that miss neighbours, name none, or lead to nothing but zeros."""
    rng = np.random.default_rng(seed)
    n, d, k = int(rng.integers(2, 40)), int(rng.integers(1, 5)), int(rng.integers(1, 6))
    k, m = min(k, n), 12
    width = None if binary else Width.limited(0.7, *sorted(10.0 ** rng.uniform(-160, 2, size=2)))
    graph = some_graph(rng, n, d, k, EdgeWeight(is_mutual, width))
    rows = rng.normal(size=(m, d)) * rng.choice([1.0, 1e140], size=(m, 1))
    every = np.linalg.norm(rows[:, np.newaxis] - graph.vertices, axis=2)
    near = np.argsort(every, axis=1, kind="stable")
    near = np.sort(np.argsort(rng.random((m, n)), axis=1)[:, :k], axis=1)  # some were missed
    near = np.take_along_axis(np.argsort(every, axis=1, kind="stable"), near, axis=1)
    distances = np.take_along_axis(every, near, axis=1)
    near = np.where(rng.random(near.shape) < 0.15, rng.choice([n, -1, 2**40]), near)
    weighted = rng.normal(size=(n, 3))
    product, largest = build.neighbor_sums(graph, rows, distances, near, weighted)
    for i in range(m):
        value, log = one_by_one(graph, rows[i], distances[i], near[i], weighted)
        assert largest[i] == pytest.approx(log, rel=1e-12)
        if log == -np.inf or abs(log) < 1e5:  # beyond, the last bit of a distance decides
            assert np.allclose(product[i], value, rtol=1e-9, atol=1e-12)


@ALL
def test_rows_infinitely_far_are_as_good_as_their_nearest_vertex(build):
    weight = EdgeWeight(False, Width.limited(1.0, 1e-140, 1e-140))
    graph = some_graph(np.random.default_rng(0), 20, 2, 3, weight)
    rows = np.full((4, 2), 1e100)
    distances, near = np.full((4, 3), 1e100 * np.sqrt(2)), np.arange(12).reshape(4, 3)
    weighted = np.random.default_rng(1).normal(size=(20, 2))
    product, largest = build.neighbor_sums(graph, rows, distances, near, weighted)
    assert (largest == -np.inf).all() and (product == weighted[near[:, 0]]).all()
    assert SLACK > 1


def test_widths_are_such_that_their_products_are_ordinary_numbers():
    extremes = [5e-324, 1e-200, 1e-10, 1.0, 1e10, 1e200, 1.7e308]
    for scale in extremes:
        for least in [0.0, *extremes]:
            for most in extremes:
                if most >= least:
                    width = Width.limited(scale, least, most)
                    with np.errstate(over="raise", invalid="raise"):
                        found = width(np.array([0.0, 1.0, 1e140]))
                        assert (found * found > 0).all() and np.isfinite(found * found).all()
    assert Width.limited(0.7, 0.1, 2.0) == Width(0.7, 0.1, 2.0)


@ALL
def test_cells_do_not_tell_where_points_are_not_known_or_equally_far(build):
    rng = np.random.default_rng(0)
    points = rng.random((40, 2))
    rows = rng.random((200, 2))
    candidates = np.arange(LAYOUT.candidates, dtype=np.int32)[np.newaxis].copy()

    def found(candidates, points, r=3):
        low, scale, shape = np.zeros(2), np.ones(2), np.ones(2, dtype=np.intp)
        return build.near_in_cells(
            rows, Grid(low, scale, shape, candidates, np.ones(1, bool), points), r
        )

    nearest, told = found(candidates, points)
    direct = np.linalg.norm(rows[:, np.newaxis] - points[: LAYOUT.candidates], axis=2)
    expected = np.sort(np.argsort(direct, axis=1)[:, :3])
    assert told.all() and (nearest == expected).all()
    for unknown in (40, -1, 2**31 - 1):
        some = candidates.copy()
        some[0, -4:] = unknown
        nearest, told = found(some, points)
        expected = np.sort(np.argsort(direct[:, :-4], axis=1)[:, :3])
        assert told.all() and (nearest == expected).all()
        some[0, 2:] = unknown
        assert not found(some, points)[1].any()
    twins = points.copy()
    twins[1 : LAYOUT.candidates] = twins[0]
    assert not found(candidates, twins)[1].any()


def test_a_grid_must_have_the_cells_of_its_shape():
    if "native" not in BUILDS:
        pytest.skip("the kernels in C were not compiled here")
    grid = Grid(
        np.zeros(2), np.ones(2), np.full(2, 9, dtype=np.intp),
        np.zeros((80, LAYOUT.candidates), np.int32), np.ones(80, bool), np.zeros((20, 2)),
    )  # fmt: skip
    with pytest.raises(ValueError, match=r"shape must be that of 80 cells"):
        BUILDS["native"].near_in_cells(np.zeros((3, 2)), grid, 2)


@ALL
def test_memberships_of_what_is_no_landmark_add_nothing(build):
    rng = np.random.default_rng(0)
    nearest = np.argsort(rng.random((300, 12)), axis=1)[:, :3]
    weights = rng.dirichlet(np.ones(3), size=300)
    unknown = rng.random(nearest.shape) < 0.2
    expected, units = np.zeros((12, 12), np.int64), np.zeros((12, 12), np.int64)
    build.add_membership_sums(nearest, np.where(unknown, 0.0, weights), 2.0**-34, expected)
    numbers = rng.choice([12, -1, 2**40], size=nearest.shape)
    build.add_membership_sums(np.where(unknown, numbers, nearest), weights, 2.0**-34, units)
    assert (units == expected).all()


def test_strips_that_are_not_there_are_refused():
    build = eigencut.kernels.chosen
    if "near_points" not in getattr(build, "_functions", ()):
        pytest.skip("there are no wide vectors here")
    from eigencut.kernels.numpy_kernels import LAYOUT, aligned_empty

    strips = aligned_empty((2, 3, LAYOUT.strip))
    strips[:] = 0.0
    given = np.zeros((5, 3), np.float32), strips
    for visits in ([0, 2], [-1, 1]):
        with pytest.raises(ValueError, match="visits must be of 2 strips"):
            build.near_points(*given, np.array(visits, np.int32), np.zeros(5, np.float32), 1, 4)
