"""Checks of arguments; errors name the parameter, what it must be, what it is, and a remedy."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from eigencut._utils.arrays import Array
from eigencut.exceptions import invalid, shortened


def parse_numbers(text: str, least: int = 1, most: int = 1000) -> list[int]:
    """Return the numbers of a text like "2-4,8", ``most`` at most; errors begin with "must be"."""
    wrong = ValueError(f"must be numbers of at least {least}, like 2-10 or 2,4,8. Got {text!r}.")
    numbers: list[int] = []
    for part in text.split(","):
        found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", part)
        low, high = (int(found[1]), int(found[2] or found[1])) if found else (0, -1)
        if low < least or high < low:
            raise wrong
        if high - low + len(numbers) >= most:
            raise ValueError(f"must be at most {most} numbers. Got {text!r}.")
        numbers.extend(range(low, high + 1))
    return sorted(set(numbers))


def numbers_in_words(numbers: Iterable[int]) -> str:
    """Return the text that ``parse_numbers`` reads as these numbers, for model files."""
    ordered = np.unique([int(K) for K in numbers])
    runs = np.split(ordered, np.flatnonzero(np.diff(ordered) > 1) + 1)
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def needed(module: str, extra: str) -> Any:
    """Import a module of an optional dependency; the error tells which extra installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        text = f"{module.split('.')[0]} is needed for this: pip install 'eigencut[{extra}]'."
        raise ImportError(text) from error


def shown(value: object, longest: int = 60) -> str:
    """Return a number or text for messages, shortened; for other values, their class name."""
    if value is None or isinstance(value, (str, int, float, type)):
        return shortened(repr(value), longest)
    return type(value).__name__


def is_real(value: object) -> bool:
    """Return whether a value is a real number in the range of float, and not a bool."""
    is_long = isinstance(value, Integral) and abs(int(value)) >= 2**1023
    return isinstance(value, Real) and not isinstance(value, bool) and not is_long


def is_integer(value: object) -> bool:
    """Return whether a value is an integer, and not a bool."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def check_count(
    name: str, value: Any, remedy: str, least: int = 1, most: int | None = None
) -> None:
    """Raise an error unless the value is an integer from ``least`` to ``most``."""
    if is_integer(value) and least <= value <= (value if most is None else most):
        return
    expected = f"be an integer of at least {least}"
    expected += "" if most is None else f" and at most {most}"
    raise invalid(name, expected, shown(value), remedy)


def check_random(name: str, value: object) -> None:
    """Raise an error unless the value can seed numpy's random generators."""
    try:
        check_random_state(0 if value is None else value)
    except (TypeError, ValueError) as error:
        expected = "be a non-negative integer, a numpy RandomState or None"
        raise invalid(name, expected, repr(value), f"use {name}=0") from error


def check_n_jobs(n_jobs: Any, most: int = 1024) -> None:
    """Raise an error unless ``n_jobs`` is None or a number of threads, as in scikit-learn."""
    if n_jobs is not None and not (is_integer(n_jobs) and n_jobs != 0 and n_jobs <= most):
        expected = f"be a number of threads up to {most}, or negative to count from all cores"
        raise invalid("n_jobs", expected, shown(n_jobs), "use None for all cores")


def check_quantile(name: str, value: object, usual: float) -> None:
    """Raise an error unless the value is a number of at least 0 and below 1."""
    if not (is_real(value) and 0 <= float(value) < 1):  # type: ignore[arg-type]
        raise invalid(name, "be at least 0 and below 1", repr(value), f"use the default of {usual}")


def check_fraction(name: str, value: Any, usual: float) -> float:
    """Return the value as a float; raise an error unless it is strictly between 0 and 1."""
    if not is_real(value) or not 0 < float(value) < 1:
        expected = "be a number strictly between 0 and 1"
        raise invalid(name, expected, repr(value), f"use {name}={usual}")
    return float(value)


def check_magnitude(name: str, value: Any, remedy: str) -> float:
    """Return the value as a float; raise an error unless it is finite and at least 0."""
    if not is_real(value) or not 0 <= float(value) < math.inf:
        raise invalid(name, "be a finite number of at least 0", repr(value), remedy)
    return float(value)


def check_n_clusters(n_clusters: int, available: int, what: str) -> None:
    """Raise an error if there are more clusters than rows (or whatever ``what`` names)."""
    if n_clusters > available:
        expected = f"be at most the number of {what}, {available}"
        raise invalid("n_clusters", expected, n_clusters, "lower it or add data")


