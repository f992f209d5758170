"""Units of columns: what is measured of them, and logarithms of those with a long tail."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array
from eigencut.tables.categories import POLICY

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class ColumnStatistics:
    """What is known of each column, missing values apart.

    Rows and values count by their weights. ``squares`` is the sum of squared differences from the
    mean, and ``cubes`` of their third powers.
    """

    n_rows: float
    count: Array
    mean: Array
    squares: Array
    cubes: Array
    low: Array
    high: Array

    @classmethod
    def measure(cls, values: Array, weight: Array | None = None) -> ColumnStatistics:
        """Measure some rows; without missing values it has the bits of numpy's mean and std."""
        is_there = ~np.isnan(values)
        with np.errstate(over="ignore", invalid="ignore"):
            if weight is None:
                where = True if is_there.all() else is_there
                n_rows = float(len(values))
                count = is_there.sum(axis=0).astype(np.float64)
                mean = np.sum(values, axis=0, where=where) / np.maximum(count, 1.0)
                squares = np.sum(np.square(values - mean), axis=0, where=where)
                cubes = np.sum((values - mean) ** 3, axis=0, where=where)
            else:
                values = np.where(is_there, values, 0.0)
                each = np.where(is_there, weight[:, np.newaxis], 0.0)
                where, n_rows, count = each > 0, float(weight.sum()), each.sum(axis=0)
                mean = (each * values).sum(axis=0) / np.where(count > 0, count, 1.0)
                squares = (each * np.square(values - mean)).sum(axis=0)
                cubes = (each * (values - mean) ** 3).sum(axis=0)
        low = np.min(values, axis=0, where=where, initial=np.inf)
        high = np.max(values, axis=0, where=where, initial=-np.inf)
        return cls(n_rows, count, mean, squares, cubes, low, high)

    def merged(self, other: ColumnStatistics) -> ColumnStatistics:
        """Return those of the rows of both, as Chan, Golub and LeVeque (1983) merge them."""
        count = self.count + other.count
        share = other.count / np.where(count > 0, count, 1.0)
        own_share = np.where(count > 0, 1 - share, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            lead = other.mean - self.mean
            mean = self.mean + lead * share
            squares = self.squares + other.squares + lead**2 * (self.count * share)
            cubes = self.cubes + other.cubes + lead**3 * self.count * share * (own_share - share)
            cubes = cubes + 3 * lead * (own_share * other.squares - share * self.squares)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return ColumnStatistics(self.n_rows + other.n_rows, count, mean, squares, cubes, low, high)

    def with_values(self, value: Array, times: Array) -> ColumnStatistics:
        """Return those of the same rows with one more value in each column, so many times."""
        low, high = (np.where(times > 0, value, none) for none in (np.inf, -np.inf))
        zeros = np.zeros(len(value))
        return self.merged(ColumnStatistics(0, times, value, zeros, zeros, low, high))

    @property
    def deviation(self) -> Array:
        with np.errstate(invalid="ignore"):
            return np.sqrt(self.squares / self.count)

    @property
    def skewness(self) -> Array:
        """0 for symmetric columns; NaN for constant ones."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return np.asarray(self.cubes / self.count / self.deviation**3)


def log_of_positive(values: Array) -> Array:
    """Return logarithms; NaN where there is none."""
    return np.log(values, where=values > 0, out=np.full(values.shape, np.nan))


def logged(values: Array, floor: Array) -> Array:
    """Return the logarithms of columns that have a floor above 0; others stay.

    Below its floor, the least positive value of the fit, a column goes on along the tangent of the
    logarithm, so that zeros and negative numbers have a place too.
    """
    if not floor.any():
        return values
    safe = np.where(floor > 0, floor, 1.0)
    with np.errstate(over="ignore"):
        tangent = np.log(safe) + (values - safe) / safe
    found = np.where(values < safe, tangent, np.log(np.maximum(values, safe)))
    return np.where(floor > 0, found, values)


def unlogged(values: Array, floor: Array) -> Array:
    """Return what ``logged`` was given."""
    if not floor.any():
        return values
    safe = np.where(floor > 0, floor, 1.0)
    start = np.log(safe)
    largest = float(np.log(np.finfo(np.float64).max))
    above = np.exp(np.clip(values, start, largest))
    found = np.where(values < start, safe * (1 + values - start), above)
    return np.where(floor > 0, found, values)


def heavy_tails(
    statistics: ColumnStatistics, logs: ColumnStatistics, is_number: Mask
) -> tuple[Array, ColumnStatistics]:
    """Return the floor of each column that is better logged (0: as it is), and what then holds.

    ``logs`` are the statistics of ``log_of_positive``. A column is logged if it has no negative
    number, a long tail to the right, and hardly a tail after that.
    """
    n_zeros = statistics.count - logs.count  # where nothing is negative
    least = np.where(logs.count > 0, logs.low, 0.0)
    logs = logs.with_values(least - 1, n_zeros)
    with np.errstate(invalid="ignore"):
        is_heavy = (statistics.skewness > POLICY.skewed) & (statistics.low >= 0) & is_number
        is_heavy &= np.abs(logs.skewness) < POLICY.mended * statistics.skewness
    both = {
        part.name: np.where(is_heavy, getattr(logs, part.name), getattr(statistics, part.name))
        for part in fields(statistics)
        if part.name != "n_rows"
    }
    return np.where(is_heavy, np.exp(least), 0.0), replace(statistics, **both)
