"""The short form of ``make soak``; and that it sees what grows."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("soak.py")

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/task").exists(), reason="Linux tells what a process holds"
)


def test_memory_threads_and_files_stay_level():
    command = [sys.executable, str(SCRIPT), "--rounds", "240"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert not done.returncode, done.stdout + done.stderr
    assert json.loads(done.stdout)["grown"] == []


LEAK = """
import json, os, threading
import numpy as np
from soak import soak

kept, stop = [], threading.Event()

def leaking(number, folder):
    kept.append(np.ones(400_000))
    kept.append((folder / f"{number}").open("w"))
    threading.Thread(target=stop.wait, daemon=True).start()

print(json.dumps(soak(60, leaking)["grown"]), flush=True)
os._exit(0)
"""


def test_what_grows_is_seen():
    """In a process of its own: other tests give memory and threads back when they like."""
    command = [sys.executable, "-c", LEAK]
    done = subprocess.run(command, capture_output=True, text=True, cwd=SCRIPT.parent)
    assert not done.returncode, done.stderr
    assert json.loads(done.stdout) == ["megabytes", "threads", "files"]
