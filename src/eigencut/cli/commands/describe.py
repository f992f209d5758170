"""``eigencut describe``: what the clusters of a model are, on the rows of a table."""

from __future__ import annotations

from typing import Any

import click

from eigencut.cli.options import jobs_option, json_option, quiet_option, reading_options, say
from eigencut.cli.values import FILE, SHARE, whole_number


@click.command(
    "describe",
    epilog="""\b
Examples:
  eigencut describe model.eigencut data.csv
  eigencut describe model.eigencut data.csv --top 3 --json
  eigencut describe model.eigencut letters.parquet --documents text""",
)
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option(
    "--documents", metavar="NAME", help="A column of texts, for the words of the clusters."
)
@click.option(
    "--top",
    type=whole_number(1),
    default=5,
    show_default=True,
    metavar="N",
    help="Columns that distinguish a cluster, at most.",
)
@click.option(
    "--typical",
    type=whole_number(0),
    default=3,
    show_default=True,
    metavar="N",
    help="Typical rows of a cluster, at most.",
)
@click.option(
    "--confidence",
    type=SHARE,
    default=0.95,
    show_default=True,
    metavar="SHARE",
    help="Of the intervals.",
)
@reading_options
@jobs_option
@quiet_option
@json_option
def command(
    model: str,
    table: str,
    documents: str | None,
    top: int,
    typical: int,
    confidence: float,
    jobs: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Say what each cluster of MODEL is, on the rows of TABLE: those of the fit, or others.

    Its size, the columns that distinguish it, a rule of at most three conditions, and typical rows
    (row 0 is the first of the table).
    """
    from eigencut.cli.models import load_labelling_model
    from eigencut.cli.progress_bar import progress_bar
    from eigencut.cli.tables import coding_of, model_columns, open_table

    fitted = load_labelling_model(model, jobs)
    source = open_table(table, **reading)
    columns = model_columns(fitted.columns_, source, documents, "--documents")
    with progress_bar("table", quiet):
        block = source.read(columns, documents, coding_of(fitted))
    described = fitted.describe(
        block.table,
        documents=block.ids,
        n_typical=typical,
        n_columns=top,
        confidence=confidence,
    )
    say(as_json, described.to_dict(), str(described))
