"""Memory: how much a user allows, the machine has left, and a fit takes."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from eigencut._utils.validation import is_real
from eigencut.exceptions import invalid

# Where Linux says how much memory there is: on the machine, and in the process's control group.
MACHINE = Path("/proc/meminfo")
OWN_GROUP = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def parse_bytes(limit: object) -> float | None:
    """``memory_limit`` in bytes: a number, "4GB", "512 MiB"; None stays None."""
    if limit is None:
        return None
    found = math.nan
    if isinstance(limit, str):
        size = r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:([KMGT])(I?))?B?\s*"
        words = re.fullmatch(size, limit, re.IGNORECASE)
        if words:
            unit = 1024 if words[3] else 1000
            found = float(words[1]) * unit ** " KMGT".index((words[2] or " ").upper())
    elif is_real(limit):
        found = float(limit)  # type: ignore[arg-type]
    if not 0 < found < 1e18:  # more is no memory, but a mistake
        expected = "be a positive number of bytes, or a text such as '4GB'"
        raise invalid("memory_limit", expected, repr(limit), "use None for what the machine has")
    return found


def in_words(n_bytes: float, rounded: Callable[[float], int] = round) -> str:
    """A size with its unit."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if n_bytes >= size:
            number = n_bytes / size
            digits = 1 if number < 10 else 0
            return f"{rounded(10**digits * number) / 10**digits:.{digits}f} {unit}"
    return f"{rounded(n_bytes)} bytes"


def available_bytes() -> float:
    """Memory that could be taken now; infinite where the system does not tell."""
    of_machine = math.inf
    if found := re.search(r"MemAvailable:\s+(\d+)", _text(MACHINE)):
        of_machine = 1024.0 * int(found[1])
    else:
        with suppress(AttributeError, OSError, ValueError):
            of_machine = float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(of_machine, _group_bytes())


def _group_bytes() -> float:
    """What the control group of this process and those above it leave (containers, batch jobs)."""
    least = math.inf
    for line in _text(OWN_GROUP).splitlines():
        _, controllers, path = line.split(":", 2)
        inner = GROUPS / path.lstrip("/")
        for folder in (inner, *inner.parents) if not controllers else ():
            limit, use = (_text(folder / f"memory.{name}").strip() for name in ("max", "current"))
            if folder.is_relative_to(GROUPS) and limit.isdecimal() and use.isdecimal():
                stat = _text(folder / "memory.stat")
                gives_way = re.search(r"^inactive_file (\d+)$", stat, re.MULTILINE)
                left = int(limit) - int(use) + (int(gives_way[1]) if gives_way else 0)
                least = min(least, max(0.0, left))
    return least


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""


# Bounds on what a fit adds to the rows at its peak, up to twice what was measured, without LAPACK
# on more than 1200 vertices (``benchmarks/fit_memory.py``). Each affinity has its own formula.


@dataclass(frozen=True)
class Memory:
    """Bytes that parts of a fit take, and up to how many vertices LAPACK solves a problem."""

    imports: float = 12e6  # What a first fit loads.
    copies: int = 64  # For every number of the rows.
    sparse_edge: int = 130  # For every affinity of a sparse matrix, factors included.
    sparse_centre: float = 80.0  # For every number of a sparse row that becomes one of a centre.
    search_block: float = 6e6  # Of distances and coordinates, of a thread.
    basis_columns: int = 320  # Of a Krylov basis and its image.
    lapack_vertices: int = 1200  # Below, LAPACK is as fast as anything,
    lapack_vertices_per_pair: int = 35  # or below so many for each pair.
    most_lapack_vertices: int = 5000  # Here it takes over from an iteration without convergence.


MEMORY = Memory()


@dataclass(frozen=True)
class FitSizes:
    """What the memory of a fit depends on."""

    n_rows: int | None  # None is a stream of any number of rows
    n_features: float  # Numbers stored per row
    n_clusters: int
    is_sparse: bool = False
    # Different rows, which are the vertices of a graph. Default: all are.
    n_distinct: int | None = None

    @property
    def n_vertices(self) -> int | None:
        """Return how many vertices a graph on the rows has."""
        return self.n_rows if self.n_distinct is None else self.n_distinct


def lapack_vertices(n_pairs: int) -> int:
    """Below which LAPACK solves a dense problem."""
    per_pair = min(MEMORY.lapack_vertices_per_pair * n_pairs, MEMORY.most_lapack_vertices)
    return max(MEMORY.lapack_vertices, per_pair, 8 * n_pairs)


def dense_solver_bytes(n: int, K: int) -> float:
    """Return what the eigensolver of a dense graph works on."""
    if n < lapack_vertices(K):
        return 32.0 * n * n
    width = max(8, K + 2)
    return 8.0 * n * (2 * (max(MEMORY.basis_columns, 4 * width) + width) + 40 * width + 500)


def sparse_solver_bytes(n: int, K: int) -> float:
    """Return what the eigensolver of a sparse graph works on."""
    width = K - 1 + max(4, (K - 1) // 4)
    return 184.0 * n * width + (32.0 * n * n if n < max(MEMORY.lapack_vertices, 8 * K) else 0.0)
