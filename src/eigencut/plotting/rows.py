"""Rows as points: prepared by a model, not too many of them, and placed in the plane."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import shown as in_words
from eigencut.discretization import normalize_rows
from eigencut.exceptions import invalid
from eigencut.fitted import FittedCut
from eigencut.model import Mask, Model, check_model
from eigencut.plotting.style import spaced

MOST_SHOWN = 50_000  # points of a picture; more only cover each other


@dataclass(frozen=True)
class Shown:
    """Rows that are shown."""

    rows: Indices  # their places, ascending
    n_rows: int  # of how many

    @classmethod
    def draw(cls, n_rows: int, most: int = MOST_SHOWN, random_state: int = 0) -> Shown:
        """Take all rows, or so many of them at random: the same ones each time."""
        if n_rows <= most:
            return cls(np.arange(n_rows), n_rows)
        rng = np.random.default_rng(random_state)
        return cls(np.sort(rng.choice(n_rows, most, replace=False, shuffle=False)), n_rows)

    @property
    def is_all(self) -> bool:
        """Whether no row is left out."""
        return len(self.rows) == self.n_rows

    @property
    def sentence(self) -> str:
        """How many rows are shown, and of how many if not all are."""
        if self.is_all:
            return f"{spaced(self.n_rows)} rows"
        return f"{spaced(len(self.rows))} of {spaced(self.n_rows)} rows"

    @property
    def title(self) -> str:
        """The sentence as the title of a legend."""
        return self.sentence if self.is_all else f"{self.sentence} shown"


class PreparedRows(NamedTuple):
    """The complete rows as the GPOD of a model takes them, and which of them are shown."""

    model: Model
    rows: Any
    complete: Mask
    shown: Shown

    @property
    def some(self) -> Any:
        """The rows that are shown."""
        return self.rows[self.shown.rows]


@contextmanager
def prepared_rows(model: Any, X: Any, most: int = MOST_SHOWN) -> Iterator[PreparedRows]:
    """Check a model and prepare rows for it; inside, the model's threads compute."""
    model = check_model(model)
    with model.preparing(X) as (rows, complete):
        if not rows.shape[0]:
            raise invalid(
                "X",
                "have a row without missing values to show",
                f"{len(complete)} rows, none of them complete",
                "fill in what is missing",
            )
        yield PreparedRows(model, rows, complete, Shown.draw(rows.shape[0], most))


class Projection(NamedTuple):
    """How prepared rows become points of the plane."""

    kind: str  # "columns", "eigenfunctions", "pca" or "given"
    axis_labels: tuple[str, str]  # names of columns are as users wrote them
    apply: Callable[[Any], Array]  # prepared rows to points, unless they are given

    def points(self, rows: PreparedRows, given: Any, name: str) -> Array:
        """Return the points of the rows that are shown, from ``given`` where users have them."""
        if self.kind != "given":
            return self.apply(rows.some)
        return given_points(given, len(rows.complete), name)[rows.complete][rows.shown.rows]


