"""``eigencut report``: all there is to say of a model, as a page, a text or JSON."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eigencut.cli.options import jobs_option, json_option, quiet_option, reading_options, say
from eigencut.cli.outputs import PageOutput, check_outputs
from eigencut.cli.values import CLUSTER_NAME, FILE, SEED, whole_number

if TYPE_CHECKING:
    from eigencut.io.source import Block


@click.command(
    "report",
    epilog="""\b
Examples:
  eigencut report model.eigencut data.csv -o report.html
  eigencut report model.eigencut data.csv --new today.csv -o report.html
  eigencut report model.eigencut data.csv --name 0=regulars --name 1=visitors --json""",
)
@click.argument("model", type=FILE)
@click.argument("table", required=False, type=FILE)
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="Write the report there: .html, .json or .txt. Default: print it.",
)
@click.option(
    "--new", type=FILE, metavar="TABLE", help="Rows that the model was not fitted on, to judge it."
)
@click.option("--documents", metavar="NAME", help="A column of texts in TABLE, for words.")
@click.option(
    "--name",
    "names",
    type=CLUSTER_NAME,
    multiple=True,
    metavar="N=NAME",
    help="What cluster N is called, e.g. 0=regulars.",
)
@click.option("--title", metavar="TEXT", help="Of the report. Default: the name of the file MODEL.")
@click.option(
    "--refits",
    type=whole_number(0),
    default=10,
    show_default=True,
    metavar="N",
    help="Fits on samples, for stability; 0 leaves it out.",
)
@click.option(
    "--seed", type=SEED, default=0, show_default=True, metavar="N", help="Of rows that are drawn."
)
@reading_options
@jobs_option
@quiet_option
@json_option
def command(
    model: str,
    table: str | None,
    output: str | None,
    new: str | None,
    documents: str | None,
    names: tuple[tuple[int, str], ...],
    title: str | None,
    refits: int,
    seed: int,
    jobs: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Report on MODEL: a summary in plain words, clusters, doubt, choice, risk and stability.

    TABLE has the rows of the fit, or others like them; without it those are taken that the model
    has kept. A page (.html) is one file that needs no network.
    """
    outputs = [] if output is None else [PageOutput("-o", output)]
    check_outputs(outputs, [model, table, new], as_json)
    if documents is not None and table is None:
        raise click.UsageError("--documents names a column of TABLE, which is not given.")
    if "-" == table == new:
        raise click.UsageError("TABLE and --new cannot both be standard input; name a file.")

    called: dict[int, str] = {}
    for number, name in names:
        if called.setdefault(number, name) != name:
            raise click.UsageError(
                f"--name gives cluster {number} two names, {called[number]!r} and {name!r}; "
                "leave one out."
            )

    from eigencut.cli.models import load_labelling_model
    from eigencut.cli.progress_bar import progress_bar
    from eigencut.report import summarize
    from eigencut.report.writing import save_summary

    fitted = load_labelling_model(model, jobs)
    with progress_bar("tables", quiet):
        rows = None if table is None else _read(fitted, table, documents, reading)
        fresh = None if new is None else _read(fitted, new, None, reading)
        found = summarize(
            fitted,
            None if rows is None else rows.table,
            X_new=None if fresh is None else fresh.table,
            documents=None if rows is None or documents is None else rows.ids,
            names=called,
            title=Path(model).stem if title is None else title,
            stability=refits > 0,
            n_refits=max(refits, 1),
            random_state=seed,
        )
    if output is None:
        say(as_json, found.to_dict(), str(found))
        return
    save_summary(found, output)
    said = {"sentences": list(found.sentences), "output": output}
    text = "\n".join([*found.sentences, f"The report is in {output}"])
    say(as_json, found.to_dict() | said, text, output)


def _read(fitted: Any, path: str, documents: str | None, reading: dict[str, Any]) -> Block:
    from eigencut.cli.tables import coding_of, model_columns, open_table

    source = open_table(path, **reading)
    columns = model_columns(fitted.columns_, source, documents, "--documents")
    return source.read(columns, documents, coding_of(fitted))
