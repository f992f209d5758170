"""The cut with pairs: the least of its objective, written out pair by pair."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from eigencut.discretization import normalize_rows
from eigencut.semi_supervised.guided_cut import LinkedRows, penalized_basis


def objective(B, values, pairs, is_must, eigenvalues, strength, K):
    f = normalize_rows(values) @ B
    cut = sum(eigenvalues[k] * (B[k] ** 2).sum() for k in range(len(B))) / eigenvalues[K]
    of_pairs = sum(
        ((f[i] - f[j]) ** 2).sum() if must else 2 * f[i] @ f[j]
        for (i, j), must in zip(pairs, is_must, strict=True)
    )
    return cut + strength * of_pairs


@given(st.integers(0, 10**6), st.floats(0.01, 10.0))
def test_no_other_functions_have_a_smaller_objective(seed, strength):
    rng = np.random.default_rng(seed)
    values, eigenvalues = rng.standard_normal((10, 5)), np.sort(rng.uniform(0.01, 1, 5))
    places, is_must = rng.integers(10, size=(7, 2)), rng.random(7) < 0.5
    given_ = (values, places, is_must, eigenvalues, strength, 2)
    C, theta = penalized_basis(values, LinkedRows(places, is_must), eigenvalues, 2, strength)
    assert np.allclose(C.T @ C, np.eye(5))
    assert (np.diff(theta) >= 0).all() and theta[0] == 0
    least = objective(C[:, :2], *given_)
    for _ in range(20):
        other = np.linalg.qr(rng.standard_normal((5, 2)))[0]
        assert objective(other, *given_) >= least - 1e-9
