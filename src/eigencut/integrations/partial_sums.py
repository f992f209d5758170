"""Sums over rows that many machines form: of a piece, of pieces together, and the end.

They are those of a stream (``eigencut.io.rows``), with what was seen of the rows beside them. A
piece may be summed twice, or again when a machine was lost: nothing here has side effects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from eigencut._utils.threads import threads
from eigencut.exceptions import invalid
from eigencut.io.rows import Rows, Seen

FAN_IN = 8  # partial sums that one task adds up
Total = tuple[Any, Seen]  # a sum over rows, and what was seen of them


def total_of(rows: Rows, n_features: int, part: Any, combine: Any) -> Total:
    """The sum over the rows of one piece, in blocks, and what was seen of them."""
    rows.n_features = n_features
    with threads(1):  # the cluster's own threads work on pieces
        total = rows.reduce(part, combine)
    assert rows._seen is not None  # a whole pass
    return total, rows._seen


def added_up(totals: Iterable[Total | None], combine: Callable[[Any, Any], Any]) -> Total | None:
    """The sum over several pieces; None if none of them has rows."""
    found: Total | None = None
    for total in totals:
        if total is not None and found is not None:
            found = combine(found[0], total[0]), found[1].merged(total[1])
        else:
            found = total if found is None else found
    return found


def finished(found: Total | None, finish: Any) -> Total:
    """What is made of the sum over all pieces."""
    if found is None:
        raise invalid("X", "have at least one row", "none", "check the source of rows")
    total, seen = found
    with threads(1):
        return (total if finish is None else finish(total)), seen
