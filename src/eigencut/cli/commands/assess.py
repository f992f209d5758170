"""``eigencut assess``: errors, gap and bounds of a model, with held-out rows or without."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

import click

from eigencut.cli.options import json_option, quiet_option, reading_options, say, weights_option
from eigencut.cli.values import FILE, SHARE


@click.command(
    "assess",
    epilog="""\b
Examples:
  eigencut assess model.eigencut heldout.csv
  eigencut assess model.eigencut survey.csv --weights people
  eigencut assess model.eigencut --delta 0.01 --json
  eigencut assess model.eigencut heldout.csv --significance --stability --sets""",
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
@click.option(
    "--significance", is_flag=True, help="Ask whether the rows are one cluster: 200 refits."
)
@click.option("--stability", is_flag=True, help="Count how often labels stay: 30 refits.")
@click.option("--sets", is_flag=True, help="Calibrate label sets on TABLE: 20 refits.")
@weights_option
@reading_options
@quiet_option
@json_option
def command(
    model: str,
    table: str | None,
    delta: float,
    significance: bool,
    stability: bool,
    sets: bool,
    weights: str | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Say how far MODEL can be trusted; on rows of TABLE that it was not fitted on, if given."""
    from eigencut import inspection
    from eigencut.cli.models import load_table_model
    from eigencut.cli.progress_bar import progress_bar
    from eigencut.cli.tables import coding_of, model_columns, open_table, read_weighted
    from eigencut.io.refused_rows import naming_refused_rows

    if sets and table is None:
        raise click.UsageError("--sets needs a TABLE of rows that the model was not fitted on.")
    if weights is not None and table is None:
        raise click.UsageError("--weights needs a TABLE, of which it names a column.")
    if sets and weights is not None:
        raise click.UsageError("--sets deals rows out, so it takes no --weights; leave one out.")
    fitted = load_table_model(model)
    rows = counts = None
    placed = ExitStack()
    if table is not None:
        source = open_table(table, **reading)
        columns = model_columns(fitted.columns_, source, None)
        whole = read_weighted(source, columns, weights, coding_of(fitted)).table
        rows, complete = fitted.prepare(whole)
        counts = None if whole.weight is None else whole.weight[complete]
        placed.enter_context(fitted.naming_rows(whole, rows, complete))
        placed.enter_context(naming_refused_rows(rows))
    gpod = fitted.model_
    with placed, progress_bar("refits", quiet):
        refitted: dict[str, Any] = {
            "significance": inspection.significance(gpod) if significance else None,
            "stability": inspection.stability(gpod) if stability else None,
        }
        label_sets = inspection.label_sets(gpod, rows) if sets and rows is not None else None
        summary = inspection.assess(gpod, rows, delta, sample_weight=counts, **refitted)
    details = [answer for answer in refitted.values() if answer is not None]
    result, texts = summary.to_dict(), [str(answer) for answer in (summary, *details)]
    if label_sets is not None:
        result["label_sets"] = label_sets.to_dict()
        texts.append(str(label_sets))
    say(as_json, result, "\n\n".join(texts))
