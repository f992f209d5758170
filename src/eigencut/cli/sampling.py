"""As many rows of a table as --sample says."""

from __future__ import annotations

from typing import Any

from eigencut.cli.options import TableOptions


def sampled(
    rows: Any, complete: Any, options: TableOptions, is_known: Any = None
) -> tuple[Any, Any]:
    """As many of the rows as --sample says, at random; and which of all rows they are.

    Of rows whose class ``is_known`` all are among them.
    """
    import numpy as np  # here, so that --help is quick

    n = options.sample
    if n is None or n >= len(rows):
        return rows, complete
    random = np.random.default_rng(options.seed)
    always = np.flatnonzero(is_known[complete]) if is_known is not None else np.array([], int)
    if len(always) >= n:
        raise ValueError(
            f"--sample must be larger than the number of rows of known class, {len(always)}. Got "
            f"{n}; raise it."
        )
    others = np.setdiff1d(np.arange(len(rows)), always)
    chosen = np.sort(np.append(always, random.choice(others, n - len(always), replace=False)))
    kept = np.zeros(len(complete), dtype=bool)
    kept[np.flatnonzero(complete)[chosen]] = True
    return rows[chosen], kept
