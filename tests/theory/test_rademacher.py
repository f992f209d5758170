"""The Rademacher complexity of Appendix B against brute force, and the symmetric Laplacian."""

import itertools

import numpy as np

from eigencut import GPOD, Gaussian
from eigencut.theory import rademacher


def test_complexity_of_the_span_is_that_of_all_signs_and_many_functions():
    """Ten rows: every sign of five pairs, functions of a fine circle."""
    X = np.random.default_rng(0).normal(size=(60, 1))
    model = GPOD(2, affinity=Gaussian(1.0)).fit(X[:50])
    rows = X[50:]
    found = rademacher(model, rows, n_draws=4000)
    from eigencut.io.sample import seeded_by

    one, other = seeded_by(rows, 0).permutation(10).reshape(2, -1)
    values = model.fitted_cut_.unit_embedding(rows)
    W = np.exp(-((rows[one] - rows[other])[:, 0] ** 2) / 2)
    angle = np.linspace(0, np.pi, 2001)
    u = values @ np.vstack([np.cos(angle), np.sin(angle)])
    squares = W[:, None] * (u[one] - u[other]) ** 2
    exact = np.mean(
        [
            np.abs(2 / 5 * np.array(signs) @ squares).max()
            for signs in itertools.product((-1, 1), repeat=5)
        ]
    )
    assert abs(found.span - exact) < 4 * found.standard_error + 1e-3 * exact


def test_the_span_gets_simpler_with_n_and_bounded_functions_do_not():
    X = np.random.default_rng(1).normal(size=(3300, 1))
    model = GPOD(2, affinity=Gaussian(1.0)).fit(X[:100])
    few, many = rademacher(model, X[100:300]), rademacher(model, X[100:])
    assert many.span < 0.5 * few.span
    # Appendix B's bound falls below the complexity of the class that it is for.
    assert many.bounded > many.by_paper and many.bounded > 0.9 * few.bounded
    assert many.span < many.by_paper


def test_symmetric_laplacian_has_the_same_cut_in_other_functions():
    """The remark: its eigenvectors are sqrt(d) u, and Eq. 3 has u / sqrt(d) for them."""
    X = np.random.default_rng(2).normal(size=(40, 2))
    model = GPOD(3, affinity=Gaussian(1.0)).fit(X)
    W = np.exp(-np.square(X[:, None] - X).sum(axis=2) / 2) / len(X)
    d = W.sum(axis=1)
    values, V = np.linalg.eigh(np.eye(len(X)) - W / np.sqrt(np.outer(d, d)))
    assert np.allclose(values[:3], model.eigenvalues_, atol=1e-9)
    U = V[:, :3] / np.sqrt(d)[:, None]
    form = sum((W * (u[:, None] - u) ** 2).sum() / 2 for u in U.T)
    assert np.isclose(form, values[:3].sum())
    unscaled = sum((W * (v[:, None] - v) ** 2).sum() / 2 for v in V[:, :3].T)
    assert not np.isclose(unscaled, values[:3].sum(), rtol=0.01)
