"""The command line: parse, call, print. Nothing is computed here.

``eigencut`` and ``python -m eigencut`` both end in ``main``. Only click is imported until a command
runs, so that ``--help`` is quick.

- ``app``: all commands, one function each
- ``options``: kinds of values, options that commands share, how a function becomes a command
- ``tables``: reading tables and models, fitting and labelling them
- ``outputs``: files that commands write, and checks of their names
- ``run``: errors, warnings and signals as sentences and exit codes
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main(arguments: list[str] | None = None) -> int:
    """Run one command; returns 0 (done), 1 (a problem with data or model) or 2 (usage)."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if sys.stderr is None:  # closed; numpy 2.0 needs one to be imported
        sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    try:
        import click  # noqa: F401
    except ImportError:
        hint = "The command line needs click. Install it: pip install 'eigencut[cli]'"
        print(f"eigencut: {hint}", file=sys.stderr)
        return 1
    from eigencut.cli.run import run

    return run(arguments)
