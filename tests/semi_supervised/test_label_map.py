"""The map from functions to classes, against explicit refits and the objective itself."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eigencut.semi_supervised.guided_cut import label_map, numbered_like, regularized_least_squares


@given(st.integers(0, 10**6))
def test_least_squares_and_rows_left_out(seed):
    rng = np.random.default_rng(seed)
    phi, targets = rng.standard_normal((8, 3)), rng.standard_normal((8, 2))
    penalty = rng.uniform(0.1, 2.0, 3)
    found, left_out = regularized_least_squares(phi, targets, penalty)
    gradient = phi.T @ (phi @ found - targets) + penalty[:, np.newaxis] * found
    assert np.abs(gradient).max() < 1e-10
    for i in range(8):
        others = np.arange(8) != i
        refitted, _ = regularized_least_squares(phi[others], targets[others], penalty)
        assert np.allclose(targets[i] - phi[i] @ refitted, left_out[i])


def test_clusters_take_the_numbers_of_classes():
    scores = np.array([[0.1, 0.9, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0], [0.0, 0.0, 0.1, 0.9]])
    # Class 3 is cluster 1, class 0 is cluster 3; the others follow in their order.
    assert numbered_like(scores, np.array([3, 3, 0]), 4).tolist() == [3, 0, 2, 1]


def circle(n, seed):
    """Functions on a circle, each of the two classes being two of its quarters."""
    t = np.random.default_rng(seed).uniform(0, 2 * np.pi, n)
    columns = [np.ones(n), np.cos(t), np.sin(t), np.cos(2 * t), np.sin(2 * t)]
    return np.column_stack(columns), (np.sin(2 * t) > 0).astype(int), np.array([0.0, 1, 1, 4, 4])


def test_labels_correct_what_clusters_miss():
    values, classes, eigenvalues = circle(60, seed=0)
    found = label_map(values, classes, np.eye(2), eigenvalues)
    assert found.is_corrected
    new, expected, _ = circle(1000, seed=1)
    assert ((new @ found.matrix).argmax(axis=1) == expected).mean() > 0.95


def test_clusters_that_are_right_stay():
    rotation = np.array([[1.0, 1.0], [1.0, -1.0]]) / np.sqrt(2)
    values, _, eigenvalues = circle(30, seed=3)
    clusters = (values[:, :2] @ rotation).argmax(axis=1)
    found = label_map(values, clusters, rotation, eigenvalues)
    new, _, _ = circle(1000, seed=4)
    same = (new @ found.matrix).argmax(axis=1) == (new[:, :2] @ rotation).argmax(axis=1)
    assert same.mean() > 0.95


def test_one_label_is_enough_for_an_answer():
    values, classes, eigenvalues = circle(1, seed=0)
    matrix = label_map(values, classes, np.eye(2), eigenvalues).matrix
    assert matrix.shape == (5, 2) and np.isfinite(matrix).all()


def test_a_class_that_nothing_is_known_of_keeps_its_cluster():
    rng = np.random.default_rng(0)
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    values = rng.standard_normal((30, 6))
    classes = (values[:, 4] > 0).astype(int)  # never 2, and nothing that clusters know
    found = label_map(values, classes, rotation, np.arange(6.0))
    assert found.is_corrected
    changed = found.matrix[:, 2] / np.linalg.norm(found.matrix[:, 2])
    assert np.allclose(changed, np.pad(rotation[:, 2], (0, 3)))


def test_labels_of_one_class_correct_nothing():
    values, _, eigenvalues = circle(20, seed=0)
    found = label_map(values, np.zeros(20, dtype=int), np.eye(2), eigenvalues)
    assert not found.is_corrected
    assert np.count_nonzero(found.matrix) == 2
