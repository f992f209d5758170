"""Symmetric matrices in tiles: products by numpy and in C against the whole matrix."""

import numpy as np
import pytest

from conftest import in_threads
from eigencut.graphs.complete import SymmetricTiles

pytestmark = pytest.mark.usefixtures("kernels")


def symmetric(n):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(n, n))
    A += A.T
    return A, SymmetricTiles.compute(n, lambda rows, columns: A[rows, columns])


@pytest.mark.parametrize("n", [1, 7, 383, 384, 385, 1000])
def test_products_rows_and_diagonal(n):
    A, tiles = symmetric(n)
    for width in (1, 2, 8, 13, 16, 24, 33):
        V = np.asfortranarray(np.random.default_rng(width).normal(size=(n, width)))
        assert np.abs(tiles.matmat(V) - A @ V).max() < 1e-11
    assert (tiles.rows(np.arange(len(A))) == A).all()
    assert (tiles.diagonal() == A.diagonal()).all()
    assert tiles.max() == A.max()


def test_products_do_not_depend_on_threads():
    _, tiles = symmetric(900)
    V = np.random.default_rng(0).normal(size=(900, 5))
    assert (in_threads(1, tiles.matmat, V) == in_threads(3, tiles.matmat, V)).all()
