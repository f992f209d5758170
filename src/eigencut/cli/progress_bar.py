"""How far a long command is: a bar on a terminal, silence in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def progress(total: int | None, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """A function of what is read so far (of ``total``) and the number of rows done."""
    if quiet or not sys.stderr.isatty():
        yield lambda n_read, n_rows: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    bar = Progress(
        BarColumn(),
        TextColumn("{task.fields[rows]:>12,} rows  {task.fields[speed]:>12,.0f} rows/s"),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
    )
    with bar:
        task = bar.add_task("", total=total, rows=0, speed=0.0)

        def advance(n_read: int, n_rows: int) -> None:
            elapsed: Any = bar.tasks[0].elapsed or 1e-9
            bar.update(task, completed=n_read, rows=n_rows, speed=n_rows / elapsed)

        yield advance
