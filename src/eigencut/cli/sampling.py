"""As many rows of a table as --sample says."""

from __future__ import annotations

from typing import Any

from eigencut.cli.options import TableOptions


def sampled(rows: Any, complete: Any, options: TableOptions) -> tuple[Any, Any]:
    """As many of the rows as --sample says, at random; and which of all rows they are."""
    import numpy as np  # here, so that --help is quick

    n = options.sample
    if n is None or n >= len(rows):
        return rows, complete
    chosen = np.sort(np.random.default_rng(options.seed).choice(len(rows), n, replace=False))
    kept = np.zeros(len(complete), dtype=bool)
    kept[np.flatnonzero(complete)[chosen]] = True
    return rows[chosen], kept
