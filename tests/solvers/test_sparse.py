"""Eigenpairs of sparse graphs against dense LAPACK, shift and invert, and closed forms."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import block_diag, csr_array, diags_array, random_array
from scipy.sparse.linalg import eigsh
from sklearn.datasets import make_blobs, make_moons

import eigencut.solvers.relaxed_cut as eigenpairs_module
import eigencut.solvers.sparse as module
import eigencut.solvers.sparse as sparse_solver
from conftest import in_threads
from eigencut import GraphWarning
from eigencut.cut import CUTS
from eigencut.graphs.base import SparseProduct, connected_components
from eigencut.solvers.relaxed_cut import eigenpairs
from sparse_graphs import neighbours_graph, reference, solve, sparse_graph


def residual(graph, cut, pairs):
    """Largest ``|L u - lambda M u|`` in the norm of the symmetric problem, over the largest d/m."""
    U, c = pairs.vectors, graph.multiplicity[:, None]
    mass = CUTS[cut].mass(graph.degrees)[:, None]
    left = graph.degrees[:, None] * U - graph.matmat(c * U) - pairs.values * mass * U
    return np.linalg.norm(np.sqrt(c / mass) * left, axis=0).max() / (graph.degrees / mass.T).max()


def blobs_apart(n_parts, n, seed=0):
    """Parts of different size that no graph of neighbours connects."""
    sizes = np.linspace(1, 3, n_parts)
    sizes = np.maximum(40, sizes / sizes.sum() * n).astype(int)
    rng = np.random.default_rng(seed)
    place = np.repeat(100.0 * np.arange(n_parts), sizes)
    return rng.normal(size=(len(place), 2)) + np.column_stack([place, np.zeros(len(place))])


@pytest.mark.parametrize("n_parts", [1, 3, 30])
@pytest.mark.parametrize("weights", ["binary", "local"])
def test_values_equal_lapack_s(cut, n_parts, weights):
    X = blobs_apart(n_parts, 1300)
    multiplicity = np.random.default_rng(0).integers(1, 4, len(X))
    graph = neighbours_graph(X, weights=weights, multiplicity=multiplicity)
    K = n_parts + 8
    pairs = solve(graph, cut, K)
    expected = reference(graph, cut, K)
    assert pairs.solver == "sparse"
    assert np.abs(pairs.values - expected).max() < 1e-8 * min(1, expected[-1])
    assert (pairs.values[:n_parts] == 0).all() and pairs.values[n_parts] > 0
    assert residual(graph, cut, pairs) < 1e-8
    mass = (graph.multiplicity * CUTS[cut].mass(graph.degrees))[:, None]
    assert np.abs(pairs.vectors.T @ (mass * pairs.vectors) - np.eye(K)).max() < 1e-9


def test_equal_parts_have_every_eigenvalue_several_times(cut):
    part = neighbours_graph(make_moons(300, noise=0.1, random_state=0)[0]).weights
    graph = sparse_graph(block_diag([part] * 6))
    pairs = solve(graph, cut, 20)
    expected = reference(graph, cut, 20)
    assert np.abs(pairs.values - expected).max() < 1e-8 * expected[-1]
    assert np.ptp(pairs.values[6:12]) < 1e-8 * expected[-1]  # six times the same


def test_the_cycle_graph_has_double_eigenvalues(cut):
    """Eigenvalues 1 - cos(2 pi j / n) for NCut, each twice; gaps of 1e-5."""
    n = 2000
    ring = csr_array((np.ones(n), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    graph = sparse_graph(ring + ring.T)
    pairs = solve(graph, cut, 9)
    degree = 2 / n if cut == "ratiocut" else 1.0
    order = np.array([0, 1, 1, 2, 2, 3, 3, 4, 4])
    expected = degree * (1 - np.cos(2 * np.pi * order / n))
    assert np.abs(pairs.values - expected).max() < 1e-8 * expected[-1]


@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
def test_hubs_and_stars(cut):
    """A few vertices that neighbour all others, and leaves that only a hub keeps."""
    n = 1500
    rng = np.random.default_rng(0)
    hub = rng.integers(0, 5, n)
    A = csr_array((np.ones(n), (np.arange(n), hub)), shape=(n, n)).tolil()
    for i in range(4):
        A[i, i + 1] = 1.0
    graph = sparse_graph((A + A.T).tocsr())
    pairs = solve(graph, cut, 5)
    expected = reference(graph, cut, 5)
    assert np.abs(pairs.values - expected).max() < 1e-8 * expected[-1]


def test_weights_of_very_different_size(cut):
    X = make_blobs(1500, 2, centers=5, random_state=0)[0]
    graph = neighbours_graph(X)
    rng = np.random.default_rng(0)
    scale = diags_array(10.0 ** rng.uniform(-4, 0, len(X)))
    graph = sparse_graph(scale @ graph.weights @ scale)
    pairs = solve(graph, cut, 6)
    expected = reference(graph, cut, 6)
    top = (graph.degrees / CUTS[cut].mass(graph.degrees)).max()
    assert np.abs(pairs.values - expected).max() < 1e-8 * top


@st.composite
def random_graphs(draw):
    """Any sparse graph: loops, isolated vertices, parts, repeated parts, multiplicities."""
    seed = draw(st.integers(0, 2**32 - 1))
    n = draw(st.integers(12, 60))
    rng = np.random.default_rng(seed)
    A = random_array((n, n), density=draw(st.floats(0.02, 0.3)), random_state=rng).tocsr()
    if draw(st.booleans()):
        A.data[:] = 1.0
    weights = A + A.T + diags_array(np.full(n, draw(st.sampled_from([0.0, 1.0]))))
    weights = block_diag([weights] * draw(st.integers(1, 3)))
    multiplicity = rng.integers(1, draw(st.integers(2, 5)), weights.shape[0])
    return sparse_graph(weights, multiplicity)


@given(random_graphs(), st.sampled_from(["ncut", "ratiocut"]), st.integers(1, 6))
def test_random_graphs_against_lapack(graph, cut, n_more):
    groups = connected_components(graph)
    K = int(groups.max()) + 1 + n_more
    if graph.n_vertices < 4 * K:
        return
    with pytest.MonkeyPatch.context() as patch:
        policy = dataclasses.replace(eigenpairs_module.POLICY, sparse_vertices=(0, 0))
        patch.setattr(eigenpairs_module, "POLICY", policy)
        patch.setattr(sparse_solver, "SETTINGS", sparse_solver.SparseSettings(coarsest=10))
        pairs = eigenpairs(graph, CUTS[cut].mass(graph.degrees), K, groups)
    expected = reference(graph, cut, K)
    top = (graph.degrees / CUTS[cut].mass(graph.degrees)).max()
    assert pairs.values == pytest.approx(expected, abs=1e-10 * top)
    assert residual(graph, cut, pairs) < 1.01e-8


@pytest.mark.parametrize("weights", ["binary", "local"])
def test_many_points_in_the_plane_against_shift_and_invert(cut, weights):
    graph = neighbours_graph(make_moons(20_000, noise=0.07, random_state=0)[0], weights=weights)
    K = int(connected_components(graph).max()) + 6
    pairs = solve(graph, cut, K)
    T = diags_array(1 / np.sqrt(CUTS[cut].mass(graph.degrees)))
    L = diags_array(graph.degrees) - graph.weights / graph.n_rows
    B = (T @ L @ T).tocsc()
    top = B.diagonal().max()
    expected = np.sort(eigsh(B, K, sigma=-1e-7 * top, which="LM", return_eigenvectors=False))
    assert residual(graph, cut, pairs) < 1e-8
    assert pairs.values.sum() == pytest.approx(expected.sum(), rel=1e-3)
    assert np.abs(pairs.values - expected).max() < 1e-3 * expected[-1]


def test_missed_eigenvectors_are_found(cut, monkeypatch):
    """Start on one of two parts: no product with the graph, nor the hierarchy, leaves it."""
    X = np.vstack([make_moons(1000, noise=0.1, random_state=s)[0] + [20.0 * s, 0] for s in (0, 1)])
    graph = neighbours_graph(X)

    class Blinkered(module.GraphHierarchy):
        def __init__(self, matrix, null):
            super().__init__(matrix, null)
            self.part = null[:, :1] != 0

        def __call__(self, residual):
            part, self.part = self.part, 1.0  # blinkered at the start only
            return super().__call__(residual) * part

    monkeypatch.setattr(module, "GraphHierarchy", Blinkered)
    monkeypatch.setattr(module, "is_cheap_to_factor", lambda _: False)
    expected = reference(graph, cut, 8)
    pairs = solve(graph, cut, 8)
    assert np.abs(pairs.values - expected).max() < 1e-8 * expected[-1]
    monkeypatch.setattr(module, "_is_missed", lambda *_: False)  # else they stay missed
    assert np.abs(solve(graph, cut, 8).values - expected).max() > 1e-2 * expected[-1]


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_change_nothing(n_jobs, cut, monkeypatch):
    monkeypatch.setattr(SparseProduct, "block_entries", 1000)
    graph = neighbours_graph(make_moons(3000, noise=0.1, random_state=0)[0])
    first = solve(graph, cut, 5)
    again = in_threads(n_jobs, solve, graph, cut, 5)
    assert (first.vectors == again.vectors).all() and (first.values == again.values).all()


def test_lapack_takes_over_in_small_graphs_that_do_not_converge(cut, monkeypatch):
    monkeypatch.setattr(module, "SETTINGS", module.SparseSettings(most_steps=1))
    graph = neighbours_graph(make_moons(1500, noise=0.1, random_state=0)[0])
    pairs = solve(graph, cut, 5)
    assert pairs.solver == "lapack"
    assert pairs.values == pytest.approx(reference(graph, cut, 5), abs=1e-12)


def test_a_missed_tolerance_is_said(cut, monkeypatch):
    monkeypatch.setattr(module, "SETTINGS", module.SparseSettings(most_steps=1))
    policy = dataclasses.replace(eigenpairs_module.POLICY, most_lapack_vertices=0)
    monkeypatch.setattr(eigenpairs_module, "POLICY", policy)
    graph = neighbours_graph(make_moons(1500, noise=0.1, random_state=0)[0])
    with pytest.warns(GraphWarning, match=r"less accurate than usual .*residual .* expected below"):
        pairs = solve(graph, cut, 5)
    assert pairs.residual > 1e-8 * (graph.degrees / CUTS[cut].mass(graph.degrees)).max()


def test_small_components_of_a_huge_sparse_graph_need_no_dense_matrix(cut):
    """Few vertices take part: only they are made dense."""
    n = 200_000
    weights = diags_array(np.ones(n)).tolil()
    weights[:3, :3] = 1.0
    graph = sparse_graph(weights.tocsr())
    groups = np.where(np.arange(n) < 3, 0, -1)
    pairs = eigenpairs(graph, CUTS[cut].mass(graph.degrees), 2, groups)
    assert pairs.solver == "lapack"
    assert (pairs.vectors[3:] == 0).all() and pairs.takes_part.sum() == 3
