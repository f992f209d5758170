"""Eigenpairs against dense LAPACK on the textbook form of the problem."""

import numpy as np
import pytest
import scipy.linalg
from sklearn.datasets import make_blobs, make_moons

import eigencut.solvers.relaxed_cut as dense
import eigencut.solvers.relaxed_cut as module
from eigencut import Gaussian, Precomputed
from eigencut.cut import CUTS
from eigencut.graphs.base import connected_components
from eigencut.solvers.relaxed_cut import eigenpairs


def reference(graph, mass, K):
    """The generalized problem on all rows, for vectors that are equal on equal rows, by LAPACK."""
    rows = graph.vertex_of_row
    W = graph.dense()[np.ix_(rows, rows)] / graph.n_rows
    L = np.diag(W.sum(axis=1)) - W
    P = np.eye(graph.n_vertices)[rows]
    return scipy.linalg.eigh(P.T @ L @ P, P.T @ np.diag(mass[rows]) @ P, eigvals_only=True)[:K]


def solve(graph, cut, K, **options):
    return eigenpairs(graph, CUTS[cut].mass(graph.degrees), K, **options)


@pytest.mark.parametrize("sigma", [0.05, 0.1, 0.3, 1.0])
def test_values_equal_the_textbook_problem(cut, sigma):
    X = make_moons(150, noise=0.1, random_state=0)[0]
    graph = Gaussian(sigma).fit_graph(np.vstack([X, X[:40]]))
    pairs = solve(graph, cut, 5, groups=np.zeros(150, dtype=int))
    expected = reference(graph, CUTS[cut].mass(graph.degrees), 5)
    assert pairs.values == pytest.approx(expected, abs=1e-12)
    assert pairs.solver == "lapack"


@pytest.mark.parametrize("sigma", [0.1, 1.0])
@pytest.mark.parametrize("K", [2, 7])
def test_lanczos_equals_lapack(cut, sigma, K):
    graph = Gaussian(sigma).fit_graph(make_moons(1200, noise=0.1, random_state=0)[0])
    pairs = solve(graph, cut, K)
    expected = reference(graph, CUTS[cut].mass(graph.degrees), K)
    assert pairs.solver == "lanczos"
    assert pairs.values == pytest.approx(expected, abs=1e-12)
    assert pairs.residual <= 1e-8


def test_lanczos_finds_every_one_of_many_equal_eigenvalues(cut):
    """Seven far blobs: seven eigenvalues that are zero to rounding, without any hint."""
    centers = 30.0 * np.arange(7)[:, None]
    X = make_blobs(1400, 1, centers=centers, cluster_std=0.5, random_state=0)[0]
    graph = Gaussian(1.0).fit_graph(X)
    pairs = solve(graph, cut, 8)
    expected = reference(graph, CUTS[cut].mass(graph.degrees), 8)
    assert pairs.solver == "lanczos"
    assert pairs.values == pytest.approx(expected, abs=1e-12)
    assert (pairs.values[:7] < 1e-12).all()
    assert pairs.values[7] > 1e-3


@pytest.mark.parametrize("n_parts", [3, 6])
def test_components_are_eigenvectors_of_zero(cut, n_parts):
    block = np.ones((200, 200)) + np.eye(200)
    graph = Precomputed().fit_graph(scipy.linalg.block_diag(*[block] * n_parts))
    parts = connected_components(graph)
    pairs = solve(graph, cut, n_parts, groups=parts)
    assert pairs.solver == "components"
    assert (pairs.values == 0).all()
    assert [
        len(np.unique(pairs.vectors[parts == p].round(12), axis=0)) for p in range(n_parts)
    ] == [1] * n_parts


def test_lapack_takes_over_when_lanczos_does_not_converge(cut, monkeypatch):
    monkeypatch.setattr(dense, "SETTINGS", dense.LanczosSettings(budget=3))
    graph = Gaussian(0.05).fit_graph(make_moons(1100, noise=0.1, random_state=0)[0])
    pairs = solve(graph, cut, 3)
    assert pairs.solver == "lapack"
    expected = reference(graph, CUTS[cut].mass(graph.degrees), 3)
    assert pairs.values == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("failure", ["too few", "error"])
def test_a_failing_subset_driver_is_replaced(cut, failure, monkeypatch):
    """With many equal eigenvalues LAPACK's subset driver can fail or return too few pairs."""
    original = scipy.linalg.eigh

    def failing(*args, subset_by_index=None, **options):
        values, vectors = original(*args, subset_by_index=subset_by_index, **options)
        if subset_by_index is None:
            return values, vectors
        if failure == "error":
            raise scipy.linalg.LinAlgError("Internal Error.")
        return values[1:], vectors[:, 1:]

    monkeypatch.setattr(scipy.linalg, "eigh", failing)
    graph = Gaussian(0.3).fit_graph(make_moons(100, noise=0.1, random_state=0)[0])
    pairs = solve(graph, cut, 3)
    monkeypatch.undo()
    expected = reference(graph, CUTS[cut].mass(graph.degrees), 3)
    assert pairs.values == pytest.approx(expected, abs=1e-12)


def test_vectors_are_normalized_with_multiplicities(cut):
    X = make_moons(90, noise=0.1, random_state=0)[0]
    graph = Gaussian(0.3).fit_graph(np.vstack([X, X[:30], X[:10]]))
    mass = CUTS[cut].mass(graph.degrees)
    U = eigenpairs(graph, mass, 4).vectors
    gram = U.T @ (graph.multiplicity[:, None] * mass[:, None] * U)
    assert np.abs(gram - np.eye(4)).max() < 1e-12


def test_signs_are_deterministic(cut):
    graph = Gaussian(0.3).fit_graph(make_moons(100, noise=0.1, random_state=0)[0])
    U = solve(graph, cut, 4).vectors
    assert (U[np.abs(U).argmax(axis=0), np.arange(4)] > 0).all()


def test_inaccurate_vectors_are_refused(cut, monkeypatch):
    monkeypatch.setattr(
        module, "largest_by_lapack", lambda A, _: (np.ones(2), np.ones((len(A), 2)))
    )
    graph = Gaussian(0.3).fit_graph(make_moons(50, random_state=0)[0])
    with pytest.raises(ArithmeticError, match="eigenvectors are not accurate"):
        solve(graph, cut, 2)
