"""Options that all commands of this folder share."""

from __future__ import annotations

import argparse
from pathlib import Path


def parser(description: str | None, program: str, quick: str, out: str) -> argparse.ArgumentParser:
    """``--quick`` and ``--out``, with their help."""
    first_line = (description or "").splitlines()[0]
    made = argparse.ArgumentParser(prog=f"python -m {program}", description=first_line)
    made.add_argument("--quick", action="store_true", help=quick)
    made.add_argument("--out", type=Path, metavar="PATH", help=out)
    return made


def positive(text: str) -> int:
    """An integer of at least 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer of at least 1. Got {text!r}.")
    return int(text)
