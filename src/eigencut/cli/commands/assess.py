"""``eigencut assess``: errors, gap and bounds of a model, with held-out rows or without."""

from __future__ import annotations

from typing import Any

import click

from eigencut.cli.options import json_option, reading_options, say
from eigencut.cli.values import FILE, SHARE


@click.command(
    "assess",
    epilog="""\b
Examples:
  eigencut assess model.eigencut heldout.csv
  eigencut assess model.eigencut --delta 0.01 --json""",
)
@click.argument("model", type=FILE)
@click.argument("table", required=False, type=FILE)
@click.option(
    "--delta",
    type=SHARE,
    default=0.05,
    show_default=True,
    metavar="SHARE",
    help="The bounds may fail that often.",
)
@reading_options
@json_option
def command(model: str, table: str | None, delta: float, as_json: bool, **reading: Any) -> None:
    """Say how far MODEL can be trusted; on rows of TABLE that it was not fitted on, if given."""
    from eigencut.cli.models import load_table_model
    from eigencut.cli.tables import model_columns, open_table
    from eigencut.risk import assess

    fitted = load_table_model(model)
    rows = None
    if table is not None:
        source = open_table(table, **reading)
        columns = model_columns(fitted.columns_, source, None)
        rows, _ = fitted.prepare(source.read(columns).table)
    summary = assess(fitted.model_, rows, delta)
    say(as_json, summary.to_dict(), str(summary))
