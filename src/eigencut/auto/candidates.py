"""Which numbers of clusters come into question: "auto", a range, a list, or a text like "2-30"."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

from eigencut._utils.validation import check_count, parse_numbers

_SHOWN = 60  # characters of a list of candidates in an error
_ARE_NUMBERS = re.compile(r"[\d\s,-]+")  # as "2-30" or "2,4,8" are
_REMEDY = "give candidates such as range(2, 11)"


@dataclass(frozen=True)
class Candidates:
    """Numbers of clusters to choose from.

    Attributes
    ----------
    numbers : tuple of int or None
        Those of at least 2, ascending; None for as many as the spectrum shows.
    may_be_one : bool
        Whether one cluster is an answer, too.
    asked : str
        What was asked for, to be shown.

    Examples
    --------
    >>> Candidates.of(range(2, 5)).numbers
    (2, 3, 4)
    >>> Candidates.of("1-3,8")
    Candidates(numbers=(2, 3, 8), may_be_one=True, asked="'1-3,8'")
    """

    numbers: tuple[int, ...] | None
    may_be_one: bool
    asked: str

    @classmethod
    def of(cls, n_clusters: Any) -> Candidates:
        """What was asked for, checked as far as possible without the rows."""
        shown = _shortened(repr(n_clusters))
        if isinstance(n_clusters, str):
            if n_clusters == "auto":
                return cls(None, True, shown)
            try:
                n_clusters = parse_numbers(n_clusters)
            except ValueError as error:
                raise ValueError(f"n_clusters {error}") from None
        asked: list[Any] = []
        if isinstance(n_clusters, Integral):
            asked = [int(n_clusters)]
        elif isinstance(n_clusters, Iterable):
            asked = list(n_clusters)
        for K in asked:
            check_count("n_clusters", K, _REMEDY)
        return cls(tuple(sorted({int(K) for K in asked if K >= 2})), 1 in asked, shown)

    def from_on(self, least: int) -> Candidates:
        """Those of at least so many; none where all that were given are below."""
        if self.numbers is None or least <= 1:
            return self
        return replace(self, numbers=tuple(K for K in self.numbers if least <= K))

    def among(self, n_distinct: int) -> tuple[int, ...] | None:
        """Those that n_distinct different rows allow (an eigenvalue beyond is needed)."""
        possible = None
        if self.numbers is not None:
            possible = tuple(K for K in self.numbers if n_distinct > K)
        if n_distinct <= 2:
            raise ValueError(
                "X must have at least 3 different rows for the number of clusters to be chosen. "
                f"Got {n_distinct}; add data, or give n_clusters as a number."
            )
        if possible == ():
            raise ValueError(
                "n_clusters must hold a candidate of at least 2 and below the number of different "
                f"rows, {n_distinct}. Got {self.asked}; add data, or give smaller candidates."
            )
        return possible


def check_asked(n_clusters: Any) -> None:
    """A number of clusters, "auto", or candidates; what the rows allow is seen later."""
    is_text = isinstance(n_clusters, str)
    is_list = isinstance(n_clusters, Iterable) and not is_text
    if is_list or n_clusters == "auto" or (is_text and _ARE_NUMBERS.fullmatch(n_clusters)):
        Candidates.of(n_clusters)
    else:
        check_count("n_clusters", n_clusters, "use the number of clusters you expect, or 'auto'")


def is_number(n_clusters: Any) -> bool:
    """Whether the number of clusters is given, so that there is nothing to choose."""
    return isinstance(n_clusters, Integral)


def _shortened(text: str) -> str:
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 3]}..."
