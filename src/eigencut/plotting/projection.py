"""Points of the plane for rows, and the words that say how they were made."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from eigencut._utils.arrays import Array
from eigencut._utils.validation import shown
from eigencut.discretization import normalize_rows
from eigencut.plotting.asked_model import AskedModel

KINDS = ("auto", "columns", "eigenfunctions", "pca")
_ZERO = 1e-10  # eigenvalues below count as zero
_LONGEST = 30  # letters of a value that is shown


@dataclass(frozen=True)
class Projection:
    """Carries prepared rows to points of the plane.

    Attributes
    ----------
    kind : {"columns", "eigenfunctions", "pca"}
    axis_labels : tuple of str
        What the two coordinates are; names of columns are as users wrote them.
    apply : callable
        Prepared rows to points, an array of shape (n_rows, 2).
    """

    kind: str
    axis_labels: tuple[str, str]
    apply: Callable[[Any], Array]


def project(asked: AskedModel, rows: Any, how: Any = "auto") -> Projection:
    """How rows become points.

    Parameters
    ----------
    asked : AskedModel
    rows : array of shape (n_rows, n_features)
        Prepared rows, all of them or some, that the projection is made for.
    how : {"auto", "columns", "eigenfunctions", "pca"}, default="auto"
        "columns": rows of two numbers are points. "pca": the two directions in which prepared rows
        differ most. "eigenfunctions": the first two that are not constant on connected rows, of
        rows of unit length. "auto" is columns for two numbers, PCA for more, and eigenfunctions
        for affinities and for sparse rows.

    Returns
    -------
    Projection
    """
    if not (isinstance(how, str) and how in KINDS):
        raise ValueError(
            "projection must be 'auto', 'columns', 'eigenfunctions', 'pca', or an array of points "
            f"of shape (n_rows, 2). Got {how!r}; leave it out for 'auto'."
        )
    if how == "auto":
        how = _automatic(asked, rows)
    return {"columns": _columns, "eigenfunctions": _eigenfunctions, "pca": _pca}[how](asked, rows)


def _automatic(asked: AskedModel, rows: Any) -> str:
    if asked.is_plane and not issparse(rows):
        return "columns"
    has_directions = not asked.is_pairwise and not issparse(rows) and rows.shape[1] > 1
    return "pca" if has_directions else "eigenfunctions"


def _columns(asked: AskedModel, rows: Any) -> Projection:
    if not asked.is_plane or issparse(rows):
        raise ValueError(
            "projection='columns' must have rows of two numbers. Got a model of "
            f"{len(asked.columns)} columns; use 'pca' or 'eigenfunctions'."
        )
    first, second = asked.columns
    return Projection("columns", (first, second), asked.in_units)


def _eigenfunctions(asked: AskedModel, rows: Any) -> Projection:
    n_functions = asked.gpod.n_clusters_
    if n_functions < 2:
        raise ValueError(
            "projection='eigenfunctions' must have a model of two clusters at least. Got one of "
            f"{n_functions}; use 'pca'."
        )
    both = list(telling_functions(asked))
    first, second = (f"eigenfunction {place + 1} (unit rows)" for place in both)
    return Projection(
        "eigenfunctions",
        (first, second),
        lambda some: normalize_rows(asked.embedding(some))[:, both],
    )


def telling_functions(asked: AskedModel) -> tuple[int, int]:
    """Places of the first two eigenfunctions that tell more than connected components apart."""
    values = asked.gpod.eigenvalues_
    n_zero = int((values <= _ZERO).sum())
    first = max(min(n_zero, len(values) - 2), 0)
    return first, first + 1


def _pca(asked: AskedModel, rows: Any) -> Projection:
    if asked.is_pairwise or issparse(rows) or rows.shape[1] < 2:
        got = "affinities" if asked.is_pairwise else "sparse rows, or of one column"
        raise ValueError(
            "projection='pca' must have rows of two numbers or more. Got "
            f"{got}; use 'eigenfunctions', or pass points of your own."
        )
    values = np.asarray(rows, dtype=np.float64)
    largest = np.abs(values).max(initial=0.0) or 1.0  # so that no square is infinite
    mean = (values / largest).mean(axis=0)
    centred = values / largest - mean
    variances, directions = np.linalg.eigh(centred.T @ centred)
    # The sign of a direction is arbitrary: its largest entry is positive here.
    chosen = directions[:, :-3:-1]
    chosen = chosen * np.sign(chosen[np.abs(chosen).argmax(axis=0), [0, 1]])
    shares = variances[:-3:-1] / max(float(variances.sum()), np.finfo(np.float64).tiny)
    labels = [f"principal component {k + 1} ({shares[k]:.0%} of variance)" for k in (0, 1)]
    return Projection(
        "pca",
        (labels[0], labels[1]),
        lambda some: (np.asarray(some, dtype=np.float64) / largest - mean) @ chosen * largest,
    )


def given_points(points: Any, n_rows: int, name: str = "projection") -> Array:
    """Points that a user has for rows, checked.

    Parameters
    ----------
    points : array-like of shape (n_rows, 2)
    n_rows : int
    name : str
        Of the parameter, for the error.

    Returns
    -------
    array of shape (n_rows, 2)
    """
    try:
        given = np.asarray(points)
    except ValueError:  # lists of different lengths
        given = np.array(None)
    if given.shape != (n_rows, 2):
        got = f"shape {given.shape}" if given.ndim else shown(points)
        raise ValueError(
            f"{name} must be points of shape ({n_rows}, 2), one for each row. Got "
            f"{got}; pass two numbers for each row."
        )
    found = _numbers(given)
    is_bad = ~np.isfinite(found).all(axis=1)
    if is_bad.any():
        row = int(is_bad.argmax())
        pair = " and ".join(str(value)[:_LONGEST] for value in given[row])
        raise ValueError(
            f"{name} must be finite real numbers, two for each row. Got {pair} in row {row}; "
            "correct it, or leave such rows out."
        )
    return found


def _numbers(values: NDArray[Any]) -> Array:
    """As float64, with NaN for words and for complex numbers."""
    try:
        if not np.iscomplexobj(values):
            return values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        pass
    return np.array([[_number(value) for value in row] for row in values])


def _number(value: Any) -> float:
    try:
        return math.nan if np.iscomplexobj(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
