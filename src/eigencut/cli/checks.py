"""What several commands look at before they begin."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from eigencut.cli.options import TableOptions


def refuse_overwriting(output: str, *inputs: str) -> None:
    """An output must not be one of the inputs."""
    for given in inputs:
        both_exist = Path(given).exists() and Path(output).exists()
        if output != "-" and both_exist and Path(output).samefile(given):
            raise click.UsageError(f"-o {output} is the input; name another file.")


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
