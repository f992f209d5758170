"""The short form of ``make sanitize``; and that the sanitizers are at work in it."""

import ctypes
import json
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sanitize

CASES = 25  # of each of the three forms

pytestmark = pytest.mark.skipif(
    shutil.which("gcc") is None or platform.system() != "Linux", reason="the sanitizers are gcc's"
)


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    return sanitize.sanitized_library(tmp_path_factory.mktemp("sanitized"))


def under_sanitizers(*arguments):
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=sanitize.environment(), capture_output=True, text=True)


@pytest.mark.parametrize("bits", sanitize.FORMS)
def test_no_form_of_the_kernels_does_what_c_does_not_define(library, bits):
    script = Path(sanitize.__file__)
    done = under_sanitizers(script, "--seconds", 0, "--cases", CASES, "--drive", library, bits)
    assert not done.returncode, done.stderr[-4000:]
    counts = json.loads(done.stdout)
    assert counts["bits"] == bits and counts["cases"] == CASES, counts


def test_a_read_past_the_end_is_seen(library):
    """Or else the test above would tell nothing."""
    code = f"""
import ctypes, numpy as np
function = ctypes.CDLL({str(library)!r}).membership_sums
nearest, weights, units = np.zeros((1, 1), int), np.ones((1, 1)), np.zeros((300, 1), dtype=np.int64)
arrays = [array.ctypes.data_as(ctypes.c_void_p) for array in (nearest, weights, units)]
function(*arrays, *map(ctypes.c_long, (2, 1, 1)), ctypes.c_double(1.0))
"""
    done = under_sanitizers("-c", code)
    assert done.returncode and "heap-buffer-overflow" in done.stderr
    assert "membership_sums.c" in done.stderr
    assert ctypes.sizeof(ctypes.c_long) == 8
