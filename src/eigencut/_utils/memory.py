"""Memory in bytes: what the user allows, what the machine has left, and what solvers need."""

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

# Where Linux reports free memory: of the machine, and of the process's control group (cgroup).
MACHINE = Path("/proc/meminfo")
OWN_GROUP = Path("/proc/self/cgroup")
GROUPS = Path("/sys/fs/cgroup")


def parse_bytes(limit: object) -> float | None:
    """Return the parameter ``memory_limit`` (a number, "4GB", "512 MiB") in bytes, or None."""
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
    if not 0 < found < 1e18:  # no machine has more
        expected = "be a positive number of bytes, or a text such as '4GB'"
        raise invalid("memory_limit", expected, repr(limit), "use None for what the machine has")
    return found


def in_words(n_bytes: float, rounded: Callable[[float], int] = round) -> str:
    """Return a size for messages, such as "3.2 GB"."""
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if n_bytes >= size:
            number = n_bytes / size
            digits = 1 if number < 10 else 0
            return f"{rounded(10**digits * number) / 10**digits:.{digits}f} {unit}"
    return f"{rounded(n_bytes)} bytes"


def available_bytes() -> float:
    """Return how much memory is free; infinity where the system does not tell."""
    of_machine = math.inf
    if found := re.search(r"MemAvailable:\s+(\d+)", _text(MACHINE)):
        of_machine = 1024.0 * int(found[1])
    else:
        with suppress(AttributeError, OSError, ValueError):
            of_machine = float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return min(of_machine, _group_bytes())


def _group_bytes() -> float:
    """Return the least memory left in the cgroups of this process (containers, batch jobs)."""
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


# Upper bounds on the memory that a fit takes at its peak besides the rows. They are at most twice
# too large, except for LAPACK on more than 1200 vertices (``benchmarks/fit_memory.py``). Each
# affinity computes its own from these numbers, in ``memory_bytes``.


@dataclass(frozen=True)
class Memory:
    """Bytes that parts of a fit take, and the number of vertices up to which LAPACK is used."""

    imports: float = 12e6  # Modules that the first fit imports.
    copies: int = 64  # Copies of the rows, per number in them.
    sparse_edge: int = 130  # Per stored weight of a sparse matrix, with its factorization.
    sparse_centre: float = 80.0  # Per number of a sparse row that becomes a landmark.
    search_block: float = 6e6  # Distances and coordinates in a search of neighbours, per thread.
    basis_columns: int = 320  # Columns of the Krylov basis, which is stored with its image.
    lapack_vertices: int = 1200  # LAPACK is used below this number of vertices, or
    lapack_vertices_per_pair: int = 35  # below this number times that of the eigenpairs,
    most_lapack_vertices: int = 5000  # up to here; also if the iteration does not converge.


MEMORY = Memory()


@dataclass(frozen=True)
class FitSizes:
    """The sizes that determine how much memory a fit takes."""

    n_rows: int | None  # None: a stream, whose length is not known
    n_features: float  # numbers stored per row
    n_clusters: int
    is_sparse: bool = False
    n_distinct: int | None = None  # distinct rows; None: all rows are distinct

    @property
    def n_vertices(self) -> int | None:
        """Return the number of vertices of a graph on the rows: one for each distinct row."""
        return self.n_rows if self.n_distinct is None else self.n_distinct


def lapack_vertices(n_pairs: int) -> int:
    """Return the number of vertices below which LAPACK solves a dense problem."""
    per_pair = min(MEMORY.lapack_vertices_per_pair * n_pairs, MEMORY.most_lapack_vertices)
    return max(MEMORY.lapack_vertices, per_pair, 8 * n_pairs)


def dense_solver_bytes(n: int, K: int) -> float:
    """Return the bytes that the eigensolver takes for K eigenvectors of a dense graph."""
    if n < lapack_vertices(K):
        return 32.0 * n * n
    width = max(8, K + 2)
    return 8.0 * n * (2 * (max(MEMORY.basis_columns, 4 * width) + width) + 40 * width + 500)


def sparse_solver_bytes(n: int, K: int) -> float:
    """Return the bytes that the eigensolver takes for K eigenvectors of a sparse graph."""
    width = K - 1 + max(4, (K - 1) // 4)
    return 184.0 * n * width + (32.0 * n * n if n < max(MEMORY.lapack_vertices, 8 * K) else 0.0)
