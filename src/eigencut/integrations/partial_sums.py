"""Sums over rows that many machines form, without side effects: a piece may be summed twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import reduce
from typing import Any

from eigencut._utils.arrays import Array
from eigencut._utils.running import threads
from eigencut.exceptions import invalid
from eigencut.io.rows import Rows
from eigencut.model import Model

FAN_IN = 8  # partial sums that one task adds up
Total = tuple[Any, Array]  # a sum over rows, and what was seen of them


def total_of(rows: Rows, n_features: int, part: Any, combine: Any) -> Total:
    """The sum over the rows of one piece, in blocks, and what was seen of them."""
    rows.n_features = n_features
    with threads(1):  # the cluster's own threads work on pieces
        total = rows.reduce(part, combine)
    assert rows._seen is not None  # a whole pass
    return total, rows._seen


def added_up(totals: Iterable[Total | None], combine: Callable[[Any, Any], Any]) -> Total | None:
    """Return the sum over several pieces; None if none of them has rows."""

    def add(a: Total, b: Total) -> Total:
        return combine(a[0], b[0]), a[1] + b[1]

    with_rows = [total for total in totals if total is not None]
    return reduce(add, with_rows) if with_rows else None


def finished(result: Total | None, finish: Any) -> Total:
    """What is made of the sum over all pieces."""
    if result is None:
        raise invalid("X", "have at least one row", "none", "check the source of rows")
    total, seen = result
    with threads(1):
        return (total if finish is None else finish(total)), seen


def on_one_thread(model: Model) -> Model:
    """A copy that uses one thread, as the cluster's own work on pieces; arrays are shared."""
    shared = {id(value): value for value in vars(model.gpod).values()}
    single = deepcopy(model, shared)
    single.gpod.n_jobs = 1
    return single
