"""Mean, deviation and range of columns, of a table in memory or of blocks of a longer one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array


@dataclass(frozen=True)
class ColumnStatistics:
    """What is known of each column, missing values apart.

    Attributes
    ----------
    n_rows : float
        Rows, or what they count together.
    count : array
        The same of values that are not missing.
    mean, squares : arrays
        Their mean, and the sum of the squares of their differences from it.
    low, high : arrays

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[1.0], [2.0], [np.nan], [6.0]])
    >>> found = ColumnStatistics.of(X[:2]).merged(ColumnStatistics.of(X[2:]))
    >>> float(found.mean[0]), float(found.squares[0]), float(found.high[0])
    (3.0, 14.0, 6.0)
    """

    n_rows: float
    count: Array
    mean: Array
    squares: Array
    low: Array
    high: Array

    @classmethod
    def of(cls, values: Array, weight: Array | None = None) -> ColumnStatistics:
        """Of some rows. Without missing values it has the bits of numpy's mean and std."""
        is_there = ~np.isnan(values)
        if weight is not None:
            return cls._weighted(values, weight[:, np.newaxis], is_there)
        where = True if is_there.all() else is_there
        count = is_there.sum(axis=0).astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.sum(values, axis=0, where=where) / np.maximum(count, 1.0)
            squares = np.sum(np.square(values - mean), axis=0, where=where)
        low = np.min(values, axis=0, where=where, initial=np.inf)
        high = np.max(values, axis=0, where=where, initial=-np.inf)
        return cls(len(values), count, mean, squares, low, high)

    @classmethod
    def _weighted(cls, values: Array, weight: Array, is_there: Any) -> ColumnStatistics:
        values = np.where(is_there, values, 0.0)
        each = np.where(is_there, weight, 0.0)
        count = each.sum(axis=0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = (each * values).sum(axis=0) / np.where(count > 0, count, 1.0)
            squares = (each * np.square(values - mean)).sum(axis=0)
        low = np.min(values, axis=0, where=each > 0, initial=np.inf)
        high = np.max(values, axis=0, where=each > 0, initial=-np.inf)
        return cls(float(weight.sum()), count, mean, squares, low, high)

    def merged(self, other: ColumnStatistics) -> ColumnStatistics:
        """Of the rows of both, as Chan, Golub and LeVeque (1983) merge means and squares."""
        count = self.count + other.count
        share = other.count / np.where(count > 0, count, 1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            lead = other.mean - self.mean
            mean = self.mean + lead * share
            squares = self.squares + other.squares + lead**2 * (self.count * share)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return ColumnStatistics(self.n_rows + other.n_rows, count, mean, squares, low, high)

    def filled(self, fill: Array) -> ColumnStatistics:
        """Of the same rows, once a number per column stands for its missing values."""
        missing = self.n_rows - self.count
        bounds = (np.where(missing > 0, fill, bound) for bound in (self.low, self.high))
        return self.merged(ColumnStatistics(0, missing, fill, np.zeros(len(fill)), *bounds))

    @property
    def deviation(self) -> Array:
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.squares / self.count)

    @property
    def width(self) -> Array:
        with np.errstate(over="ignore"):
            return self.high - self.low
