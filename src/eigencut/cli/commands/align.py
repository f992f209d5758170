"""``eigencut align``: a model whose clusters have the numbers of another model's."""

from __future__ import annotations

from typing import Any

import click

from eigencut.cli.options import jobs_option, json_option, quiet_option, reading_options, say
from eigencut.cli.outputs import ModelOutput, check_outputs
from eigencut.cli.values import FILE


@click.command(
    "align",
    epilog="""\b
Examples:
  eigencut align march.eigencut february.eigencut -o march.eigencut
  eigencut align march.eigencut february.eigencut march.csv -o aligned.eigencut""",
)
@click.argument("model", type=FILE)
@click.argument("reference", type=FILE)
@click.argument("table", required=False, type=FILE)
@click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    metavar="FILE",
    help="Where the model with other numbers goes; it may replace MODEL.",
)
@reading_options
@jobs_option
@quiet_option
@json_option
def command(
    model: str,
    reference: str,
    table: str | None,
    output: str,
    jobs: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Give the clusters of MODEL the numbers that they have in REFERENCE, over the same columns.

    Clusters are compared on the rows of TABLE, or on what REFERENCE keeps of those that it has
    seen. One that shares no more than half of its rows with any cluster of REFERENCE, or of that
    one's rows, gets a number that REFERENCE has never given.
    """
    check_outputs([ModelOutput("-o", output)], [reference, table], as_json)

    from eigencut.cli.models import load_table_model
    from eigencut.cli.progress_bar import progress_bar
    from eigencut.cli.tables import coding_of, model_columns, open_table
    from eigencut.updating.alignment import align_labels, renumbered

    fitted, other = load_table_model(model), load_table_model(reference)
    for one in (fitted, other):
        one.model_.set_params(n_jobs=jobs)
    rows = None
    if table is not None:
        source = open_table(table, **reading)
        columns = model_columns(fitted.columns_, source, None)
        with progress_bar("table", quiet):
            rows = source.read(columns, coding=coding_of(fitted)).table
    with progress_bar("labels", quiet):
        aligned = align_labels(fitted, other, rows)
    aligned.save(output)
    numbers = renumbered(fitted, aligned)
    known = set(other.model_.cluster_numbers_.tolist())
    new = sorted(number for number in numbers.values() if number not in known)
    result = {"numbers": numbers, "new": new, "output": output}
    lines = [
        f"Cluster {before} is now {now}{', which is new' if now in new else ''}"
        for before, now in numbers.items()
    ]
    say(as_json, result, "\n".join([*lines, f"The model is in {output}"]), output)
