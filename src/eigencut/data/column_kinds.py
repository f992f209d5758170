"""What a column holds: numbers, truth values, dates, words in an order, or words without one."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from eigencut.data.column_names import absent, quoted
from eigencut.data.dates import UNITS_OF_DATES
from eigencut.data.words import word_of

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
