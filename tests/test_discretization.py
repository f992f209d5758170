"""POD against brute force, scikit-learn's discretize, and its own promises."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster._spectral import discretize

from eigencut import pod
from eigencut.discretization import assign, normalize_rows


def objective(labels, U):
    """tr(Omega): the nuclear norm of one_hot^T rows(U), computed without the library's loop."""
    rows = U / np.linalg.norm(U, axis=1, keepdims=True)
    one_hot = np.eye(U.shape[1])[labels]
    return np.linalg.svd(one_hot.T @ rows, compute_uv=False).sum()


def best_objective(U):
    n, K = U.shape
    return max(objective(np.array((0, *rest)), U) for rest in product(range(K), repeat=n - 1))


def orthonormal(n, K, seed):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((n, K)))[0]


def separated(seed, n=8, K=3):
    """Indicators of K groups, rotated and slightly disturbed."""
    rng = np.random.default_rng(seed)
    labels = np.concatenate([np.arange(K), rng.integers(K, size=n - K)])
    rotation = np.linalg.qr(rng.standard_normal((K, K)))[0]
    U = np.eye(K)[labels] @ rotation + 0.05 * rng.standard_normal((n, K))
    return U, labels


@pytest.mark.parametrize("seed", range(20))
def test_reaches_the_optimum_of_separated_cases(seed):
    U, labels = separated(seed)
    found = pod(U)
    assert found.objective == pytest.approx(best_objective(U), rel=1e-12)
    assert (found.labels[:, None] == found.labels).tolist() == (labels[:, None] == labels).tolist()


def test_reaches_the_optimum_of_random_cases_nearly_always():
    hits = 0
    for seed in range(80):
        U = orthonormal(8, 3, seed)
        hits += pod(U).objective >= best_objective(U) * (1 - 1e-9)
    assert hits >= 76


def test_is_never_worse_than_discretize_of_scikit_learn():
    for seed in range(100):
        U = orthonormal(40, 4, seed)
        theirs = discretize(U.copy(), random_state=seed)
        assert pod(U).objective >= objective(theirs, U) * (1 - 1e-9)


@pytest.mark.parametrize("seed", range(30))
def test_objective_never_falls_and_gap_never_rises(seed):
    U = orthonormal(60, 5, seed)
    start = np.linalg.qr(np.random.default_rng(seed).standard_normal((5, 5)))[0]
    found = pod(U, init=start)
    assert (np.diff(found.objective_history) >= -1e-12 * found.objective).all()
    assert (np.diff(found.gap_history) <= 1e-9).all()
    assert found.converged
    assert found.n_iter == len(found.objective_history)


def test_history_is_what_it_says():
    U = orthonormal(30, 3, 0)
    found = pod(U)
    gap = np.linalg.norm(np.eye(3)[found.labels] - normalize_rows(U) @ found.rotation)
    assert found.objective == pytest.approx(objective(found.labels, U), rel=1e-12)
    assert found.gap_history[-1] == pytest.approx(gap, rel=1e-12)


def test_rotation_is_orthonormal_and_gives_the_labels():
    U = orthonormal(50, 4, 3)
    found = pod(U)
    assert np.abs(found.rotation.T @ found.rotation - np.eye(4)).max() < 1e-12
    assert (np.argmax(normalize_rows(U) @ found.rotation, axis=1) == found.labels).all()


def test_labels_are_numbered_by_size_then_by_first_row():
    one, two, three = np.eye(3)
    found = pod(np.array([three, two, one, one, two, one]))
    assert found.labels.tolist() == [2, 1, 0, 0, 1, 0]
    assert pod(np.array([two, one, one, two])[:, :2]).labels.tolist() == [0, 1, 1, 0]


def test_columns_of_init_keep_their_numbers():
    U = np.repeat(np.eye(2), [2, 5], axis=0)
    assert pod(U, init=np.eye(2)).labels.tolist() == [0] * 2 + [1] * 5
    assert pod(U, init=np.eye(2)[::-1]).labels.tolist() == [1] * 2 + [0] * 5


def algorithm_3(U, first):
    """Algorithm 3 line by line, from row ``first``, until |phi - phi*| is no more than rounding."""
    n, K = U.shape
    R, c = [U[first]], np.zeros(n)
    for k in range(1, K):
        c = c + [abs(sum(U[i] * R[k - 1])) for i in range(n)]
        R.append(U[int(np.argmin(c))])
    R, last, history = np.array(R).T, 0.0, []
    while True:
        labels = [int(np.argmax(u @ R)) for u in U]
        discrete = np.array([[float(label == k) for k in range(K)] for label in labels])
        V, omega, Vt = np.linalg.svd(discrete.T @ U)
        history.append(sum(omega))
        if abs(sum(omega) - last) < 1e-13 * n:
            return np.array(labels), history
        last, R = sum(omega), Vt.T @ V.T


