"""Sums over rows on a cluster, without side effects, since it may compute a piece twice."""

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

FAN_IN = 8  # the number of sums that one task adds up
Total = tuple[Any, Array]  # a sum over rows, and ``Rows._seen`` of the same rows


def total_of(rows: Rows, n_features: int, part: Any, combine: Any) -> Total:
    """Return the sum over the rows of one piece."""
    rows.n_features = n_features
    with threads(1):  # the cluster runs several pieces at a time
        total = rows.reduce(part, combine)
    assert rows._seen is not None  # it is set by a complete pass
    return total, rows._seen


def added_up(totals: Iterable[Total | None], combine: Callable[[Any, Any], Any]) -> Total | None:
    """Return the sum of several pieces; None if no piece has rows."""

    def add(a: Total, b: Total) -> Total:
        return combine(a[0], b[0]), a[1] + b[1]

    with_rows = [total for total in totals if total is not None]
    return reduce(add, with_rows) if with_rows else None


def finished(result: Total | None, finish: Any) -> Total:
    """Return ``finish`` of the sum over all rows; raise an error if there are no rows."""
    if result is None:
        raise invalid("X", "have at least one row", "none", "check the source of rows")
    total, seen = result
    with threads(1):
        return (total if finish is None else finish(total)), seen


def on_one_thread(model: Model) -> Model:
    """Return a copy that uses one thread, since the cluster runs several; it shares the arrays."""
    single = deepcopy(model, {id(value): value for value in vars(model.gpod).values()})
    single.gpod.n_jobs = 1
    return single
