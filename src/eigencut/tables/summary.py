"""What a model has made of the columns of a table, for people to read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from eigencut.io.column_kinds import UNITS_OF_DATES, Kind
from eigencut.tables.categories import WordPlaces
from eigencut.tables.preparation import Preparation

_LISTED = 6  # words of a column


@dataclass(frozen=True)
class ColumnSummary:
    """What is known of one column.

    Attributes
    ----------
    name, kind : str
    is_given : bool
        Whether the kind was said, not found out.
    detail : str
    """

    name: str
    kind: str
    is_given: bool
    detail: str


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

    @classmethod
    def of(cls, preparation: Preparation) -> TableSummary:
        """Of what was learned from a table."""
        points = preparation.categories
        words = {} if points is None else {column.column: column for column in points.columns}
        found = []
        for j, (name, kind) in enumerate(zip(preparation.columns, preparation.kinds, strict=True)):
            if name in words:
                detail = _of_words(words[name])
            else:
                shift, scale = float(preparation.shift[j]), float(preparation.scale[j])
                detail = _of_units(preparation.units, kind, shift, scale)
            found.append(ColumnSummary(name, kind.name, kind.is_given, detail))
        return cls(tuple(found))

    def to_dict(self) -> list[dict[str, Any]]:
        """Plain values, for JSON."""
        return [asdict(column) for column in self.columns]

    def __str__(self) -> str:
        lines = [("column", "kind", "found")]
        for column in self.columns:
            said = f"{column.detail} (said)" if column.is_given else column.detail
            lines.append((column.name, column.kind, said))
        first, second = (max(len(line[i]) for line in lines) for i in (0, 1))
        return "\n".join(f"{a:<{first}}  {b:<{second}}  {c}".rstrip() for a, b, c in lines)


def _of_words(column: WordPlaces) -> str:
    n_words, found = len(column.words), ", ".join(column.words[:_LISTED])
    if n_words > _LISTED:
        found += f", ... ({n_words} in all)"
    if column.n_rare:
        rare = "1 rare word" if column.n_rare == 1 else f"{column.n_rare} rare words as one"
        found += f"; {rare}"
    return found.removeprefix("; ")


def _of_units(units: str, kind: Kind, shift: float, scale: float) -> str:
    """What a column of numbers was measured to be, in words of its kind."""
    unit = f" {kind.unit}" if kind.name == "date" else ""
    found = {
        "standard": f"mean {_shown(shift, kind)}, deviation {scale:.4g}{unit}",
        "minmax": f"from {_shown(shift, kind)} to {_shown(shift + scale, kind)}",
        "none": f"as it is, in{unit}" if unit else "as it is",
    }[units]
    return f"{' < '.join(kind.order)}; ranks: {found}" if kind.order else found


def _shown(number: float, kind: Kind) -> str:
    if kind.name != "date":
        return f"{number:.4g}"
    seconds = int(np.clip(number * UNITS_OF_DATES[kind.unit], -6e10, 2.5e11))
    return str(np.datetime64(seconds, "s").astype("datetime64[D]"))
