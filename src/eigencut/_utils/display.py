"""What shows how far a fit is, and whether anything does."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from contextvars import ContextVar
from typing import Self


class Display(ABC):
    """Shows the stage that is running and how far it is."""

    def __init__(self, stage: str) -> None:
        self.begin(stage)

    def begin(self, stage: str) -> None:
        """Another stage is running now."""
        self._stage, self._start = stage, time.perf_counter()

    @property
    def elapsed(self) -> float:
        """Seconds since the stage began."""
        return time.perf_counter() - self._start

    @abstractmethod
    def show(self, share: float | None, text: str) -> None:
        """How far the stage is, in words, and as a share of the whole if that is known."""

    def __enter__(self) -> Self:
        self._token = listening.set(self)
        return self

    def __exit__(self, error: type[BaseException] | None, *details: object) -> None:
        listening.reset(self._token)


listening: ContextVar[Display | None] = ContextVar("eigencut_display", default=None)
