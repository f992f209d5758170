"""Memory: how much a user allows, how much the machine has left, and sizes in words."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from numbers import Real
from pathlib import Path

from eigencut.exceptions import invalid


@dataclass(frozen=True)
class SystemFiles:
    """Where Linux says how much memory there is."""

    machine: Path = Path("/proc/meminfo")
    own_group: Path = Path("/proc/self/cgroup")
    groups: Path = Path("/sys/fs/cgroup")
    # Of a control group: limit, use, and what of the use is cache that gives way, by version.
    of_group: tuple[tuple[str, str, str], ...] = (
        ("memory.max", "memory.current", "inactive_file"),
        ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    )


FILES = SystemFiles()


def parse_bytes(limit: object) -> float | None:
    """``memory_limit`` in bytes: a number, "4GB", "512 MiB"; None stays None.

    Examples
    --------
    >>> parse_bytes("4GB"), parse_bytes("1.5 KiB"), parse_bytes(None)
    (4000000000.0, 1536.0, None)
    """
    if limit is None:
        return None
    found = math.nan
    if isinstance(limit, str):
        size = r"\s*([0-9]+(?:\.[0-9]+)?)\s*(?:([KMGT])(I?))?B?\s*"
        words = re.fullmatch(size, limit, re.IGNORECASE)
        if words:
            unit = 1024 if words[3] else 1000
            found = float(words[1]) * unit ** " KMGT".index((words[2] or " ").upper())
    elif isinstance(limit, Real) and not isinstance(limit, bool):
        found = float(limit)
    if not 0 < found < 1e18:  # more is no memory, but a mistake
        expected = "be a positive number of bytes, or a text such as '4GB'"
        raise invalid("memory_limit", expected, repr(limit), "use None for what the machine has")
    return found


def in_words(n_bytes: float) -> str:
    """A size with its unit.

    Examples
    --------
    >>> in_words(4.2e9), in_words(63_210_000), in_words(512)
    ('4.2 GB', '63 MB', '512 bytes')
    """
    for unit, size in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("KB", 1e3)):
        if n_bytes >= size:
            number = n_bytes / size
            return f"{number:.1f} {unit}" if number < 10 else f"{number:.0f} {unit}"
    return f"{n_bytes:.0f} bytes"


def available_bytes() -> float:
    """Memory that could be taken now; infinite where the system does not tell."""
    return min(_machine_bytes(), _group_bytes(FILES.own_group, FILES.groups))


def _machine_bytes() -> float:
    found = re.search(r"MemAvailable:\s+(\d+)", _text(FILES.machine))
    if found:
        return 1024.0 * int(found[1])
    try:
        return float(os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return math.inf


def _group_bytes(own_group: Path, groups: Path) -> float:
    """What the control group of this process and those above it leave (containers, batch jobs)."""
    least = math.inf
    for line in _text(own_group).splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers == "" or "memory" in controllers.split(","):
            root = groups / "memory" if controllers else groups
            inner = root / path.lstrip("/")
            for folder in (inner, *inner.parents):
                if folder.is_relative_to(root):
                    least = min(least, *(_left(folder, *files) for files in FILES.of_group))
    return least


def _left(folder: Path, limit: str, use: str, cache: str) -> float:
    """What one control group leaves; infinite where it has no limit."""
    allowed, used = _text(folder / limit).strip(), _text(folder / use).strip()
    if not (allowed.isdecimal() and used.isdecimal()):
        return math.inf
    gives_way = re.search(rf"^{cache} (\d+)$", _text(folder / "memory.stat"), re.MULTILINE)
    return max(0.0, int(allowed) - int(used) + (int(gives_way[1]) if gives_way else 0))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii")
    except (OSError, ValueError):
        return ""