def project(model: Model, rows: Any, how: Any = "auto") -> Projection:
    """Return how prepared rows become points: by a word, or an array of points of the user."""
    if not isinstance(how, str):
        return Projection("given", ("given coordinate 1", "given coordinate 2"), np.asarray)
    gpod, is_plane = model.gpod, model.is_plane and not issparse(rows)
    has_pca = not gpod.affinity_.pairwise and not issparse(rows) and rows.shape[1] > 1
    if how == "auto":
        how = "columns" if is_plane else "pca" if has_pca else "eigenfunctions"
    if how == "columns":
        if not is_plane:
            got = f"a model of {len(model.columns_)} columns"
            remedy = "use 'pca' or 'eigenfunctions'"
            raise invalid("projection='columns'", "have rows of two numbers", got, remedy)
        first, second = model.columns_
        return Projection(how, (first, second), model.in_units)
    if how == "eigenfunctions":
        if gpod.n_clusters_ < 2:
            expected, got = "have a model of two clusters at least", f"one of {gpod.n_clusters_}"
            raise invalid("projection='eigenfunctions'", expected, got, "use 'pca'")
        both, fitted = list(varying_functions(model)), gpod.fitted_cut_
        first, second = (f"eigenfunction {place + 1} (unit rows)" for place in both)
        if not hasattr(gpod, "eigenvalues_"):
            first, second = (f"share of cluster {place} (unit rows)" for place in both)
        return Projection(how, (first, second), lambda some: unit_rows(fitted, some)[:, both])
    if how == "pca":
        if not has_pca:
            got = "affinities" if gpod.affinity_.pairwise else "sparse rows, or of one column"
            remedy = "use 'eigenfunctions', or pass points of your own"
            raise invalid("projection='pca'", "have rows of two numbers or more", got, remedy)
        return _principal_components(np.asarray(rows, dtype=np.float64))
    raise invalid(
        "projection",
        "be 'auto', 'columns', 'eigenfunctions', 'pca', or an array of points of shape (n_rows, 2)",
        repr(how),
        "leave it out for 'auto'",
    )


def varying_functions(model: Model) -> tuple[int, int]:
    """Return the first two eigenfunctions that tell more than connected components apart.

    Of a discrete cut, the shares of the first two clusters.
    """
    values = getattr(model.gpod, "eigenvalues_", np.ones(2))
    n_zero = int((values <= 1e-10).sum())
    first = max(min(n_zero, len(values) - 2), 0)
    return first, first + 1


def unit_rows(fitted: FittedCut, rows: Any) -> Array:
    """Return the embedding of prepared rows, each of unit length."""
    embedding = fitted.embedding(rows)
    return normalize_rows(embedding.toarray() if issparse(embedding) else embedding)


def _principal_components(values: Array) -> Projection:
    largest = np.abs(values).max(initial=0.0) or 1.0  # so that no square is infinite
    mean = (values / largest).mean(axis=0)
    centred = values / largest - mean
    variances, directions = np.linalg.eigh(centred.T @ centred)
    # The sign of a direction is arbitrary: its largest entry is positive here.
    chosen = directions[:, :-3:-1]
    chosen = chosen * np.sign(chosen[np.abs(chosen).argmax(axis=0), [0, 1]])
    shares = variances[:-3:-1] / max(float(variances.sum()), np.finfo(np.float64).tiny)
    first, second = (f"principal component {k + 1} ({shares[k]:.0%} of variance)" for k in (0, 1))
    return Projection(
        "pca",
        (first, second),
        lambda some: (np.asarray(some, dtype=np.float64) / largest - mean) @ chosen * largest,
    )


def given_points(points: Any, n_rows: int, name: str) -> Array:
    """Return points that a user has for rows, checked."""
    try:
        given = np.asarray(points)
    except ValueError:  # lists of different lengths
        given = np.array(None)
    if given.shape != (n_rows, 2):
        raise invalid(
            name,
            f"be points of shape ({n_rows}, 2), one for each row",
            f"shape {given.shape}" if given.ndim else in_words(points),
            "pass two numbers for each row",
        )
    if given.dtype.kind not in "biuf":
        numbers = np.array([[_number(value) for value in row] for row in given])
    else:
        numbers = given.astype(np.float64)
    is_bad = ~np.isfinite(numbers).all(axis=1)
    if is_bad.any():
        row = int(is_bad.argmax())
        got = f"{' and '.join(str(value)[:30] for value in given[row])} in row {row}"
        expected = "be finite real numbers, two for each row"
        raise invalid(name, expected, got, "correct it, or leave such rows out")
    return numbers


def _number(value: Any) -> float:
    """Return a float, NaN for words and for complex numbers."""
    try:
        return math.nan if np.iscomplexobj(value) else float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan
