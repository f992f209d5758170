"""What a column holds: numbers, truth values, dates, words in an order, or words without one."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array

# The words of a column, numbered in the order in which they come.

MOST_WORDS = 1 << 16  # of a column; more are surely no categories
_SHOWN = 30  # characters of a word in messages


def word_of(cell: Any) -> str | None:
    """A cell as a word; None if it is missing.

    A number is the same word however it is written, since tables that have been through other
    programs write it otherwise.

    Examples
    --------
    >>> [word_of(cell) for cell in (" Rome", "01", 1, 1.0, "1.50", True, "TRUE", "", None)]
    ['Rome', '1', '1', '1', '1.5', 'true', 'true', None, None]
    """
    if isinstance(cell, str):
        text = cell.strip()
        if not text:
            return None
        if text.lower() in ("true", "false"):
            return text.lower()
        number = _plain_number(text)
        return text if number is None else _shown_number(number)
    if cell is None or type(cell).__name__ in ("NAType", "NaTType"):
        return None
    if isinstance(cell, (bool, np.bool_)):
        return "true" if cell else "false"
    if isinstance(cell, (int, float, np.integer, np.floating)):
        return None if math.isnan(cell) else _shown_number(float(cell))
    return str(cell)


def _plain_number(text: str) -> float | None:
    if not (text[0].isdigit() or text[0] in "-+.") or "_" in text:
        return None
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _shown_number(number: float) -> str:
    return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)


def shown_word(word: str) -> str:
    """A word for messages, not too long."""
    return repr(word if len(word) <= _SHOWN else f"{word[: _SHOWN - 3]}...")


class Words:
    """Numbers for words, which stay the same as more words come.

    Examples
    --------
    >>> town = Words("town")
    >>> town.codes(["Rome", None, "Oslo", "Rome"])
    array([ 0., nan,  1.,  0.])
    >>> list(town)
    ['Rome', 'Oslo']
    """

    def __init__(self, column: str) -> None:
        self._column = column
        self._numbers: dict[str, int] = {}

    def __iter__(self) -> Iterator[str]:
        return iter(self._numbers)

    def __len__(self) -> int:
        return len(self._numbers)

    def code(self, cell: Any) -> float:
        """The number of the word in a cell, NaN if it is missing; a new word gets the next one."""
        word = word_of(cell)
        if word is None:
            return math.nan
        if word not in self._numbers and len(self._numbers) >= MOST_WORDS:
            raise ValueError(
                f"Column {self._column!r} must have at most {MOST_WORDS} different words. Got "
                "more; drop it, or put words together."
            )
        return float(self._numbers.setdefault(word, len(self._numbers)))

    def codes(self, cells: Sequence[Any]) -> Array:
        """The numbers of the words in cells."""
        codes = {cell: self.code(cell) for cell in dict.fromkeys(cells)}
        return np.fromiter(map(codes.__getitem__, cells), dtype=np.float64, count=len(cells))

    def codes_of(self, different: Sequence[Any], places: Iterable[int]) -> Array:
        """The numbers of words that are given as places in a list; -1 is a missing one.

        New words are numbered by their first appearance among the cells, as ``codes`` does.
        """
        found: Any = np.asarray(places, dtype=np.int64)
        used, first = np.unique(found, return_index=True)
        codes = np.full(len(different) + 1, np.nan)  # the last one is for -1
        for place in used[np.argsort(first)]:
            if place >= 0:
                codes[place] = self.code(different[place])
        return codes[found]


# Dates as numbers: so many days, or other units, since the beginning of 1970 in UTC.

_DAY = 86_400.0
UNITS_OF_DATES = {  # seconds in one
    "seconds": 1.0,
    "minutes": 60.0,
    "hours": 3600.0,
    "days": _DAY,
    "weeks": 7 * _DAY,
    "years": 365.2425 * _DAY,
}
_SHORTEST = len("20200131")


def date_number(cell: Any, unit: str = "days") -> float | None:
    """A date or an ISO 8601 text as a number; None if it is neither.

    A time without a zone is taken as UTC.

    Examples
    --------
    >>> date_number("1970-01-02"), date_number("1970-01-01T12:00+06:00", "hours")
    (1.0, 6.0)
    >>> date_number("tomorrow") is None
    True
    """
    if isinstance(cell, str):
        cell = _parsed(cell.strip())
    if isinstance(cell, np.datetime64):
        return float(numbers_of_dates(np.array([cell]), unit)[0])
    if isinstance(cell, date) and not isinstance(cell, datetime):
        cell = datetime(cell.year, cell.month, cell.day)
    if not isinstance(cell, datetime):
        return None
    if cell.tzinfo is None:
        cell = cell.replace(tzinfo=UTC)
    return (cell - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() / UNITS_OF_DATES[unit]


def _parsed(text: str) -> datetime | None:
    # Python reads 2020-W05 and 20200131 as dates too; digits alone are a number to most people.
    if len(text) < _SHORTEST or text.isdigit():
        return None
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return None


def numbers_of_dates(dates: NDArray[Any], unit: str = "days") -> NDArray[np.float64]:
    """An array of numpy's dates, or of its durations, as numbers; NaT is NaN."""
    kind = "datetime64" if dates.dtype.kind == "M" else "timedelta64"
    whole = dates.astype(f"{kind}[s]")  # a nanosecond count of float64 would round seconds
    rest = (dates.astype(f"{kind}[ns]") - whole).astype("timedelta64[ns]")
    seconds = whole.astype(np.int64) + rest.astype(np.int64) / 1e9
    return np.where(np.isnat(dates), np.nan, seconds / UNITS_OF_DATES[unit])