@pytest.mark.parametrize("seed", range(20))
def test_one_literal_start_is_algorithm_3(seed):
    U = normalize_rows(orthonormal(60, 4, seed))
    first = np.random.RandomState(seed).choice(60, size=1, replace=False)[0]
    labels, history = algorithm_3(U, first)
    found = pod(U, init="literal", random_state=seed, tol=0)
    assert found.converged
    # A step less where the labels stay: the objective of the next would be the same.
    assert len(history) - 1 <= found.n_iter <= len(history)
    np.testing.assert_allclose(found.objective_history, history[: found.n_iter], rtol=1e-12)
    assert (found.labels == labels).all()


def test_a_singular_start_is_a_start():
    """Algorithm 3 can pick the same row twice, and is defined all the same."""
    U = np.array([[1.0, 0.0], [0.8, 0.6], [0.6, 0.8]])
    start = np.array([U[1], U[1]]).T
    found = pod(U, init=start)
    assert np.abs(found.rotation.T @ found.rotation - np.eye(2)).max() < 1e-12
    line = np.tile([[0.6, 0.8]], (5, 1))  # every literal start is singular
    assert pod(line, init="literal").converged
    assert pod(np.zeros((4, 2)), init="literal").labels.tolist() == [0] * 4


def test_a_start_may_take_more_than_200_steps():
    U = np.random.default_rng(2).standard_normal((5000, 4))
    found = pod(U, init="literal", random_state=2, tol=0)
    assert found.converged and found.n_iter > 200


def test_weights_count_rows_several_times():
    U = orthonormal(20, 3, 5)
    counts = np.random.default_rng(0).integers(1, 5, size=20)
    weighted = pod(U, init=np.eye(3), sample_weight=counts)
    repeated = pod(np.repeat(U, counts, axis=0), init=np.eye(3))
    assert weighted.objective == pytest.approx(repeated.objective, rel=1e-12)
    assert (np.repeat(weighted.labels, counts) == repeated.labels).all()


def test_extra_columns_are_left_out():
    U = orthonormal(20, 5, 1)
    assert (pod(U, n_clusters=3).labels == pod(U[:, :3]).labels).all()


def test_same_seed_same_result_and_none_is_reproducible():
    U = orthonormal(100, 6, 1)
    assert (pod(U).labels == pod(U).labels).all()
    assert (pod(U, random_state=7).labels == pod(U, random_state=7).labels).all()


def test_zero_rows_join_the_largest_cluster():
    U = np.array([[0, 0], [1, 0], [0, 1], [0, 1], [0, 0]], dtype=float)
    assert pod(U).labels.tolist() == [0, 1, 0, 0, 0]


def test_nothing_but_zero_rows_and_one_row():
    assert pod(np.zeros((4, 2))).labels.tolist() == [0, 0, 0, 0]
    assert pod(np.array([[0.6, 0.8]])).labels.tolist() == [0]


def test_nearly_equal_scores_go_to_the_first():
    assert assign(np.array([[0.5, 0.5 + 1e-12], [0.5, 0.51]])).tolist() == [0, 1]


@given(
    arrays(
        np.float64,
        st.tuples(st.integers(1, 12), st.integers(1, 4)),
        elements=st.floats(-1e300, 1e300, allow_nan=False, width=64),
    )
)
def test_any_finite_matrix_gets_labels(U):
    found = pod(U)
    assert ((found.labels >= 0) & (found.labels < U.shape[1])).all()
    assert np.isfinite(found.rotation).all()
    sizes = np.bincount(found.labels, minlength=U.shape[1])
    assert (np.diff(sizes) <= 0).all()
    assert found.n_iter <= 1000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (dict(U=np.zeros(3)), r"U must be a two-dimensional array .* Got shape \(3,\)"),
        (dict(U=np.zeros((0, 2))), r"U must be .* Got shape \(0, 2\)"),
        (dict(U=[[np.nan, 1.0]]), "U must be finite"),
        (dict(U=np.eye(3), n_clusters=4), "n_clusters must be between 1 and the 3 columns"),
        (
            dict(U=np.eye(3), n_init=0),
            "n_init must be an integer of at least 1 and at most 10000. Got 0",
        ),
        (dict(U=np.eye(3), max_iter=0), "max_iter must be an integer of at least 1. Got 0"),
        (dict(U=np.eye(3), init=np.eye(2)), r"'literal' or a finite matrix of shape \(3, 3\)"),
        (dict(U=np.eye(3), sample_weight=[1, 2]), r"sample_weight must .* Got shape \(2,\)"),
        (dict(U=np.eye(3), sample_weight=[-1, 2, 3]), "numbers of at least 0. Got -1 in row 0"),
        (dict(U=np.eye(3), sample_weight=[np.inf, 2, 3]), "sample_weight must be finite"),
        (dict(U=np.eye(3) * 1j), "U must hold real numbers. Got a ndarray of something else"),
        (dict(U=np.eye(3), init="random"), "init must be 'literal'. Got 'random'; use init="),
        (dict(U=np.eye(3), init=np.full((3, 3), np.nan)), "or a finite matrix of shape"),
        (dict(U=np.eye(3), tol=-1), "tol must be at least 0 and below 1. Got -1; use the default"),
        (dict(U=np.eye(3), tol="a"), "tol must be at least 0 and below 1. Got 'a'"),
        (dict(U=np.eye(3), n_clusters=2.0), "n_clusters must be an integer .* Got 2.0; leave it"),
    ],
)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        pod(**arguments)
