"""Weighted averages over the training rows in single precision, with a bound on their error.

The average of a column v at a row x is ``sum_j W(x, x_j) v_j / sum_j W(x, x_j)``. With exponents
from one matrix product (see ``affinity.gaussian``), everything is two matrix products and an
exponential (``kernels``). With u = 2^-24, the unit of float32:

* An exponent is a sum of d + 2 products of rounded numbers. Its error is at most
  ``(d + 5) u g(x) g(y) (|x| + |y|)^2``, which bounds the relative error of the weight.
* A sum over a panel adds at most ``n_panel u`` of the sum of absolute values, in whatever order the
  products are summed. Panels are added in float64.
* Columns are centred and scaled to [-1, 1] first, so an average is off by at most twice the sum of
  these, times half the range of its column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigencut import kernels
from eigencut._utils.arrays import Array
from eigencut.kernels.layout import LAYOUT


@dataclass(frozen=True)
class SinglePrecisionAverages:
    """Averages in single precision, and how far off they may be."""

    values: Array  # (n_rows, n_columns)
    log_degrees: Array  # (n_rows,)
    # (n_rows,): bound on the relative error of the sums: a degree is off by at most this share, a
    # value by at most twice this share of its column's spread. Infinite where single precision
    # fails.
    error: Array
    spread: Array  # (n_columns,): half the range of each averaged column


class SinglePrecisionAverager:
    """Averages the columns of V over the training rows, at any new rows.

    ``factor`` is the right factor of the exponents, ``g(y) [y, -1, -|y|^2]`` of each vertex.
    """

    unit = 2.0**-24
    largest_exponent_error = 0.05  # beyond, single precision is of no use
    largest_factor = 1e30  # of the exponents; float32 ends at 3e38
    least_weight = 1e-20  # sums of weights below it may have lost some that underflowed

    def __init__(self, factor: Array, V: Array, multiplicity: Array) -> None:
        lowest, highest = V.min(axis=0), V.max(axis=0)
        self._middle, self._spread = lowest / 2 + highest / 2, highest / 2 - lowest / 2
        scale = np.where(self._spread > 0, self._spread, 1.0)
        columns = np.column_stack([(V - self._middle) / scale, np.ones(len(V))])
        columns *= multiplicity[:, np.newaxis]
        self._n_rows = float(multiplicity.sum())
        clipped = np.clip(factor, -self.largest_factor, self.largest_factor)
        self._sums = kernels.chosen.weighted_sums_of(clipped, columns)
        # The largest of g, g |y| and g |y|^2: what the error of an exponent depends on.
        g, g_squares = -factor[:, -2], -factor[:, -1]
        self._reach = [float(part.max()) for part in (g_squares, np.sqrt(g * g_squares), g)]

    def __call__(self, left: Array) -> SinglePrecisionAverages:
        """Average at new rows, given the left factor ``g(x) [2x, |x|^2, 1]`` of each."""
        exponent_error = self._exponent_error(left)
        usable = exponent_error < self.largest_exponent_error
        sums = self._sums(np.where(usable[:, np.newaxis], left, 0.0))
        usable &= sums[:, -1] > self.least_weight
        degrees = np.where(usable, sums[:, -1], 1.0)
        error = 1.1 * (1.1 * exponent_error + (LAYOUT.most_panel_rows + 10) * self.unit)
        return SinglePrecisionAverages(
            self._middle + self._spread * (sums[:, :-1] / degrees[:, np.newaxis]),
            np.log(degrees / self._n_rows),
            np.where(usable, error, np.inf),
            self._spread,
        )

    def _exponent_error(self, left: Array) -> Array:
        if max(self._reach) > self.largest_factor:
            return np.full(len(left), np.inf)
        g, g_squares = left[:, -1], left[:, -2]
        with np.errstate(over="ignore", invalid="ignore"):
            reach = g * self._reach[0] + 2 * np.sqrt(g * g_squares) * self._reach[1]
            reach += g_squares * self._reach[2]
        return np.where(np.isnan(reach), np.inf, (left.shape[1] + 3) * self.unit * reach)
