"""Kinds of columns: find them out from cells, and turn cells into numbers, dates and words."""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.exceptions import invalid, shortened

KINDS = ("numeric", "boolean", "date", "ordered", "categorical")
DAY = 86_400.0  # seconds
MISSING = {"", "?", "na", "n/a", "nan", "null", "none", "."}  # in text files, in any letter case


def quoted(names: Sequence[str], most: int = 8) -> str:
    """Return names for an error message; after ``most`` of them, only their number."""
    listed = ", ".join(repr(name) for name in names[:most])
    return listed if len(names) <= most else f"{listed}, ... ({len(names)} in all)"


def labels_of(frame: Any) -> list[Any]:
    """Return the labels of the columns of a data frame of pandas, polars or pyarrow."""
    of_arrow = getattr(frame, "column_names", None)  # its ``columns`` are arrays, not labels
    if not isinstance(of_arrow, list):
        return list(frame.columns)
    refuse_duplicates(of_arrow)
    return of_arrow


def plain_names(n_columns: int) -> tuple[str, ...]:
    """Return the names x1, x2, ... for columns without names."""
    return tuple(f"x{i}" for i in range(1, n_columns + 1))


def absent(wanted: Sequence[str], names: Iterable[str]) -> list[str]:
    """Return the wanted names that are not in ``names``."""
    present = set(names)
    return [name for name in wanted if name not in present]


def places(wanted: Sequence[str], names: Sequence[str]) -> list[int]:
    """Return the index of each wanted name in ``names``."""
    place_of = {name: place for place, name in enumerate(names)}
    return [place_of[name] for name in wanted]


def refuse_duplicates(names: Sequence[str]) -> None:
    """Raise an error if two columns have the same name."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        got = f"{quoted(twice)} more than once"
        raise invalid("Columns", "have different names", got, "rename them")


def refuse_absent(needed: Sequence[str], names: Sequence[str]) -> None:
    """Raise an error if a table with columns ``names`` lacks columns of the model."""
    missing = absent(needed, names)
    if missing:
        got = f"no {quoted(missing)} among {quoted(names)}"
        expected = "have the columns that the model was fitted on"
        raise invalid("The table", expected, got, "rename or add them")


def word_of(cell: Any) -> str | None:
    """Return a cell as a word, the same for "1", "1.0" and 1; None if it is missing."""
    if isinstance(cell, str):
        text = cell.strip()
        if text.lower() in ("true", "false"):
            return text.lower()
        if text and (text[0].isdigit() or text[0] in "-+.") and "_" not in text:
            with suppress(ValueError):
                number = float(text)
                return _shown_number(number) if math.isfinite(number) else text
        return text or None
    if is_missing(cell):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    if isinstance(cell, (int, float, np.integer, np.floating)):
        try:
            return _shown_number(float(cell))
        except OverflowError:
            return "inf" if cell > 0 else "-inf"
    return str(cell)


def _shown_number(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def is_missing(cell: Any) -> bool:
    """Return whether a cell is None, NaN, or pandas' NA or NaT."""
    is_nan = isinstance(cell, (float, np.floating)) and cell != cell
    return cell is None or is_nan or type(cell).__name__ in ("NAType", "NaTType")


def shown_word(word: str, most: int = 30) -> str:
    """Return a word for messages, quoted and shortened."""
    return repr(shortened(word, most))


def number_of_text(cell: str, decimal: str = ".") -> float | None:
    """Return a cell of text as a number; NaN if it is missing, None if it is something else."""
    with suppress(ValueError):
        if decimal == ".":
            return float(cell)
        if "." not in cell:  # 1.500 is ambiguous: it can mean 1500 or 1.5
            return float(cell.replace(decimal, "."))
    text = cell.strip().lower()
    return math.nan if text in MISSING else {"true": 1.0, "false": 0.0}.get(text)


def other_notation(cells: Iterable[str], decimal: str = ".") -> str:
    """Return a hint for errors if cells would be numbers in another notation, otherwise ""."""
    text = [cell.strip() for cell in cells]
    other = "," if decimal == "." else "."
    point, mark = re.escape(decimal), re.escape(other)
    if all(re.fullmatch(rf"[-+]?\d{{1,3}}({mark}\d{{3}})+({point}\d+)?", cell) for cell in text):
        if any(cell.count(other) > 1 or decimal in cell for cell in text):
            return "a thousands separator, write numbers without"
        return f"a thousands separator, or decimal {other!r}"
    if all(re.fullmatch(rf"[-+]?\d*{mark}\d+([eE][-+]?\d+)?", cell) for cell in text):
        return f"a decimal {'comma' if other == ',' else 'point'}, read with decimal {other!r}"
    return ""


