"""Whole numbers in a text like "2-30" or "2,4,8"."""

from __future__ import annotations

from collections.abc import Iterable

_MOST = 1000


def parse_numbers(text: str, least: int = 1) -> list[int]:
    """Numbers of a text like "2-10" or "2,4,8"; errors begin with "must be".

    Examples
    --------
    >>> parse_numbers("2-4,8")
    [2, 3, 4, 8]
    """
    wrong = ValueError(f"must be numbers of at least {least}, like 2-10 or 2,4,8. Got {text!r}.")
    found: list[int] = []
    for part in text.split(","):
        first, dash, last = (word.strip() for word in part.partition("-"))
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise wrong
        low, high = int(first), int(last if dash else first)
        if low < least or high < low:
            raise wrong
        if high - low + len(found) >= _MOST:
            raise ValueError(f"must be at most {_MOST} numbers. Got {text!r}.")
        found.extend(range(low, high + 1))
    return sorted(set(found))


def numbers_in_words(numbers: Iterable[int]) -> str:
    """A text that ``parse_numbers`` reads: what a model file holds of such a list.

    Examples
    --------
    >>> numbers_in_words([2, 3, 4, 8])
    '2-4,8'
    """
    runs: list[list[int]] = []
    for number in sorted({int(K) for K in numbers}):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
