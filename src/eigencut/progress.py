"""Telling a waiting user what is going on."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


class Progress:
    """Announces stages on standard error as they begin, and their time as they end."""

    def __init__(self, verbose: bool) -> None:
        self._verbose = verbose

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        start = time.perf_counter()
        self._say(f"eigencut: {name} ...", end="")
        yield
        self._say(f" {time.perf_counter() - start:.2f} s")

    def _say(self, text: str, end: str = "\n") -> None:
        if self._verbose:
            print(text, end=end, file=sys.stderr, flush=True)