def date_number(cell: Any) -> float | None:
    """Return a date or an ISO 8601 text in days since 1970 (UTC by default), or None."""
    if isinstance(cell, str):
        text, cell = cell.strip(), None
        # Python reads 20200131 as a date too, but it is more likely to be a number.
        if len(text) >= len("20200131") and not text.isdigit():
            with suppress(ValueError):
                cell = datetime.fromisoformat(text)
    if isinstance(cell, np.datetime64):
        return float(numbers_of_dates(np.array([cell]))[0])
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if not isinstance(cell, datetime):
        return None
    if cell.tzinfo is None:
        cell = cell.replace(tzinfo=UTC)
    return (cell - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / DAY


def numbers_of_dates(dates: NDArray[Any]) -> NDArray[np.float64]:
    """Return numpy's dates as days since 1970, or its durations as days; NaT becomes NaN."""
    kind = "datetime64" if dates.dtype.kind == "M" else "timedelta64"
    whole = dates.astype(f"{kind}[s]")  # all nanoseconds in one float64 would be rounded
    rest = (dates.astype(f"{kind}[ns]") - whole).astype("timedelta64[ns]")
    seconds = whole.astype(np.int64) + rest.astype(np.int64) / 1e9
    return np.where(np.isnat(dates), np.nan, seconds / DAY)


@dataclass(frozen=True)
class Kind:
    """The kind of a column; ``order`` has the words of an ordered column, the lowest first."""

    name: str
    order: tuple[str, ...] = ()
    is_given: bool = False  # by the user, not found out

    @classmethod
    def from_user(cls, column: str, given: Any) -> Kind:
        """Return the kind that the user gave for a column, checked."""
        if isinstance(given, str):
            if given in (*KINDS, "ignore") and given != "ordered":
                return cls(given, is_given=True)
        elif isinstance(given, Sequence) and not isinstance(given, bytes):
            kind = cls.ordered(given)
            if kind is not None:
                return cls(kind.name, kind.order, is_given=True)
        expected = "be 'numeric', 'boolean', 'categorical', 'date', 'ignore' or a list of words"
        raise invalid(f"columns[{column!r}]", expected, repr(given), "correct it")

    @classmethod
    def ordered(cls, words: Sequence[Any]) -> Kind | None:
        """Return the kind with this order, or None if words are missing or not different."""
        order = tuple(word_of(word) or "" for word in words)
        is_order = len(order) > 1 and "" not in order and len(set(order)) == len(order)
        return cls("ordered", order) if is_order else None

    @property
    def has_words(self) -> bool:
        """Whether the cells are words, which are numbered in the order of their appearance."""
        return self.name in ("ordered", "categorical", "boolean")

    @property
    def is_scaled(self) -> bool:
        """Whether the column becomes one scaled number; words without order become coordinates."""
        return self.name in ("numeric", "date", "ordered")


NUMERIC = Kind("numeric")


def kind_of_text(different: Iterable[str], decimal: str = ".") -> Kind:
    """Return the kind of a column from its different cells of text, without missing ones."""
    meant = {cell.strip(): number_of_text(cell, decimal) for cell in different}
    numbers = [cell for cell, value in meant.items() if value is not None and value == value]
    others = [cell for cell, value in meant.items() if value is None]  # cells like "NA" are NaN
    if not others:
        is_truth = bool(numbers) and all(cell.lower() in ("true", "false") for cell in numbers)
        return Kind("boolean") if is_truth else NUMERIC
    if len(others) < len(numbers):
        return NUMERIC
    digits = [cell for cell in others if re.search(r"\d", cell)]
    n_dates = sum(date_number(cell) is not None for cell in digits)
    if n_dates > (len(others) + len(numbers)) / 2:
        return Kind("date")
    if len(digits) == len(others) and other_notation(others, decimal):
        return NUMERIC
    return Kind("categorical")


def kind_of_cells(cells: NDArray[Any]) -> Kind:
    """Return the kind of a column whose cells are not text: truth values, dates or numbers."""
    if cells.dtype.kind == "O":
        there = [cell for cell in cells if not is_missing(cell)]
        if there and all(isinstance(cell, (bool, np.bool_)) for cell in there):
            return Kind("boolean")
        is_date = bool(there) and all(isinstance(cell, (date, np.datetime64)) for cell in there)
        return Kind("date") if is_date else NUMERIC
    return {"b": Kind("boolean"), "M": Kind("date")}.get(cells.dtype.kind, NUMERIC)


def given_kinds(columns: Any) -> dict[str, Kind]:
    """Return the kinds that the user gave by the parameter ``columns``."""
    given = columns if isinstance(columns, Mapping) else {}
    return {str(name): Kind.from_user(str(name), kind) for name, kind in given.items()}


def check_columns(columns: Any) -> None:
    """Raise an error if the parameter ``columns`` of ``TableModel`` is invalid."""
    if columns is None or isinstance(columns, Mapping):
        given_kinds(columns)
        return
    is_list = isinstance(columns, Sequence) and not isinstance(columns, (str, bytes, range))
    if not is_list or len(set(map(str, columns))) < len(columns) or not len(columns):
        expected = "be None, a list of different names, or a dict from names to kinds"
        raise invalid("columns", expected, repr(columns), "use e.g. {'town': 'categorical'}")


def columns_to_text(columns: Any) -> str | None:
    """Return the parameter ``columns`` as JSON, for model files."""
    if columns is None:
        return None
    if not isinstance(columns, Mapping):
        return json.dumps([str(name) for name in columns])
    plain = {
        str(name): kind if isinstance(kind, str) else [word_of(word) for word in kind]
        for name, kind in columns.items()
    }
    return json.dumps(plain)


def columns_from_text(text: Any) -> Any:
    """Return the parameter ``columns`` from the JSON of a model file."""
    try:
        return None if text is None else json.loads(text)
    except RecursionError as error:  # from a hostile file
        raise ValueError("columns must be a few names and kinds.") from error
