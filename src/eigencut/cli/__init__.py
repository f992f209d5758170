"""The command line: ``eigencut`` or ``python -m eigencut``.

``app`` has the commands, ``options`` their options, ``tables`` reads and fits tables, ``outputs``
writes results, and ``run`` turns errors into sentences and exit codes. Only click is imported until
a command runs, so that ``--help`` is quick.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return 0 (done), 1 (a problem with data or model) or 2 (wrong usage)."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if sys.stderr is None:  # closed; importing numpy 2.0 needs one
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    try:
        import click  # noqa: F401
    except ImportError:
        hint = "The command line needs click. Install it: pip install 'eigencut[cli]'"
        print(f"eigencut: {hint}", file=sys.stderr)
        return 1
    from eigencut.cli.run import run

    return run(arguments)
