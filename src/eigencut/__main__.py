"""``python -m eigencut``: commands of the package."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path


def parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="python -m eigencut", description="Commands of eigencut.")
    commands = top.add_subparsers(dest="command", required=True)
    paper = commands.add_parser("paper", help="compute the paper's tables and figures")
    paper.add_argument("--quick", action="store_true", help="few splits: minutes instead of more")
    paper.add_argument("--data", metavar="DIR", help="folder of the UCI files (EIGENCUT_DATA)")
    paper.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("paper"), help="results go here (paper)"
    )
    paper.set_defaults(run=_paper)
    return top


def _paper(arguments: argparse.Namespace) -> None:
    from eigencut.paper.command import FULL, QUICK, run

    run(arguments.data, arguments.out, QUICK if arguments.quick else FULL)
    print(f"The results are in {arguments.out}: paper.json, paper.md and images/paper")


def main(arguments: list[str] | None = None) -> int:
    """Run one command; what is wrong with its input is said in one sentence."""
    chosen = parser().parse_args(arguments)
    try:
        chosen.run(chosen)
    except (FileNotFoundError, ImportError, ValueError) as error:
        print(f"eigencut: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
