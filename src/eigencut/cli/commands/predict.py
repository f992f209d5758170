"""``eigencut predict``: labels of a table of any length, in bounded memory."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import click

from eigencut.cli.options import (
    jobs_option,
    json_option,
    quiet_option,
    reading_options,
    say,
    spreadsheet_option,
)
from eigencut.cli.outputs import TableOutput, check_outputs, is_standard_output
from eigencut.cli.values import FILE

if TYPE_CHECKING:
    from eigencut.hierarchy.recluster import Reclustered
    from eigencut.io.source import Block
    from eigencut.tables.table_model import TableModel


@click.command(
    "predict",
    epilog="""\b
Examples:
  eigencut predict model.eigencut new.csv -o labels.csv
  eigencut predict model.eigencut new.parquet --id customer --margin -o labels.parquet
  eigencut predict model.eigencut new.csv --proba -o probabilities.csv
  cat new.csv | eigencut predict model.eigencut - > labels.csv""",
)
@click.argument("model", type=FILE)
@click.argument("table", type=FILE)
@click.option(
    "-o",
    "--output",
    type=FILE,
    default="-",
    metavar="FILE",
    help="CSV, CSV.GZ, Parquet or NPY by its name. Default: CSV to standard output.",
)
@click.option("--id", "id_column", metavar="NAME", help="A column to copy, which names rows.")
@click.option("--margin", is_flag=True, help="Also how clearly a row belongs to its cluster.")
@click.option(
    "--proba", is_flag=True, help="Also the probability of each cluster, in columns p0, p1, ..."
)
@click.option("--support", is_flag=True, help="Also how well the data support a row.")
@spreadsheet_option
@reading_options
@jobs_option
@quiet_option
@json_option
def command(
    model: str,
    table: str,
    output: str,
    id_column: str | None,
    margin: bool,
    proba: bool,
    support: bool,
    spreadsheet: bool,
    quiet: bool,
    jobs: int | None,
    as_json: bool,
    **reading: Any,
) -> None:
    """Label the rows of TABLE (CSV, Parquet, NPY, or - for standard input) with MODEL.

    The output has a line for each row: its cluster, the same number as at the fit; -1 for an
    outlier (fit --outliers label) or a row with missing values (fit --missing drop). Where classes
    had names (fit --known) a column cluster_name has them.
    """
    check_outputs([TableOutput("-o", output)], [table, model], as_json)
    asked = {"margin": margin, "proba": proba, "support": support}
    if output.lower().endswith(".npy") and (id_column is not None or any(asked.values())):
        raise click.UsageError(
            f"-o {output} holds clusters alone; for --id, --margin, --proba and --support use "
            ".csv or .parquet."
        )

    from eigencut._utils.progress import tell
    from eigencut.cli.models import load_labelling_model
    from eigencut.cli.progress_bar import progress_bar
    from eigencut.cli.sparse_tables import OF_SPARSE_LABELS, sparse_table
    from eigencut.cli.tables import model_blocks, open_table
    from eigencut.cli.writing import open_writer
    from eigencut.exceptions import EmptyTableError
    from eigencut.io.source import Block

    fitted = load_labelling_model(model, jobs)
    matrix = sparse_table(table, OF_SPARSE_LABELS)
    if matrix is None:
        source = open_table(table, **reading)
        blocks = model_blocks(fitted, source, id_column)
    else:
        blocks = iter([Block(matrix, None, matrix.shape[0])])
    start, n_rows = time.perf_counter(), 0
    is_shown = is_standard_output(output)
    quiet = quiet or (is_shown and sys.stdout.isatty())  # the labels show how far it is
    with progress_bar("labels", quiet), open_writer(output, spreadsheet) as writer:
        for block in blocks:
            labelled = _labelled(fitted, block, id_column, **asked)
            writer.write(labelled)
            n_rows += len(labelled["cluster"])
            share = 1.0 if matrix is not None else source.share(block)
            tell(share, _pace(n_rows, time.perf_counter() - start, share))
        if not n_rows:
            raise EmptyTableError(f"{table} has no rows.")
    if is_shown:
        return
    seconds = time.perf_counter() - start
    result = {"rows": n_rows, "seconds": round(seconds, 3), "output": output}
    say(as_json, result, f"{n_rows} rows labelled; the labels are in {output}", output)


def _pace(n_rows: int, seconds: float, share: float | None) -> str:
    left = f", {seconds * (1 / share - 1):.0f} s left" if share else ""
    return f"{n_rows:,} rows, {n_rows / seconds:,.0f} rows/s{left}"


def _labelled(
    model: TableModel | Reclustered,
    block: Block,
    id_column: str | None,
    margin: bool,
    proba: bool,
    support: bool,
) -> dict[str, Any]:
    from eigencut.cli.known_column import cluster_columns

    found: dict[str, Any] = {}
    if id_column is not None:
        found[id_column] = block.ids
    if not (margin or proba or support):
        return found | cluster_columns(model, model.predict(block.table))
    answers = model.answers(block.table)
    found |= cluster_columns(model, answers.labels)
    if margin:
        found["margin"] = answers.margins
    if support:
        found["support"] = answers.support
    if proba:
        found |= {f"p{k}": column for k, column in enumerate(answers.probabilities.T)}
    return found
