"""Checks of the numbers that go into bounds and curves."""

from __future__ import annotations

import math
from numbers import Real


def check_fraction(name: str, value: object, usual: float) -> float:
    """A number strictly between 0 and 1."""
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(
            f"{name} must be a number strictly between 0 and 1. Got {value!r}; use {name}={usual}."
        )
    return float(value)


def check_magnitude(name: str, value: object, remedy: str) -> float:
    """A finite number that is not negative."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not 0 <= float(value) < math.inf:  # type: ignore[arg-type]
        raise ValueError(f"{name} must be a finite number of at least 0. Got {value!r}; {remedy}.")
    return float(value)  # type: ignore[arg-type]