def check_choice(name: str, value: object, choices: Sequence[str]) -> None:
    """Raise an error unless the value is one of the choices."""
    if not (isinstance(value, str) and value in choices):
        listed = " or ".join(repr(choice) for choice in choices)
        raise invalid(name, f"be {listed}", repr(value), f"use {name}={choices[0]!r}")


def check_has_cut(model: Any) -> Any:
    """Return the model; raise an error unless it is one of eigencut's, fitted or not."""
    if isinstance(model, type) or not hasattr(model, "one_cut"):
        expected, got = "be a GPOD, a TableModel or what recluster returns", type(model).__name__
        raise invalid("model", expected, got, "pass a fitted one, or eigencut.load(path)")
    return model


def as_numpy(values: Any) -> Any:
    """Return arrays with ``__dlpack__``, such as tensors, as numpy's; other values unchanged."""
    if isinstance(values, np.ndarray) or not hasattr(values, "__dlpack__"):
        return values
    return np.asarray(values) if hasattr(values, "__array__") else np.from_dlpack(values)


def real_array(name: str, values: Any) -> Array:
    """Return the values as an array of float64; refuse complex numbers and text."""
    try:
        found = np.asarray(as_numpy(values))
        if np.iscomplexobj(found):
            raise TypeError("complex")
        return found.astype(np.float64, copy=False)
    except (OverflowError, TypeError, ValueError) as error:
        got = f"a {type(values).__name__} of something else"
        raise invalid(name, "hold real numbers", got, "convert it") from error


def described(values: NDArray[Any]) -> str:
    """Return the shape and the range of values, for error messages."""
    if values.size == 0:
        return f"shape {values.shape}"
    return f"shape {values.shape} with values from {values.min():.3g} to {values.max():.3g}"


def check_eigenvectors(U: ArrayLike, n_clusters: int | None) -> Array:
    """Return the first ``n_clusters`` columns of U (None: all), checked to be finite numbers."""
    U = real_array("U", U)
    if U.ndim != 2 or 0 in U.shape:
        expected = "be a two-dimensional array with rows and columns"
        raise invalid("U", expected, f"shape {U.shape}", "pass eigenvectors as columns")
    if not np.isfinite(U).all():
        raise invalid("U", "be finite", "NaN or infinity", "drop those rows")
    if n_clusters is None:
        return U
    check_count("n_clusters", n_clusters, "leave it out to use all columns")
    if n_clusters > U.shape[1]:
        expected = f"be between 1 and the {U.shape[1]} columns of U"
        raise invalid("n_clusters", expected, n_clusters, "pass more eigenvectors or lower it")
    return U[:, :n_clusters]


def check_sample_weight(sample_weight: ArrayLike | None, n_rows: int) -> Array | None:
    """Return the weights of rows, checked; at least one must be positive. None stays None."""
    if sample_weight is None:
        return None
    weight = weights_of_rows(sample_weight, n_rows)
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if total == 0:
        remedy = "leave it out to weigh all rows equally"
        raise invalid("sample_weight", "be positive for at least one row", "zeros only", remedy)
    if not 1e-18 < total < 1e18:  # beyond, one row more or less is lost in rounding
        got, remedy = f"{total:.3g} together", "divide them by their mean"
        raise invalid("sample_weight", "hold numbers of ordinary size", got, remedy)
    return weight


def weights_of_rows(weight: ArrayLike, n_rows: int, n_before: int = 0) -> Array:
    """Return finite weights of at least 0, one per row; errors number rows from ``n_before`` on."""
    found = real_array("sample_weight", weight)
    if found.shape != (n_rows,):
        expected = f"hold one number for each of the {n_rows} rows"
        got, remedy = f"shape {found.shape}", "pass the weights of the same rows"
        raise invalid("sample_weight", expected, got, remedy)
    refuse_weights(found, "sample_weight", lambda row: f"in row {row + n_before}")
    return found


def refuse_weights(weight: Array, name: str, where: Callable[[int], str]) -> None:
    """Raise an error that names the first weight that is negative, infinite or NaN."""
    is_bad = ~((weight >= 0) & (weight < np.inf))
    if is_bad.any():
        row = int(np.argmax(is_bad))
        value = "a missing value" if np.isnan(weight[row]) else f"{weight[row]:g}"
        remedy = "correct it, or use 0 to leave the row out"
        raise invalid(name, "be finite numbers of at least 0", f"{value} {where(row)}", remedy)
