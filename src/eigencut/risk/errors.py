"""Errors of a relaxed cut: the value of its objective on given rows."""

from __future__ import annotations

import numpy as np

from eigencut.affinity.base import Affinity, Array


def dirichlet_error(affinity: Affinity, X: Array, F: Array, n_jobs: int | None = None) -> Array:
    """The error F of functions known at the rows of X, one number per function.

        1 / (2 m (m - 1)) sum_{i != j} W(x_i, x_j) (f_k(x_i) - f_k(x_j))^2

    It is the U-statistic that estimates the population error without bias, if X was not used to
    find the functions (the paper's display after Eq. 8). Blockwise: no m x m array is held.

    Parameters
    ----------
    affinity : fitted Affinity
    X : array of shape (m, n_features), m >= 2
    F : array of shape (m, K)
        The functions' values at the rows.
    """
    m = len(F)
    products = affinity.within(X, np.column_stack([np.ones(m), F]), n_jobs)
    degrees, WF = products[:, :1], products[:, 1:]
    # sum_ij W_ij (f_i - f_j)^2 / 2 = sum_i f_i (d_i f_i - (W f)_i); pairs i = j contribute nothing.
    sums = (F * (degrees * F - WF)).sum(axis=0)
    return np.asarray(np.maximum(sums, 0.0) / (m * (m - 1)))


def crossed_error(
    affinity: Affinity, X: Array, F: Array, U: Array, n_jobs: int | None = None
) -> Array:
    """The same error over pairs of a row of X and a training row, where U are the functions.

        1 / (2 m n) sum_{i, j} W(x_i, x_j) (f_k(x_i) - U[j, k])^2

    For affinities that know nothing about new rows among themselves.

    Parameters
    ----------
    U : array of shape (n_vertices, K)
        The functions' values at the training vertices.
    """
    K = U.shape[1]
    product = affinity.apply(X, np.column_stack([U, U**2]), n_jobs)
    WU, WU2 = product.values[:, :K], product.values[:, K:]
    squares = product.degrees[:, np.newaxis] * F**2 - 2 * F * WU + WU2
    return np.asarray((np.exp(product.log_scale) @ np.maximum(squares, 0.0)) / (2 * len(X)))
