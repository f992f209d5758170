"""Checks of what users pass, with errors that name parameter, expectation, value and remedy."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from eigencut.runtime.arrays import Array


def check_count(name: str, value: object, remedy: str) -> None:
    """An integer of at least 1."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or value < 1:  # type: ignore[operator]
        raise ValueError(f"{name} must be an integer of at least 1. Got {value!r}; {remedy}.")


def check_random(name: str, value: object) -> None:
    """Something that seeds a generator."""
    try:
        check_random_state(0 if value is None else value)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{name} must be a non-negative integer, a numpy RandomState or None. "
            f"Got {value!r}; use {name}=0."
        ) from error


def check_n_jobs(n_jobs: object) -> None:
    """A number of threads, or None."""
    is_count = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if n_jobs is not None and not (is_count and n_jobs != 0):
        raise ValueError(
            "n_jobs must be a positive number of threads, or negative to count from all cores. "
            f"Got {n_jobs!r}; use None for all cores."
        )


def check_quantile(name: str, value: object, usual: float) -> None:
    """A number from 0, up to but not including 1."""
    if not (isinstance(value, Real) and 0 <= float(value) < 1):
        raise ValueError(
            f"{name} must be at least 0 and below 1. Got {value!r}; use the default of {usual}."
        )


def check_n_clusters(n_clusters: int, available: int, what: str) -> None:
    """Not more clusters than there is something to cluster."""
    if n_clusters > available:
        raise ValueError(
            f"n_clusters must be at most the number of {what}, {available}. "
            f"Got {n_clusters}; lower it or add data."
        )


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """One of a few words."""
    if not (isinstance(value, str) and value in choices):
        listed = " or ".join(repr(choice) for choice in choices)
        raise ValueError(f"{name} must be {listed}. Got {value!r}; use {name}={choices[0]!r}.")


def real_array(name: str, values: Any) -> Array:
    """An array of float64; complex numbers and words are refused."""
    try:
        if np.iscomplexobj(values):
            raise TypeError("complex")
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        kind = type(values).__name__
        raise ValueError(
            f"{name} must hold real numbers. Got a {kind} of something else; convert it."
        ) from error


def described(values: NDArray[Any]) -> str:
    """Shape and range, for an error message."""
    if values.size == 0:
        return f"shape {values.shape}"
    return f"shape {values.shape} with values from {values.min():.3g} to {values.max():.3g}"
