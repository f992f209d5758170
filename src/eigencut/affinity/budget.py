"""What a fit takes in memory, and which graph fits into what there is.

They count what the fit adds to the rows themselves. Their constants are estimates from the sizes of
the arrays, not measurements.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass

_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}
_UNITS |= {"KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}
_FIXED = 250e6  # the interpreter with numpy, scipy and scikit-learn
_LANCZOS_COLUMNS = 700  # numbers per vertex that the eigensolver keeps


@dataclass(frozen=True)
class Problem:
    """The sizes that memory depends on."""

    n_rows: int
    n_features: int
    n_clusters: int


def exact_bytes(problem: Problem) -> float:
    """The complete graph: half of n^2 weights, and the bases of the eigensolver."""
    n = problem.n_rows
    return _FIXED + 8 * (
        n * n / 2 + _LANCZOS_COLUMNS * min(n, 100_000) + 2 * n * problem.n_features
    )


def neighbors_bytes(problem: Problem, n_neighbors: int) -> float:
    """A sparse graph: an index and a weight for both ends of each edge, thrice while it is made."""
    n = problem.n_rows
    return _FIXED + 8 * n * (6 * 2 * n_neighbors + 6 * (problem.n_clusters + 8))


def landmarks_bytes(problem: Problem, n_landmarks: int, n_nearest: int, in_memory: bool) -> float:
    """Sums of p^2 numbers, the sample, one block; and the memberships of rows in memory."""
    block = 1 << 17
    of_block = 8 * block * (4 * problem.n_features + 2 * n_nearest**2 + 4 * problem.n_clusters)
    sample = 8 * 10 * n_landmarks * (4 * problem.n_features + 4)
    of_rows = problem.n_rows * (10 * n_nearest + 16) if in_memory else 0
    return _FIXED + 8 * 6 * n_landmarks**2 + sample + of_block + of_rows


def parse_bytes(limit: object) -> float | None:
    """``memory_limit`` in bytes: a number, "4GB", "512 MiB"; None stays None.

    Examples
    --------
    >>> parse_bytes("4GB"), parse_bytes("1.5 KiB"), parse_bytes(None)
    (4000000000.0, 1536.0, None)
    """
    if limit is None:
        return None
    found = None
    if isinstance(limit, str):
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?I?B?)\s*", limit.upper())
    elif isinstance(limit, (int, float)) and not isinstance(limit, bool) and 0 < limit < 1e18:
        return float(limit)
    if found is None or found[2] not in _UNITS or float(found[1]) == 0:
        raise ValueError(
            "memory_limit must be a positive number of bytes, or a text such as '4GB'. "
            f"Got {limit!r}; use None for what the machine has."
        )
    return float(found[1]) * _UNITS[found[2]]


def available_bytes() -> float:
    """Memory that could be used now; infinite where the system does not tell."""
    try:
        with open("/proc/meminfo", encoding="ascii") as file:  # noqa: PTH123
            kilobytes = re.search(r"MemAvailable:\s+(\d+)", file.read())
    except OSError:
        kilobytes = None
    if kilobytes:
        return 1024.0 * int(kilobytes[1])
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return float("inf")


def check_budget(needed: float, limit: float | None, what: str, remedy: str) -> None:
    """Refuse with a sentence, before running out of memory."""
    allowed = available_bytes() if limit is None else limit
    if needed > allowed:
        source = "available" if limit is None else "memory_limit"
        raise MemoryError(
            f"{what} would take about {needed / 1e9:.2g} GB, more than the {allowed / 1e9:.2g} GB "
            f"of memory ({source}). {remedy}"
        )
