"""A process that dies while it writes, or has no room left, leaves the old file as it was."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("killed_writers.py")
MOMENTS = 25

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forks")


@pytest.fixture(scope="module")
def found():
    command = [sys.executable, str(SCRIPT), "--moments", str(MOMENTS)]
    alone = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, env=alone, capture_output=True, text=True, timeout=900)
    assert not done.returncode, done.stderr
    return json.loads(done.stdout.splitlines()[-1])  # the commands print too


@pytest.mark.parametrize("name", ["save", "predict", "predict_stream"])
def test_the_old_file_or_the_new_one_is_there_whole(found, name):
    killed = found[name]["killed"]
    assert killed["whole"] == MOMENTS and not killed["torn"]
    assert killed["interrupted"], "no kill met a file that was being written"
    assert found[name]["disk full"] == {"whole": 4, "torn": 0, "silent": 0}


def test_a_file_that_is_written_in_place_is_seen_to_be_torn(found):
    """Or else the test above would tell nothing."""
    assert found["in place"]["killed"]["torn"] and found["in place"]["disk full"]["torn"]
