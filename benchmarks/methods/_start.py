"""Start-up: processor seconds of an import in a fresh interpreter."""

from __future__ import annotations

import subprocess
import sys

from benchmarks.harness.method import Clocked, Method

_CODE = "import time; s = time.process_time(); {}; print(time.process_time() - s)"


def import_seconds(statement: str) -> float:
    """Processor time, which says the same on a busy machine, unlike the wall clock."""
    command = [sys.executable, "-c", _CODE.format(statement)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return float(done.stdout)


def start_up(statement: str) -> Method:
    return Method(
        f"`{statement}`", {"start": lambda problem: lambda: Clocked(import_seconds(statement))}
    )
