"""Options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import wraps
from typing import Any

import click

Command = Callable[..., Any]


def reading_options(function: Command) -> Command:
    """--delimiter, --header and --encoding, as arguments for ``open_table``."""
    for option in (
        click.option("--encoding", default="utf-8", show_default=True, help="Of a CSV file."),
        click.option(
            "--header/--no-header",
            default=None,
            help="Whether the first line of a CSV file names the columns. Default: found out.",
        ),
        click.option("--delimiter", metavar="CHAR", help="Between cells. Default: found out."),
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


def sampling_options(function: Command) -> Command:
    """--sample and --seed: which rows are used."""
    for option in (
        click.option("--seed", type=click.IntRange(0), default=0, show_default=True),
        click.option("--sample", type=click.IntRange(2), metavar="N", help="Use N random rows."),
    ):
        function = option(function)
    return function


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
quiet_option = click.option("--quiet", is_flag=True, help="No progress bar.")
jobs_option = click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Threads. Default: all cores."
)


@dataclass(frozen=True)
class TableOptions:
    """What ``table_options`` were given, by their names."""

    columns: tuple[str, ...]
    drop: tuple[str, ...]
    id_column: str | None
    scale: str
    missing: str
    sample: int | None
    seed: int
    delimiter: str | None
    header: bool | None
    encoding: str
    jobs: int | None
    quiet: bool
    as_json: bool

    @property
    def reading(self) -> dict[str, Any]:
        """Those that say how a table is read."""
        return {name: getattr(self, name) for name in ("delimiter", "header", "encoding")}


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
    return column_options(sampling_options(found))


def say(as_json: bool, result: dict[str, Any], text: str) -> None:
    """Print a result, for people or for programs."""
    click.echo(json.dumps(result, ensure_ascii=False) if as_json else text)
