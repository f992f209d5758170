"""Dates as numbers: so many days, or other units, since the beginning of 1970 in UTC."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DAY = 86_400.0
UNITS_OF_DATES = {  # seconds in one
    "seconds": 1.0,
    "minutes": 60.0,
    "hours": 3600.0,
    "days": _DAY,
    "weeks": 7 * _DAY,
    "years": 365.2425 * _DAY,
}
_SHORTEST = len("20200131")


def date_number(cell: Any, unit: str = "days") -> float | None:
    """A date or an ISO 8601 text as a number; None if it is neither.

    A time without a zone is taken as UTC.

    Examples
    --------
    >>> date_number("1970-01-02"), date_number("1970-01-01T12:00+06:00", "hours")
    (1.0, 6.0)
    >>> date_number("tomorrow") is None
    True
    """
    if isinstance(cell, str):
        cell = _parsed(cell.strip())
    if isinstance(cell, np.datetime64):
        return float(numbers_of_dates(np.array([cell]), unit)[0])
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if not isinstance(cell, datetime):
        return None
    if cell.tzinfo is None:
        cell = cell.replace(tzinfo=UTC)
    return (cell - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / UNITS_OF_DATES[unit]


def _parsed(text: str) -> datetime | None:
    # Python reads 2020-W05 and 20200131 as dates too; digits alone are a number to most people.
    if len(text) < _SHORTEST or text.isdigit():
        return None
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return None


def numbers_of_dates(dates: NDArray[Any], unit: str = "days") -> NDArray[np.float64]:
    """An array of numpy's dates, or of its durations, as numbers; NaT is NaN."""
    kind = "datetime64" if dates.dtype.kind == "M" else "timedelta64"
    whole = dates.astype(f"{kind}[s]")  # a nanosecond count of float64 would round seconds
    rest = (dates.astype(f"{kind}[ns]") - whole).astype("timedelta64[ns]")
    seconds = whole.astype(np.int64) + rest.astype(np.int64) / 1e9
    return np.where(np.isnat(dates), np.nan, seconds / UNITS_OF_DATES[unit])
