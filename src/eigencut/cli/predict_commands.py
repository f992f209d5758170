"""Commands that use models elsewhere: ``predict``, ``export`` and ``demo``, a tour of three."""

from __future__ import annotations

import shlex
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from eigencut.cli import options as opt
from eigencut.cli.outputs import Output, check_outputs, is_standard_output, open_writer, say
from eigencut.exceptions import printable


@opt.command(
    "predict",
    "eigencut predict model.eigencut new.csv -o labels.csv",
    "eigencut predict model.eigencut new.parquet --id customer --margin -o labels.parquet",
    "eigencut predict model.eigencut new.csv --proba -o probabilities.csv",
    "cat new.csv | eigencut predict model.eigencut - > labels.csv",
)
@opt.argument("model")
@opt.argument("table")
@opt.output(
    "CSV, CSV.GZ, Parquet or NPY by its name. Default: CSV to standard output.",
    required=False,
    default="-",
    show_default=False,
)
@opt.option("--id id_column", opt.column, "A column to copy, which names rows.")
@opt.flag("--margin", "Also how clearly a row belongs to its cluster.")
@opt.flag("--proba", "Also the probability of each cluster, in columns p0, p1, ...")
@opt.flag("--support", "Also the similarity to the training rows.")
@opt.spreadsheet
@opt.run
def predict(
    model: str,
    table: str,
    output: str,
    id_column: str | None,
    margin: bool,
    proba: bool,
    support: bool,
    spreadsheet: bool,
    run: opt.RunOptions,
) -> None:
    """Label the rows of TABLE (CSV, Parquet, NPY, or - for standard input) with MODEL.

    The output has a line for each row: its cluster, the same number as at the fit; -1 for an
    outlier (fit --outliers label) or a row with missing values (fit --missing drop). Where classes
    had names (fit --known) a column cluster_name has them.
    """
    check_outputs([Output("-o", output, "table")], [table, model], run.as_json)
    has_more = margin or proba or support
    if output.lower().endswith(".npy") and (id_column is not None or has_more):
        raise click.UsageError(
            f"-o {output} holds clusters alone; for --id, --margin, --proba and --support use "
            ".csv or .parquet."
        )

    from eigencut.cli import tables
    from eigencut.exceptions import EmptyTableError

    fitted = tables.load_model(model, run.jobs)

    def answer(rows: Any) -> dict[str, Any]:
        if not has_more:
            return tables.cluster_columns(fitted, fitted.predict(rows))
        answers = fitted.answers(rows)
        columns = tables.cluster_columns(fitted, answers.labels)
        columns |= {"margin": answers.margins} if margin else {}
        columns |= {"support": answers.support} if support else {}
        each = enumerate(answers.probabilities.T) if proba else ()
        return columns | {f"p{k}": column for k, column in each}

    matrix = tables.sparse_matrix(table)
    blocks = iter(() if matrix is None else [answer(matrix)])
    if matrix is None:
        blocks = tables.labelled_blocks(fitted, table, run, id_column, answer)
    start, n_rows = time.perf_counter(), 0
    is_shown = is_standard_output(output)
    if is_shown and sys.stdout.isatty():  # the labels show how far it is
        run = replace(run, quiet=True)
    with run.progress("labels"), open_writer(output, spreadsheet) as write:
        for columns in blocks:
            write(columns)
            n_rows += len(columns["cluster"])
        if not n_rows:
            raise EmptyTableError(f"{table} has no rows.")
    if is_shown:
        return
    seconds = time.perf_counter() - start
    result = {"rows": n_rows, "seconds": round(seconds, 3), "output": output}
    run.say(result, f"{n_rows} rows labelled; the labels are in {output}", output)


@opt.command(
    "export",
    "eigencut export model.eigencut -o model.onnx",
    "eigencut export model.eigencut --dtype float32 -o small.onnx",
)
@opt.argument("model")
@opt.output("Where the ONNX file goes.")
@opt.option("--dtype", ["float64", "float32"])
@opt.as_json
def export(model: str, output: str, dtype: str, as_json: bool) -> None:
    """Write MODEL as an ONNX graph: rows in; labels, embedding and similarity out.

    Units and missing values are part of the graph. onnxruntime must agree with the model on the
    training rows before anything is written. Needs the extra: pip install 'eigencut[onnx]'.
    """
    check_outputs([Output("-o", output, "graph")], [model], as_json)

    from eigencut.cli.tables import load_model
    from eigencut.export import to_onnx

    fitted = load_model(model, None, one_cut=True)
    to_onnx(fitted, output, dtype=dtype)
    result = {"columns": fitted.columns_, "dtype": dtype, "output": output}
    text = f"The graph is in {output}; input X: {printable(', '.join(fitted.columns_))}"
    say(as_json, result, text, output)


@opt.command("demo", "eigencut demo --out tour")
@opt.option("--out", opt.file, "Files go into this folder.", default="eigencut-demo")
def demo(out: str) -> None:
    """Write two tables of moons, then fit, look at and use a model of them."""
    from sklearn.datasets import make_moons

    from eigencut.cli.app import app

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, n_rows, seed in (("moons", 1000, 0), ("new", 300, 1)):
        X, moon = make_moons(n_rows, noise=0.05, random_state=seed)
        with open_writer(str(folder / f"{name}.csv")) as write:
            write({"x": X[:, 0].round(4), "y": X[:, 1].round(4), "moon": moon})
    for line in (
        "fit {0}/moons.csv --drop moon -k 2 -o {0}/moons.eigencut",
        "info {0}/moons.eigencut",
        "predict {0}/moons.eigencut {0}/new.csv --margin -o {0}/labels.csv",
    ):
        arguments = shlex.split(line.format(shlex.quote(out)))
        click.echo(f"$ eigencut {shlex.join(arguments)}")
        app.main(arguments, prog_name="eigencut", standalone_mode=False)
        click.echo()
    click.echo(f"$ head -n 4 {shlex.quote(f'{out}/labels.csv')}")
    click.echo("".join((folder / "labels.csv").open().readlines()[:4]), nl=False)