# Names of columns: by which columns are found, and how errors list them.

_LISTED = 8  # columns named in an error


def quoted(names: Sequence[str]) -> str:
    """Names for an error message, not too many of them."""
    listed = ", ".join(repr(name) for name in names[:_LISTED])
    return listed if len(names) <= _LISTED else f"{listed}, ... ({len(names)} in all)"


def plain_names(n_columns: int) -> tuple[str, ...]:
    """x1, x2, ...: names of columns that have none."""
    return tuple(f"x{i}" for i in range(1, n_columns + 1))


def absent(wanted: Sequence[str], names: Iterable[str]) -> list[str]:
    """Those of the wanted names that are not among the names."""
    present = set(names)
    return [name for name in wanted if name not in present]


def places(wanted: Sequence[str], names: Sequence[str]) -> list[int]:
    """Where the wanted names stand among the names."""
    place_of = {name: place for place, name in enumerate(names)}
    return [place_of[name] for name in wanted]


def refuse_duplicates(names: Sequence[str]) -> None:
    """Columns are found by name, so a name must stand for one."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise ValueError(
            f"Columns must have different names. Got {quoted(twice)} more than once; rename them."
        )


def present(names: Sequence[str], needed: Sequence[str]) -> Sequence[str]:
    """The needed columns of a model, if a table has them."""
    missing = absent(needed, names)
    if missing:
        raise ValueError(
            "The table must have the columns that the model was fitted on. "
            f"Got no {quoted(missing)} among {quoted(names)}; rename or add them."
        )
    return needed


KINDS = ("numeric", "boolean", "date", "ordered", "categorical")
IGNORED = "ignore"  # said of a column that is left out


@dataclass(frozen=True)
class Kind:
    """The kind of a column.

    Attributes
    ----------
    name : {"numeric", "boolean", "date", "ordered", "categorical"}
    order : tuple of str
        The words of an ordered column, the least first.
    unit : str
        Of a date, which becomes so many of them since 1970.
    is_given : bool
        Whether it was said, not found out.

    Examples
    --------
    >>> Kind.given("size", ["small", "large"])
    Kind(name='ordered', order=('small', 'large'), unit='days', is_given=True)
    >>> Kind.given("day", "date:hours").unit
    'hours'
    """

    name: str
    order: tuple[str, ...] = ()
    unit: str = "days"
    is_given: bool = False

    @classmethod
    def given(cls, column: str, said: Any) -> Kind:
        """The kind that a user says a column has."""
        if isinstance(said, str):
            name, _, unit = said.partition(":")
            is_unit = unit in UNITS_OF_DATES if name == "date" else not unit
            if name in KINDS and name != "ordered" and (is_unit or said == "date"):
                return cls(name, (), unit or "days", True)
        elif isinstance(said, Sequence) and not isinstance(said, bytes):
            order = tuple(word_of(word) or "" for word in said)
            if len(order) > 1 and "" not in order and len(set(order)) == len(order):
                return cls("ordered", order, "days", True)
        raise ValueError(
            f"columns[{column!r}] must be 'numeric', 'boolean', 'categorical', 'date', 'date:' and "
            f"one of {', '.join(UNITS_OF_DATES)}, 'ignore', or a list of two or more different "
            f"words in their order. Got {said!r}; correct it."
        )

    @property
    def has_words(self) -> bool:
        """Whether cells are words, which are numbered as they come."""
        return self.name in ("ordered", "categorical", "boolean")

    @property
    def is_scaled(self) -> bool:
        """Whether a column becomes one number, in units; otherwise it becomes coordinates."""
        return self.name in ("numeric", "date", "ordered")


NUMERIC = Kind("numeric")


def given_kinds(columns: Any) -> dict[str, Kind]:
    """The kinds that the parameter ``columns`` gives; ignored columns have none."""
    if columns is None or not isinstance(columns, Mapping):
        return {}
    return {
        str(name): Kind.given(str(name), said)
        for name, said in columns.items()
        if not _is_ignored(said)
    }


def chosen_columns(columns: Any, names: Sequence[str]) -> list[str]:
    """The columns of a table that take part: those listed, or all that are not ignored."""
    if columns is None:
        return list(names)
    wanted = [str(name) for name in columns]
    unknown = absent(wanted, names)
    if unknown:
        raise ValueError(
            f"columns must name columns of the table, {quoted(names)}. "
            f"Got {quoted(unknown)}; correct it."
        )
    if not isinstance(columns, Mapping):
        return wanted
    ignored = {str(name) for name, said in columns.items() if _is_ignored(said)}
    return [name for name in names if name not in ignored]


def check_columns(columns: Any) -> None:
    """Refuse what says nothing about columns."""
    if columns is None or isinstance(columns, Mapping):
        given_kinds(columns)
        return
    is_list = isinstance(columns, Sequence) and not isinstance(columns, (str, bytes))
    if not is_list or len(set(map(str, columns))) < len(columns) or not len(columns):
        raise ValueError(
            "columns must be None, a list of different names, or a dict from names to kinds. "
            f"Got {columns!r}; use e.g. {{'town': 'categorical'}}."
        )


def _is_ignored(said: Any) -> bool:
    return isinstance(said, str) and said == IGNORED


def columns_to_text(columns: Any) -> str | None:
    """The parameter ``columns`` as JSON, for a file.

    Examples
    --------
    >>> columns_from_text(columns_to_text({"size": ("small", "large")}))
    {'size': ['small', 'large']}
    """
    if columns is None:
        return None
    if isinstance(columns, Mapping):
        columns = {
            str(name): said if isinstance(said, str) else [word_of(word) for word in said]
            for name, said in columns.items()
        }
    else:
        columns = [str(name) for name in columns]
    return json.dumps(columns)


def columns_from_text(text: Any) -> Any:
    """The parameter ``columns`` from JSON."""
    try:
        return None if text is None else json.loads(text)
    except RecursionError as error:  # of a text made for it
        raise ValueError("columns must be a few names and kinds.") from error
