"""The short form of ``interrupts.py``."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no such timer")


def test_an_interrupt_leaves_the_process_and_the_model_as_they_were():
    """In a process of its own: an interrupt inside the tracer of coverage would lock it."""
    script = Path(__file__).with_name("interrupts.py")
    environment = {name: value for name, value in os.environ.items() if "COV" not in name}
    done = subprocess.run(
        [sys.executable, script, "--interrupts", "500"],
        capture_output=True,
        text=True,
        env=environment,
        timeout=300,
    )
    found = json.loads(done.stdout)
    assert not found["wrong"]
    assert found["interrupted"] == 500  # and a few that came too late
    excused = sum(found.get(f"{what} by Python", 0) for what in ("changed", "dropped"))
    assert excused <= 10, found
