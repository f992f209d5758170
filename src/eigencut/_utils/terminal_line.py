"""The stage that is running, as one line of a terminal that changes. Needs rich."""

from __future__ import annotations

import sys
from typing import Self

from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from eigencut._utils.progress import Display

_BAR_WIDTH = 16
_PER_SECOND = 8


class TerminalLine(Display):
    """A line that vanishes when it is closed, and leaves the stage with its time if asked to."""

    def __init__(self, stage: str, console: Console, leaves_time: bool) -> None:
        super().__init__(stage)
        self._leaves_time = leaves_time
        self._spinner = Spinner("dots")
        # What others write to standard error, warnings above all, comes above the line. Standard
        # output may be a file of results, and is not touched.
        self._live = Live(
            get_renderable=self._line,
            console=console,
            refresh_per_second=_PER_SECOND,
            transient=True,
            redirect_stdout=False,
        )

    @classmethod
    def on_this_terminal(cls, stage: str, leaves_time: bool) -> Self | None:
        """On standard error; None if it is a terminal whose lines cannot change."""
        console = Console(stderr=True)
        return cls(stage, console, leaves_time) if console.is_interactive else None

    def begin(self, stage: str) -> None:
        super().begin(stage)
        self._shown: tuple[float | None, str] = (None, "")

    def show(self, share: float | None, text: str) -> None:
        self._shown = (share, text)

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return super().__enter__()

    def __exit__(self, error: type[BaseException] | None, *details: object) -> None:
        try:
            super().__exit__(error, *details)
        finally:
            self._live.stop()
        if self._leaves_time and not error:
            print(f"eigencut: {self._stage} ... {self.elapsed:.2f} s", file=sys.stderr, flush=True)

    def _line(self) -> Table:
        share, text = self._shown
        bar = ProgressBar(None if share is None else 1.0, share or 0.0, width=_BAR_WIDTH)
        line = Table.grid(padding=(0, 1))
        for _ in range(5):
            line.add_column(no_wrap=True)
        seconds = Text(f"{self.elapsed:.0f} s")
        line.add_row(self._spinner, Text(self._stage), bar, seconds, Text(text))
        return line
