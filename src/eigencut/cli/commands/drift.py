"""``eigencut drift``: whether a table is like what a model has seen."""

from __future__ import annotations

from typing import Any

import click

from eigencut.cli.options import jobs_option, json_option, quiet_option, reading_options, say
from eigencut.cli.values import FILE, SEED, SHARE

ALARM = 3  # the exit code


@click.command(
    "drift",
    epilog="""\b
Examples:
  eigencut drift model.eigencut tonight.csv
  eigencut drift model.eigencut tonight.csv --alarm 0.001 || echo "look at it"
  eigencut drift model.eigencut tonight.parquet --json""",
)
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option(
    "--alarm",
    type=SHARE,
    metavar="P",
    help="Exit with code 3 if the p-value of all tests together is below P, and holds.",
)
@click.option(
    "--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of all that is random."
)
@reading_options
@jobs_option
@quiet_option
@json_option
def command(
    model: str,
    table: str,
    alarm: float | None,
    seed: int,
    jobs: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Say how the rows of TABLE differ from those that MODEL has seen; MODEL stays as it is.

    Rows without support, the shares of clusters and the value of the cut, before and now, each with
    a p-value: how often chance alone would make as large a difference. And whether a new cluster
    stands out.
    """
    from eigencut.cli.models import load_table_model
    from eigencut.cli.progress_bar import progress_bar
    from eigencut.cli.tables import coding_of, model_columns, open_table

    fitted = load_table_model(model)
    fitted.model_.set_params(n_jobs=jobs)
    source = open_table(table, **reading)
    columns = model_columns(fitted.columns_, source, None)
    with progress_bar("drift", quiet):
        found = fitted.drift(
            source.read(columns, coding=coding_of(fitted)).table, random_state=seed
        )
    say(as_json, found.to_dict(), str(found))
    if alarm is not None and found.p_values_hold and found.p_value < alarm:
        raise SystemExit(ALARM)
