"""Values that hold for everything that runs inside of a block."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from copy import copy
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


# Changes of an object that happen as a whole, or not at all.

Kind = TypeVar("Kind")


@contextmanager
def all_or_nothing(item: Kind) -> Iterator[Kind]:
    """A copy to work on; what it has become, the object becomes too, if nothing was raised.

    So a fit that is refused or interrupted leaves the model that there was, and nobody ever sees
    half of the one and half of the other. Attributes are to be set, not changed in place.

    Examples
    --------
    >>> from argparse import Namespace
    >>> model = Namespace(n_rows=3)
    >>> with all_or_nothing(model) as fresh:
    ...     fresh.n_rows = 4
    >>> model
    Namespace(n_rows=4)
    """
    fresh = copy(item)
    yield fresh
    item.__dict__ = fresh.__dict__  # in one step, between two of which a signal may come
