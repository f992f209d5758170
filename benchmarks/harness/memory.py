"""Peak memory: how far a method's resident set rises, in a process of its own, and how high.

    python -m benchmarks.harness.memory METHOD < workload.json

prints the columns ``memory_mb`` (the rise) and ``process_mb`` (the peak of the whole process, with
Python, libraries and data) in MB (1e6 bytes); none where the system cannot tell (it needs Linux).
"""

from __future__ import annotations

import ctypes
import json
import subprocess
import sys
import warnings
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path

from benchmarks import ROOT
from benchmarks.harness.method import Work, load_method
from benchmarks.harness.problem import Problem
from benchmarks.harness.workload import Workload, from_dict

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
_WARM_UP_ROWS = 200


Peaks = dict[str, float]


def peaks_mb(workload: Workload, method: str) -> Peaks:
    """The peaks of the resident set while the method works, measured in a new process."""
    command = [sys.executable, "-m", "benchmarks.harness.memory", method]
    done = subprocess.run(
        command,
        input=json.dumps(asdict(workload)),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        cwd=ROOT,
    )
    peaks: Peaks = json.loads(done.stdout.splitlines()[-1])
    return peaks


def measure_here(workload: Workload, method: str) -> Peaks:
    """The same in this process, after a small run that loads what is loaded lazily."""
    few = {size: min(getattr(workload, size), _WARM_UP_ROWS) for size in ("n", "m")}
    workload = workload.at(seeds=1)  # of which one needs as much as the next
    load_method(method).prepare(workload.task, Problem.of(workload.at(**few)))()
    work = load_method(method).prepare(workload.task, Problem.of(workload))
    return peaks_of(work)


def peaks_of(work: Work) -> Peaks:
    """How far the resident set rises above where it is now, and the height it reaches."""
    _give_back_free_memory()
    try:
        _RESET.write_text("5")  # sets the high-water mark VmHWM back to what is resident now
        before = _status_bytes("VmRSS")
        work()
        peak = _status_bytes("VmHWM")
    except OSError:
        return {}
    return {"memory_mb": round((peak - before) / 1e6, 1), "process_mb": round(peak / 1e6, 1)}


def _give_back_free_memory() -> None:
    """What earlier work has freed must not serve the next unseen (glibc keeps it otherwise)."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)


def _status_bytes(key: str) -> int:
    for line in _STATUS.read_text().splitlines():
        if line.startswith(f"{key}:"):
            return 1024 * int(line.split()[1])
    raise OSError(f"{_STATUS} must have a line {key}")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    print(json.dumps(measure_here(from_dict(json.load(sys.stdin)), sys.argv[1])))
