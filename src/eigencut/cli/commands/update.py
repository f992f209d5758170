"""``eigencut update``: a model that has seen the rows of one more table."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from eigencut.cli.options import (
    jobs_option,
    json_option,
    quiet_option,
    reading_options,
    say,
    weights_option,
)
from eigencut.cli.outputs import ModelOutput, check_outputs
from eigencut.cli.values import FILE, SHARE_OR_ALL


@click.command(
    "update",
    epilog="""\b
Examples:
  eigencut update model.eigencut tonight.csv -o model.eigencut
  eigencut update monday.eigencut tuesday.parquet --decay 0.9 -o tuesday.eigencut""",
)
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    metavar="FILE",
    help="Where the updated model goes; it may replace MODEL.",
)
@click.option(
    "--decay",
    type=SHARE_OR_ALL,
    default=1.0,
    show_default=True,
    metavar="SHARE",
    help="What each earlier row counts from now on.",
)
@weights_option
@reading_options
@jobs_option
@quiet_option
@json_option
def command(
    model: str,
    table: str,
    output: str,
    decay: float,
    weights: str | None,
    jobs: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Add the rows of TABLE (CSV, Parquet, NPY, or - for standard input) to MODEL.

    Clusters that go on keep their numbers, new ones get numbers that were never given, and those of
    clusters that have gone are not given again. With landmarks only TABLE is read, in blocks; other
    models are fitted again on the rows that they keep and these.
    """
    check_outputs([ModelOutput("-o", output)], [table], as_json)

    from eigencut.cli.models import load_table_model
    from eigencut.cli.progress_bar import progress_bar
    from eigencut.cli.tables import coding_of, model_columns, open_table, read_weighted
    from eigencut.io.rows import Rows

    fitted = load_table_model(model)
    fitted.model_.set_params(n_jobs=jobs)
    source = open_table(table, **reading)
    columns = model_columns(fitted.columns_, source, weights, "--weights")
    start = time.perf_counter()
    with progress_bar("update", quiet):
        if fitted.model_.affinity_.streams and Path(table).is_file():
            source.close()
            rows = Rows.from_file(table, columns, weights=weights, **reading)
            fitted.update(rows, decay=decay)
        else:
            whole = read_weighted(source, columns, weights, coding_of(fitted)).table
            fitted.update(whole, sample_weight=whole.weight, decay=decay)
    fitted.save(output)
    updated, seconds = fitted.model_.updated_, time.perf_counter() - start
    result = updated.to_dict() | {"seconds": round(seconds, 3), "output": output}
    say(as_json, result, f"{updated}\nThe model is in {output}", output)
