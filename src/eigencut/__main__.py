"""``python -m eigencut``: the command line. ``paper`` works without its extra, too."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> int:
    """Run one command; the exit code."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments[:1] == ["paper"]:
        from eigencut.paper.command import main as paper

        return paper(arguments[1:])
    from eigencut.cli import main as command_line

    return command_line(arguments)


if __name__ == "__main__":
    sys.exit(main())
