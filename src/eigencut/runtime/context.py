"""Values that hold for everything that runs inside of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")


@contextmanager
def holding(variable: ContextVar[Value], value: Value) -> Iterator[None]:
    """Give a context variable a value for a while."""
    token = variable.set(value)
    try:
        yield
    finally:
        variable.reset(token)
