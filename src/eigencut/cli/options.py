"""Options that several commands share."""

from __future__ import annotations

import json
from collections.abc import Callable
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


json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
quiet_option = click.option("--quiet", is_flag=True, help="No progress bar.")
jobs_option = click.option(
    "--jobs", type=click.IntRange(1), metavar="N", help="Threads. Default: all cores."
)


def say(as_json: bool, result: dict[str, Any], text: str) -> None:
    """Print a result, for people or for programs."""
    click.echo(json.dumps(result, ensure_ascii=False) if as_json else text)
