"""Runs the terminal session of docs/cli.md and writes what it prints into the page.

    python docs/terminal_session.py --data DIR

DIR holds the six UCI sets as ``<name>.data``; see ``experiments/paper/datasets.py``. With
``--check`` nothing is written, and the exit code tells whether the page is current, up to the
rounding of numbers.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import re
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

PAGE = Path(__file__).parent / "cli.md"
BEGIN, END = "<!-- session -->\n", "<!-- end of session -->\n"
SETS = ("banknote", "diabetes", "mammographic")

# Comments, and lines as they are typed.
SESSION = """\
# The columns have no names, so they are called x1 to x5. The fit must not see x5, the true class.
head -n 2 banknote.data
eigencut fit banknote.data --drop x5 -k 2 -o banknote.eigencut
eigencut predict banknote.eigencut banknote.data --margin -o labels.csv
head -n 4 labels.csv
eigencut info banknote.eigencut | head -n 3
# A table with missing values, which are written as ?. Without --missing you get an error.
head -n 3 mammographic.data
eigencut fit mammographic.data --drop Severity -k 2 --missing median -o masses.eigencut
# How far can you trust clusters on rows that the fit has not seen?
head -n 500 diabetes.data > train.csv
tail -n 268 diabetes.data > heldout.csv
eigencut fit train.csv --drop x9 -k 2 -o diabetes.eigencut
eigencut assess diabetes.eigencut heldout.csv | head -n 2
# Add the held-out rows. Clusters keep their numbers. Each of the 500 old rows counts as 0.9 rows.
eigencut update diabetes.eigencut heldout.csv --decay 0.9 -o diabetes.eigencut
""".splitlines()


def printed(line: str, folder: Path) -> str:
    """What a line prints: head, tail and eigencut, with ``| head -n N`` or ``> FILE`` behind."""
    line, _, target = line.partition(" > ")
    line, _, limit = line.partition(" | head -n ")
    name, *arguments = shlex.split(line)
    if name == "eigencut":
        text = _eigencut(arguments)
    else:
        lines = (folder / arguments[-1]).read_text().splitlines(keepends=True)
        n = int(arguments[1])
        text = "".join(lines[:n] if name == "head" else lines[-n:])
    if limit:
        text = "".join(text.splitlines(keepends=True)[: int(limit)])
    if target:
        (folder / target).write_text(text)
        return ""
    return text


def _eigencut(arguments: list[str]) -> str:
    """Standard output and standard error, as a terminal shows both."""
    from eigencut.cli import main

    written = io.BytesIO()
    shown = io.TextIOWrapper(written, encoding="utf-8", write_through=True)
    with contextlib.redirect_stdout(shown), contextlib.redirect_stderr(shown):
        main(arguments)
    return written.getvalue().decode("utf-8")


def session(data: Path) -> str:
    """The whole session as text."""
    shown = []
    with tempfile.TemporaryDirectory() as name, contextlib.chdir(name):
        folder = Path(name)
        for set_name in SETS:
            shutil.copy(data / f"{set_name}.data", folder)
        for line in SESSION:
            if line.startswith("#"):
                shown.append(f"\n{line}\n" if shown else f"{line}\n")
            else:
                shown.append(f"$ {line}\n{printed(line, folder)}")
    return "".join(shown)


def page_with(text: str) -> str:
    """The page, with the session replaced."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}```console\n{text}```\n{END}{after}"


def rounded(text: str) -> str:
    """The text with decimal numbers to two digits, and those that are rounding errors as 0."""

    def shorter(number: re.Match[str]) -> str:
        value = float(number[0])
        return f"{value if abs(value) > 1e-9 else 0.0:.2g}"

    return re.sub(r"\d+\.\d+(e-?\d+)?", shorter, text)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the UCI files")
    parser.add_argument("--check", action="store_true", help="only say whether it is current")
    arguments = parser.parse_args()
    page = page_with(session(arguments.data.resolve()))
    if arguments.check:
        return int(rounded(page) != rounded(PAGE.read_text(encoding="utf-8")))
    PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
