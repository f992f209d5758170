"""What several commands look at before they begin."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

_BYTES_PER_PAIR = 4  # the exact graph keeps a float64 for each pair of rows


def refuse_overwriting(output: str, *inputs: str) -> None:
    """An output must not be one of the inputs."""
    for given in inputs:
        both_exist = Path(given).exists() and Path(output).exists()
        if output != "-" and both_exist and Path(output).samefile(given):
            raise click.UsageError(f"-o {output} is the input; name another file.")


def sampled(rows: Any, complete: Any, n: int | None, seed: int) -> tuple[Any, Any]:
    """At most n of the rows, at random; and which of all rows they are."""
    import numpy as np  # here, so that --help is quick

    if n is None or n >= len(rows):
        return rows, complete
    chosen = np.sort(np.random.default_rng(seed).choice(len(rows), n, replace=False))
    kept = np.zeros(len(complete), dtype=bool)
    kept[np.flatnonzero(complete)[chosen]] = True
    return rows[chosen], kept


def refuse_too_many_rows(n: int) -> None:
    """The exact graph grows with the square of the rows: say so before memory is full."""
    if not hasattr(os, "sysconf"):
        return
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if _BYTES_PER_PAIR * n * n > memory // 2:
        raise ValueError(
            f"{n} rows need {_BYTES_PER_PAIR * n * n / 1e9:.0f} GB for the exact graph, and this "
            f"machine has {memory / 1e9:.0f} GB. Use --landmarks 1000; or fit on some of them, "
            "e.g. --sample 10000, and let predict label the others."
        )
