"""``n_jobs=1`` is one thread: of eigencut, of BLAS and of OpenMP, for every affinity.

What is measured, and how, is in ``thread_use.py``. It runs in processes of its own, where BLAS and
OpenMP are free to use two threads, as they are for users and not in these tests.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

SCRIPT = Path(__file__).with_name("thread_use.py")
NOTHING = 0.003  # seconds of processor time


def measured(n_jobs):
    free = os.environ | {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    command = [sys.executable, str(SCRIPT), str(n_jobs)]
    done = subprocess.run(command, env=free, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    return found["use"], found["limits"]


def test_one_job_is_one_thread():
    use, limits = measured(1)
    busy = {
        f"{method} of {affinity}": found
        for affinity, methods in use.items()
        for method, found in methods.items()
        if found["started"] or found["seconds"] > NOTHING
    }
    assert not busy
    assert limits == {"blas": [1]}


def test_two_jobs_are_seen_as_two_threads():
    """Or else the test above would tell nothing of an affinity."""
    use, limits = measured(2)
    for affinity, methods in use.items():
        assert sum(found["seconds"] for found in methods.values()) > 3 * NOTHING, affinity
    assert max(limits["blas"]) == 2
