"""Facts about the machine and the versions that were measured."""

from __future__ import annotations

import os
import platform
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import eigencut
from benchmarks.harness.problem import cores

_PACKAGES = ("numpy", "scipy", "scikit-learn")
_PEERS = ("pyamg", "distributed", "dask-ml", "torch", "ncut-pytorch", "spectralnet")


def versions(packages: tuple[str, ...] = _PACKAGES) -> dict[str, str]:
    """Versions of the packages that are installed, and of Python."""
    found = {"eigencut": eigencut.__version__}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return {**found, "python": platform.python_version()}


def facts() -> dict[str, object]:
    return {
        "cpu": cpu_model(),
        "cores": cores(),
        "memory_gb": memory_gb(),
        "system": f"{platform.system()} {platform.machine()}",
        "versions": versions(_PACKAGES + _PEERS),
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
    }


def load() -> float | None:
    """How many processes wanted a core in the last minute, ours included."""
    return round(os.getloadavg()[0], 1) if hasattr(os, "getloadavg") else None


def cpu_model() -> str:
    """The processor's name and its widest vector instructions, as far as Linux tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    entries = {
        key.strip(): value.strip() for key, _, value in (line.partition(":") for line in lines)
    }
    flags = entries.get("flags", "").split()
    widest = next((name for name in ("avx512f", "avx2", "avx", "sse2") if name in flags), "")
    return " ".join(filter(None, [entries.get("model name", platform.machine()), widest]))


def memory_gb() -> float | None:
    try:
        lines = Path("/proc/meminfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return None
    return round(int(lines[0].split()[1]) * 1024 / 1e9, 1)
