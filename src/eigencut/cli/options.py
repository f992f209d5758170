"""Options that several commands share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click

from eigencut._utils.validation import printable
from eigencut.cli.outputs import is_standard_output
from eigencut.cli.printable import as_json as json_text
from eigencut.cli.values import DELIMITER, ENCODING, JOBS, ORDER, SEED, whole_number

Command = Callable[..., Any]


def reading_options(function: Command) -> Command:
    """--delimiter, --decimal, --header and --encoding, as arguments for ``open_table``."""
    for option in (
        click.option(
            "--encoding",
            type=ENCODING,
            default="utf-8",
            show_default=True,
            metavar="NAME",
            help="Of a CSV file.",
        ),
        click.option(
            "--header/--no-header",
            default=None,
            help="Whether the first line of a CSV file names the columns. Default: found out.",
        ),
        click.option(
            "--decimal",
            type=click.Choice([".", ","]),
            default=".",
            show_default=True,
            help="Before the fraction of a number in a CSV file.",
        ),
        click.option(
            "--delimiter",
            type=DELIMITER,
            metavar="CHAR",
            help="Between cells of a CSV file, or tab. Default: found out.",
        ),
    ):
        function = option(function)
    return function


def column_options(function: Command) -> Command:
    """--columns, --drop and --id: which columns are data."""
    for option in (
        click.option("--id", "id_column", metavar="NAME", help="A column that names rows."),
        click.option(
            "--drop", multiple=True, metavar="NAMES", help="Columns to leave out, e.g. town,day."
        ),
        click.option(
            "--columns", multiple=True, metavar="NAMES", help="Columns to use. Default: all."
        ),
    ):
        function = option(function)
    return function


def preparation_options(function: Command) -> Command:
    """--scale and --missing: what is done to columns, as part of the model."""
    for option in (
        click.option(
            "--missing",
            type=click.Choice(["refuse", "drop", "mean", "median"]),
            default="refuse",
            show_default=True,
            help="Missing values: an error, leave rows out, or fill in.",
        ),
        click.option(
            "--scale",
            type=click.Choice(["standard", "minmax", "none"]),
            default="standard",
            show_default=True,
            help="Units of the columns; kept in the model.",
        ),
    ):
        function = option(function)
    return function


def kind_options(function: Command) -> Command:
    """--categorical, --ordered, --date and --numeric: what columns hold, if not what it seems."""
    for option in (
        click.option(
            "--numeric",
            multiple=True,
            metavar="NAMES",
            help="Columns of numbers, where they would be taken for something else.",
        ),
        click.option(
            "--date",
            multiple=True,
            metavar="NAMES",
            help="Columns of dates, as days, or e.g. day:hours; ISO 8601 in CSV.",
        ),
        click.option(
            "--ordered",
            type=ORDER,
            multiple=True,
            metavar="NAME=A<B<C",
            help="A column of words in an order, e.g. 'size=small<medium<large'.",
        ),
        click.option(
            "--categorical",
            multiple=True,
            metavar="NAMES",
            help="Columns of words, or of numbers that stand for such, e.g. town,zip.",
        ),
    ):
        function = option(function)
    return function


def sampling_options(function: Command) -> Command:
    """--sample and --seed: which rows are used."""
    for option in (
        click.option(
            "--seed",
            type=SEED,
            default=0,
            show_default=True,
            metavar="N",
            help="Of all that is random.",
        ),
        click.option("--sample", type=whole_number(2), metavar="N", help="Use N random rows."),
    ):
        function = option(function)
    return function


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
quiet_option = click.option("--quiet", is_flag=True, help="No progress bar.")
jobs_option = click.option("--jobs", type=JOBS, metavar="N", help="Threads. Default: all cores.")
weights_option = click.option(
    "--weights",
    metavar="NAME",
    help="A column that says what each row counts; it is no data then.",
)
spreadsheet_option = click.option(
    "--spreadsheet",
    is_flag=True,
    help="Put ' before names of rows in a CSV file that a spreadsheet would run as formulas.",
)


@dataclass(frozen=True)
class TableOptions:
    """What ``table_options`` were given, by their names."""

    columns: tuple[str, ...]
    drop: tuple[str, ...]
    id_column: str | None
    categorical: tuple[str, ...]
    ordered: tuple[tuple[str, list[str]], ...]
    date: tuple[str, ...]
    numeric: tuple[str, ...]
    scale: str
    missing: str
    sample: int | None
    seed: int
    delimiter: str | None
    header: bool | None
    encoding: str
    decimal: str
    jobs: int | None
    quiet: bool
    as_json: bool

    @property
    def reading(self) -> dict[str, Any]:
        """Those that say how a table is read."""
        names = ("delimiter", "header", "encoding", "decimal")
        return {name: getattr(self, name) for name in names}


def table_options(function: Command) -> Command:
    """All that a command needs to know of a table to learn from, as one argument ``options``."""

    @wraps(function)
    def collected(**given: Any) -> Any:
        names = [field.name for field in fields(TableOptions)]
        options = TableOptions(**{name: given.pop(name) for name in names})
        return function(**given, options=options)

    found: Command = collected
    for add in (json_option, quiet_option, jobs_option, reading_options, preparation_options):
        found = add(found)
    return column_options(kind_options(sampling_options(found)))


def say(as_json: bool, result: dict[str, Any], text: str, *outputs: str | None) -> None:
    """Print a result, for people or for programs; not into an output that goes the same way."""
    if sys.stdout is None and not any(outputs):
        raise ValueError("Standard output is closed, where the result would go; open it.")
    is_taken = any(path is not None and is_standard_output(path) for path in outputs)
    said = json_text(result) if as_json else printable(text, also="\n")
    click.echo(said, err=is_taken)
