"""What a model has made of the columns of a table, for people to read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eigencut.exceptions import printable
from eigencut.io.column_kinds import UNITS_OF_DATES, Kind
from eigencut.tables.categories import POLICY, WordPlaces
from eigencut.tables.preparation import NORMAL_RANGE, Preparation


@dataclass(frozen=True)
class ColumnSummary:
    """What is known of one column; ``is_given`` says that a user gave its kind.

    ``missing`` is the share of missing values, and ``mean`` that of the others.
    """

    name: str
    kind: str
    is_given: bool
    detail: str
    is_logged: bool = False
    missing: float = 0.0
    mean: float | None = None


@dataclass(frozen=True)
class TableSummary:
    """The columns of a model; prints as a table.

    Examples
    --------
    >>> columns = (ColumnSummary("age", "numeric", False, "mean 40"),)
    >>> print(TableSummary(columns))
    column  kind     found
    age     numeric  mean 40
    """

    columns: tuple[ColumnSummary, ...]

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain values, for JSON."""
        return [asdict(column) for column in self.columns]

    def __str__(self) -> str:
        lines = [("column", "kind", "found")]
        for column in self.columns:
            said = f"{column.detail} (as you said)" if column.is_given else column.detail
            lines.append((_clipped(column.name), column.kind, _clipped(said, 300)))
        first, second = (max(len(line[i]) for line in lines) for i in (0, 1))
        return "\n".join(f"{a:<{first}}  {b:<{second}}  {c}".rstrip() for a, b, c in lines)


def _clipped(text: str, most: int = 60) -> str:
    """Text of a table, which may be anything, so that it moves no cursor and fills no screen."""
    return printable(text if len(text) <= most else f"{text[: most - 3]}...")


def summarize_preparation(preparation: Preparation) -> TableSummary:
    """Return what was learned from the columns of a table."""
    points = preparation.categories
    words = {} if points is None else {column.column: column for column in points.columns}
    found = []
    for j, (name, kind) in enumerate(zip(preparation.columns, preparation.kinds, strict=True)):
        detail = _of_words(words[name]) if name in words else _of_units(preparation, j)
        share = float(preparation.missing_shares[j])
        if share:
            detail += f"; {share:.1%} missing"
        found.append(
            ColumnSummary(
                name=name,
                kind=kind.name,
                is_given=kind.is_given,
                detail=detail,
                is_logged=bool(preparation.floor[j] > 0),
                missing=share,
                mean=float(preparation.means[j]) if kind.is_scaled else None,
            )
        )
    return TableSummary(tuple(found))


def _of_words(column: WordPlaces) -> str:
    n_words, most = len(column.words), POLICY.listed_words
    found = ", ".join(column.words[:most])
    if n_words > most:
        found += f", ... ({n_words} in all)"
    if column.n_rare:
        rare = "1 rare word" if column.n_rare == 1 else f"{column.n_rare} rare words as one"
        found += f"; {rare}"
    return found.removeprefix("; ")


def _of_units(preparation: Preparation, j: int) -> str:
    """Return what a column of numbers was measured to be, in words of its kind."""
    kind, shift, scale = preparation.kinds[j], preparation.shift[j], preparation.scale[j]
    mean = _shown(preparation.means[j], kind)
    unit = f" {kind.unit}" if kind.name == "date" else ""
    if preparation.floor[j] > 0:
        usual = float(np.exp(shift))
        return f"mean {mean}; long tail, so the logarithm is used: around {usual:.4g}"
    weight = POLICY.order if kind.name == "ordered" and preparation.units == "auto" else 1.0
    standard = f"mean {mean}, deviation {scale * weight:.4g}{unit}"
    found = {
        "auto": standard,
        "standard": standard,
        "robust": f"median {_shown(shift, kind)}, from quartile to quartile "
        f"{NORMAL_RANGE * scale:.4g}{unit}",
        "minmax": f"from {_shown(shift, kind)} to {_shown(shift + scale, kind)}",
        "none": f"as it is, in{unit}" if unit else "as it is",
    }[preparation.units]
    return f"{' < '.join(kind.order)}; ranks: {found}" if kind.order else found


def _shown(number: float, kind: Kind) -> str:
    if kind.name != "date":
        return f"{number:.4g}"
    seconds = int(np.clip(number * UNITS_OF_DATES[kind.unit], -6e10, 2.5e11))
    return str(np.datetime64(seconds, "s").astype("datetime64[D]"))
