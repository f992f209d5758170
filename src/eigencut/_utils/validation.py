"""Checks of what users pass, with errors that name parameter, expectation, value and remedy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_random_state

from eigencut._utils.arrays import Array, as_numpy

# Whole numbers in a text like "2-30" or "2,4,8".

_MOST = 1000


def parse_numbers(text: str, least: int = 1) -> list[int]:
    """Numbers of a text like "2-10" or "2,4,8"; errors begin with "must be".

    Examples
    --------
    >>> parse_numbers("2-4,8")
    [2, 3, 4, 8]
    """
    wrong = ValueError(f"must be numbers of at least {least}, like 2-10 or 2,4,8. Got {text!r}.")
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise wrong
        low, high = int(first), int(last if dash else first)
        if low < least or high < low:
            raise wrong
        if high - low + len(found) >= _MOST:
            raise ValueError(f"must be at most {_MOST} numbers. Got {text!r}.")
        found.extend(range(low, high + 1))
    return sorted(set(found))


def numbers_in_words(numbers: Iterable[int]) -> str:
    """A text that ``parse_numbers`` reads: what a model file holds of such a list.

    Examples
    --------
    >>> numbers_in_words([2, 3, 4, 8])
    '2-4,8'
    """
    runs: list[list[int]] = []
    for number in sorted({int(K) for K in numbers}):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


# Packages that only an extra brings.


def needed(module: str, extra: str) -> Any:
    """Import what an extra brings, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(
            f"{package} is needed for this: pip install 'eigencut[{extra}]'."
        ) from error


_LONGEST = 60  # letters of a value that is shown
_LARGEST_TOTAL = 1e100  # of weights: their squares are ordinary numbers


def shown(value: object) -> str:
    """A number or a word, shortened; of anything else its class, for it can be of any size."""
    if value is None or isinstance(value, (str, int, float, type)):
        text = repr(value)
        return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."
    return type(value).__name__


def check_count(name: str, value: object, remedy: str, least: int = 1) -> None:
    """An integer of at least 1, or of another least one."""
    is_integer = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not is_integer or value < least:  # type: ignore[operator]
        raise ValueError(f"{name} must be an integer of at least {least}. Got {value!r}; {remedy}.")


def refuse_split_model(model: object) -> None:
    """An error for what ``recluster`` returns, where only a model of one cut can be asked."""
    if getattr(model, "splits_", ()):
        raise TypeError(
            "model must be a fitted GPOD or TableModel. Got one whose clusters were split; ask "
            "about the model that was split, model.base_, or a part, model.splits_[0].part."
        )


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
        found = np.asarray(as_numpy(values))
        if np.iscomplexobj(found):
            raise TypeError("complex")
        return found.astype(np.float64, copy=False)
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


def check_eigenvectors(U: ArrayLike, n_clusters: int | None) -> Array:
    """Eigenvectors as columns: the first ``n_clusters`` of them, or all."""
    U = real_array("U", U)
    if U.ndim != 2 or 0 in U.shape:
        raise ValueError(
            f"U must be a two-dimensional array with rows and columns. Got shape {U.shape}; "
            "pass eigenvectors as columns."
        )
    if not np.isfinite(U).all():
        raise ValueError("U must be finite. Got NaN or infinity; drop those rows.")
    if n_clusters is None:
        return U
    check_count("n_clusters", n_clusters, "leave it out to use all columns")
    if n_clusters > U.shape[1]:
        raise ValueError(
            f"n_clusters must be between 1 and the {U.shape[1]} columns of U. "
            f"Got {n_clusters}; pass more eigenvectors or lower it."
        )
    return U[:, :n_clusters]


def check_weights(sample_weight: ArrayLike | None, n_rows: int) -> Array:
    """How many times each row counts; once for None."""
    if sample_weight is None:
        return np.ones(n_rows)
    weight = real_array("sample_weight", sample_weight)
    if weight.shape != (n_rows,) or not ((weight >= 0) & (weight < np.inf)).all():
        raise ValueError(
            f"sample_weight must hold one finite, non-negative number for each of the {n_rows} "
            f"rows. Got {described(weight)}; leave it out to weigh all rows equally."
        )
    return weight


def check_sample_weight(sample_weight: ArrayLike | None, n_rows: int) -> Array | None:
    """What each row counts, at least one of them more than nothing; None for None."""
    if sample_weight is None:
        return None
    weight = weights_of_rows(sample_weight, n_rows, lambda row: f"in row {row}")
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if not 1 / _LARGEST_TOTAL < total < _LARGEST_TOTAL:
        if total == 0:
            raise ValueError(
                "sample_weight must be positive for at least one row. Got zeros only; leave it out "
                "to weigh all rows equally."
            )
        raise ValueError(
            f"sample_weight must hold numbers of ordinary size. Got {total:.3g} together; divide "
            "them by their mean."
        )
    return weight


def weights_of_rows(weight: ArrayLike, n_rows: int, where: Callable[[int], str]) -> Array:
    """Weights as an array of finite numbers that are not negative, one for each row.

    ``where`` says where a weight stands, after its value.
    """
    found = real_array("sample_weight", weight)
    if found.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must hold one number for each of the {n_rows} rows. Got shape "
            f"{found.shape}; pass the weights of the same rows."
        )
    refuse_weights(found, "sample_weight", where)
    return found


def refuse_weights(weight: Array, name: str, where: Callable[[int], str]) -> None:
    """An error that names the first weight that is none, if there is one."""
    is_bad = ~((weight >= 0) & (weight < np.inf))
    if is_bad.any():
        row = int(np.argmax(is_bad))
        value = "a missing value" if np.isnan(weight[row]) else f"{weight[row]:g}"
        raise ValueError(
            f"{name} must be finite numbers of at least 0. Got {value} {where(row)}; correct it, "
            "or use 0 to leave the row out."
        )


def check_order(sample_order: ArrayLike | None, n_rows: int) -> NDArray[Any]:
    """A number per row by which rows are ordered; their own numbers for None."""
    order = np.arange(n_rows) if sample_order is None else real_array("sample_order", sample_order)
    if order.shape != (n_rows,) or np.isnan(order).any():
        raise ValueError(
            f"sample_order must hold one number for each of the {n_rows} rows. "
            f"Got {described(order)}; leave it out to order by row."
        )
    return order


def check_start(init: ArrayLike, n_clusters: int) -> Array:
    """A finite K x K matrix, singular or not."""
    shape = (n_clusters, n_clusters)
    start = real_array("init", init)
    if start.shape != shape or not np.isfinite(start).all():
        raise ValueError(
            f"init must be 'literal' or a finite matrix of shape {shape}. Got {described(start)}; "
            "leave it out for several starts from rows."
        )
    return start
