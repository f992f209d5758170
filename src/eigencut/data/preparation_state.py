"""A preparation as plain values and arrays for a file, and back, with suspicion."""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut.data.categories import Categories, WordPlaces
from eigencut.data.column_kinds import KINDS, NUMERIC, Kind
from eigencut.data.dates import UNITS_OF_DATES
from eigencut.data.preparation import Preparation
from eigencut.exceptions import ModelFileError
from eigencut.files.state_reader import StateReader


def preparation_state(preparation: Preparation) -> dict[str, Any]:
    """What a file keeps; where all columns are numeric, as before there were other kinds."""
    state: dict[str, Any] = {
        "columns": preparation.columns,
        "shift": preparation.shift,
        "scale": preparation.scale,
        "fill": preparation.fill,
    }
    if all(kind == NUMERIC for kind in preparation.kinds):
        return state
    points = preparation.categories
    of_words = () if points is None else points.columns
    state["kinds"] = [
        {"kind": kind.name, "order": list(kind.order), "unit": kind.unit, "given": kind.is_given}
        for kind in preparation.kinds
    ]
    state["words"] = [
        {"column": column.column, "words": list(column.words), "n_rare": column.n_rare}
        for column in of_words
    ]
    if points is not None:
        state["shares"] = np.concatenate([column.shares for column in of_words])
        state["points"] = points.points
    return state


def restored_preparation(
    state: StateReader, units: str, missing: str, n_features: int
) -> Preparation:
    """A preparation from its state, for a model of rows of so many numbers."""
    kinds = _kinds(state) if "kinds" in state else (NUMERIC,) * n_features
    columns = state.words("columns", len(kinds))
    shape = (len(kinds),)
    shift, scale, fill = (state.coordinates(name, shape) for name in ("shift", "scale", "fill"))
    if (scale <= 0).any():
        raise ValueError("scale must be positive.")
    with_words = [c for c, kind in zip(columns, kinds, strict=True) if not kind.is_scaled]
    points = _categories(state, with_words, missing) if with_words else None
    found = Preparation(columns, units, missing, shift, scale, fill, kinds, points)
    if found.width != n_features:
        raise ModelFileError("columns and words must make rows of the width of the model.")
    return found


def _kinds(state: StateReader) -> tuple[Kind, ...]:
    found = []
    for part in _parts(state, "kinds"):
        name, unit = part.word("kind", KINDS), part.word("unit", UNITS_OF_DATES)
        order = _words(part, "order")
        if (name == "ordered") != (len(order) > 1):
            raise ModelFileError("kinds.order must be two or more words of an ordered column.")
        found.append(Kind(name, order, unit, part.flag("given")))
    return tuple(found)


def _categories(state: StateReader, columns: list[str], missing: str) -> Categories:
    parts = _parts(state, "words")
    described = [
        (part.word("column", tuple(columns)), _words(part, "words"), part.integer("n_rare", 0))
        for part in parts
    ]
    if [column for column, _, _ in described] != columns:
        raise ModelFileError("words must be those of each column of words.")
    sizes = [len(words) + (n_rare > 0) for _, words, n_rare in described]
    shares = state.array("shares", (sum(sizes),), least=0.0, most=1.0)
    split = np.split(shares, np.cumsum(sizes)[:-1])
    points = state.array("points", (sum(sizes) + len(sizes), None))
    places = tuple(WordPlaces(*of, p) for of, p in zip(described, split, strict=True))
    return Categories(places, points, "usual" if missing == "median" else "middle")


def _parts(state: StateReader, name: str) -> list[StateReader]:
    value = state.raw(name)
    if not isinstance(value, list):
        raise ModelFileError(f"{name} must be a list.")
    return [StateReader(item, name) for item in value]


def _words(part: StateReader, name: str) -> tuple[str, ...]:
    value = part.raw(name)
    return tuple(part.words(name, len(value) if isinstance(value, list) else 0))
