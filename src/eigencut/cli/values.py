"""What the values of options may be; what is wrong without looking at the data is wrong usage."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from eigencut._utils.validation import parse_numbers

_TABS = ("tab", "\\t")  # as shells let one type it


class Parsed(click.ParamType):
    """What a function makes of a text, and the sentence of its error."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name = name
        self._parse = parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._parse(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


def whole_number(least: int, most: int | None = None) -> Parsed:
    """A whole number within limits."""
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"

    def parse(text: str) -> int:
        try:
            found = int(text)
        except ValueError:
            found = least - 1
        if found < least or (most is not None and found > most):
            raise ValueError(f"must be a whole number {limits}. Got {text!r}.")
        return found

    return Parsed("N", parse)


def _file(text: str) -> str:
    if not text:
        raise ValueError("must be the name of a file. Got ''.")
    return text


def _clusters(text: str) -> int | str:
    if text == "auto":
        return text
    if text.isdecimal() and int(text) >= 1:
        return int(text)
    try:
        _candidates(text)
    except ValueError:
        raise ValueError(
            f"must be a whole number of at least 1, auto, or candidates like 2-30. Got {text!r}."
        ) from None
    return text


def _candidates(text: str) -> str:
    if text != "auto":
        parse_numbers(text, least=2)
    return text


def _bandwidth(text: str) -> float | str:
    """A number or the name of a rule."""
    if text == "auto":
        return text
    from eigencut.affinities.gaussian import check_bandwidth

    try:
        width: float | str = float(text)
    except ValueError:
        width = text.strip()
    checked: Any = check_bandwidth(width)
    return checked


def _bandwidths(text: str) -> list[float | str]:
    return [_bandwidth(part.strip()) for part in text.split(",")]


def _memory(text: str) -> str:
    from eigencut._utils.memory import parse_bytes

    try:
        parse_bytes(text)
    except ValueError as error:
        raise ValueError(f"must be a size such as 4GB or 500MB. Got {text!r}.") from error
    return text


def _share(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value < 1:
        raise ValueError(f"must be a number strictly between 0 and 1. Got {text!r}; use 0.05.")
    return value


def _share_or_all(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 < value <= 1:
        raise ValueError(f"must be a number above 0 and at most 1. Got {text!r}; use 0.9.")
    return value


def _encoding(text: str) -> str:
    from eigencut.io.csv_reader import checked_encoding

    return checked_encoding(text)


def _delimiter(text: str) -> str:
    from eigencut.io.csv_reader import checked_delimiter

    return checked_delimiter("\t" if text in _TABS else text, decimal=".") or ","


def _cluster_name(text: str) -> tuple[int, str]:
    number, mark, name = text.partition("=")
    if not mark or not number.strip().isdecimal() or not name.strip():
        raise ValueError(f"must be a cluster and what it is called, like 0=regulars. Got {text!r}.")
    return int(number), name


def _order(text: str) -> tuple[str, list[str]]:
    """A column, and its words from the least to the greatest."""
    name, _, listed = text.partition("=")
    words = [word.strip() for word in listed.split("<")]
    if not name.strip() or len(words) < 2 or not all(words) or len(set(words)) < len(words):
        raise ValueError(f"must be a column and its words, like size=small<large. Got {text!r}.")
    return name.strip(), words


CLUSTERS = Parsed("K", _clusters)
CANDIDATES = Parsed("candidates", _candidates)
BANDWIDTH = Parsed("sigma", _bandwidth)
BANDWIDTHS = Parsed("sigma", _bandwidths)
MEMORY = Parsed("size", _memory)
SHARE = Parsed("share", _share)
SHARE_OR_ALL = Parsed("share", _share_or_all)
ENCODING = Parsed("name", _encoding)
DELIMITER = Parsed("char", _delimiter)
ORDER = Parsed("order", _order)
CLUSTER_NAME = Parsed("name", _cluster_name)
FILE = Parsed("file", _file)
SEED = whole_number(0, 2**32 - 1)
JOBS = whole_number(1, 1024)
