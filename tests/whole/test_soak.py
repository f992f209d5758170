"""The short form of ``make soak``; and that it sees what grows."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
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


def test_what_grows_is_seen(tmp_path):
    from soak import soak

    kept, stop = [], threading.Event()

    def leaking(number, folder):
        kept.append(np.ones(400_000))
        kept.append((folder / f"{number}").open("w"))
        thread = threading.Thread(target=stop.wait)
        thread.start()

    try:
        found = soak(60, leaking)
    finally:
        stop.set()
        for file in kept[1::2]:
            file.close()
    assert found["grown"] == ["megabytes", "threads", "files"]
