"""Options of commands and the types of their values; only click is imported, for a quick --help."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any, get_args, get_origin, get_type_hints

import click

from eigencut.cli.outputs import say


class Parsed(click.ParamType):
    """A type of option values that a function parses; its ValueError becomes a usage error."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name, self.parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self.parse(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


number = click.IntRange


@partial(Parsed, "SHARE")
def share(text: str) -> float:
    with suppress(ValueError):
        if 0 < float(text) < 1:
            return float(text)
    raise ValueError(f"must be a number strictly between 0 and 1. Got {text!r}; use 0.05.")


@partial(Parsed, "VALUE")
def value(text: str) -> int | float | str:
    for kind in (int, float):
        with suppress(ValueError):
            return kind(text)
    return text


@partial(Parsed, "FILE")
def file(text: str) -> str:
    if not text:
        raise ValueError("must be the name of a file. Got ''.")
    return text


@partial(Parsed, "K")
def candidates(text: str) -> str:
    from eigencut._utils.validation import parse_numbers

    if text != "auto":
        parse_numbers(text, least=2)
    return text


@partial(Parsed, "N,N")
def levels(text: str) -> list[int] | str:
    if text == "auto":
        return text
    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts):
        raise ValueError(
            f"must be numbers of groups, the finest first, like 20,5, or auto. Got {text!r}."
        )
    return [int(part) for part in parts]


@partial(Parsed, "NAME")
def encoding_name(text: str) -> str:
    from eigencut.io.readers import checked_encoding

    return checked_encoding(text)


@partial(Parsed, "CHAR")
def delimiter_mark(text: str) -> str:
    from eigencut.io.readers import checked_delimiter

    is_tab = text in ("tab", "\\t")  # a real tab is hard to type in a shell
    return checked_delimiter("\t" if is_tab else text, decimal=".") or ","


@partial(Parsed, "N=NAME")
def cluster_name(text: str) -> tuple[int, str]:
    cluster, mark, name = text.partition("=")
    if not mark or not cluster.strip().isdecimal() or not name.strip():
        raise ValueError(f"must be a cluster and what it is called, like 0=regulars. Got {text!r}.")
    return int(cluster), name


@partial(Parsed, "NAME=A<B<C")
def order(text: str) -> tuple[str, list[str]]:
    name, _, listed = text.partition("=")
    words = [word.strip() for word in listed.split("<")]
    if not name.strip() or len(words) < 2 or not all(words) or len(set(words)) < len(words):
        raise ValueError(f"must be a column and its words, like size=small<large. Got {text!r}.")
    return name.strip(), words


column_name = Parsed("NAME", str)
column_names = Parsed("NAMES", str)


def option(help: str | None, kind: Any = None, names: str = "", **more: Any) -> Any:
    """Return an option, to be written as the default of the parameter that gets its value."""
    kind = click.Choice(kind) if isinstance(kind, list) else kind

    def parameter(name: str, annotation: Any) -> click.Parameter:
        given = [*(names or f"--{name.replace('_', '-')}").split(), name]
        is_flag = True if annotation is bool else None
        is_many = get_origin(annotation) is tuple
        return click.Option(given, type=kind, help=help, is_flag=is_flag, multiple=is_many, **more)

    return parameter


def output(help: str, **more: Any) -> Any:
    """Return the option ``-o``, the file for the result."""
    return option(help, file, "-o --output", **more)


# An argument with the name of a file, which is optional if the parameter's type allows None.
argument: Any = lambda name, annotation: click.Argument(  # noqa: E731
    [name], type=file, required=type(None) not in get_args(annotation)
)


def command(short_help: str, *examples: str) -> Callable[[Callable[..., Any]], click.Command]:
    """Make a command of a function whose defaults are options; its docstring is the help."""

    def decorate(function: Callable[..., Any]) -> click.Command:
        hints = get_type_hints(function)
        groups: dict[str, Any] = {name: kind for name, kind in hints.items() if is_dataclass(kind)}
        params: list[click.Parameter] = []
        for name, parameter in inspect.signature(function).parameters.items():
            if name not in groups:
                params.append(parameter.default(name, hints[name]))
                continue
            kind, kinds = groups[name], get_type_hints(groups[name])
            own = sorted(fields(kind), key=lambda each: each.name not in kind.__annotations__)
            params += [getattr(kind, each.name)(each.name, kinds[each.name]) for each in own]

        def callback(**values: Any) -> Any:
            for name, kind in groups.items():
                own = {each.name: values.pop(each.name) for each in fields(kind)}
                values[name] = kind(**own)
            return function(**values)

        return click.Command(
            function.__name__,
            callback=callback,
            params=params,
            help=inspect.getdoc(function),
            short_help=short_help,
            epilog="\n  ".join(["\b\nExamples:", *examples]),
        )

    return decorate


unscaled_metrics = ["hamming", "jaccard", "haversine"]
# Copied from eigencut.neighbors.metrics, which takes long to import; a test compares the lists.
metric_names = ["euclidean", "cosine", "manhattan", "chebyshev", *unscaled_metrics]

json_option = option("Print the result as JSON.", names="--json")
cut_option = option(None, ["ncut", "ratiocut"], default="ncut")
metric_option = option(
    "How rows are compared: cosine for embeddings, hamming for codes, jaccard for sets of 0 "
    "and 1, haversine for latitude,longitude in degrees. Default: euclidean.",
    metric_names,
)
seed_option = option("Seed of random choices.", number(0, 2**32 - 1), default=0)
spreadsheet_option = option(
    "Put ' before names of rows in a CSV file that a spreadsheet would run as formulas."
)
weights_option = option(
    "A column with the weight of each row; it is not used as data.", column_name
)


@dataclass(frozen=True)
class RunOptions:
    """Options of most commands: how tables are read, threads, and what is printed."""

    delimiter: str | None = option(
        "Character between the cells of a CSV file, or tab. Default: detected.", delimiter_mark
    )
    decimal: str = option("Decimal mark in a CSV file.", [".", ","], default=".")
    header: bool | None = option(
        "Whether the first line of a CSV file names the columns. Default: detected.",
        names="--header/--no-header",
        default=None,
    )
    encoding: str = option("Encoding of a CSV file.", encoding_name, default="utf-8")
    jobs: int | None = option("Threads. Default: all cores.", number(1, 1024))
    quiet: bool = option("No progress bar.")
    as_json: bool = json_option

    @property
    def reading(self) -> dict[str, Any]:
        """Return the options for reading a CSV file, as parameters of ``open_source``."""
        names = ("delimiter", "decimal", "header", "encoding")
        return {name: getattr(self, name) for name in names}

    def progress(self, stage: str) -> AbstractContextManager[object]:
        """Show the progress of the work inside on a terminal; show nothing in a pipe."""
        from eigencut._utils.running import terminal_display

        return (None if self.quiet else terminal_display(stage)) or nullcontext()

    def say(self, result: dict[str, Any], text: str, *outputs: str | None) -> None:
        """Print a result as text, or as JSON if the option says so."""
        say(self.as_json, result, text, *outputs)


@dataclass(frozen=True)
class TableOptions(RunOptions):
    """Options of commands that fit a table: its columns, their kinds and their preparation."""

    weights: str | None = weights_option
    columns: tuple[str, ...] = option("Columns to use. Default: all.", column_names)
    drop: tuple[str, ...] = option("Columns to leave out, e.g. town,day.", column_names)
    id_column: str | None = option("A column that names rows.", column_name, "--id")
    categorical: tuple[str, ...] = option(
        "Columns of words, or of numbers that are codes, e.g. town,zip.", column_names
    )
    ordered: tuple[tuple[str, list[str]], ...] = option(
        "A column of words in an order, e.g. 'size=small<medium<large'.", order
    )
    date: tuple[str, ...] = option("Columns of dates; ISO 8601 in CSV.", column_names)
    numeric: tuple[str, ...] = option(
        "Columns of numbers that look like something else.", column_names
    )
    seed: int = seed_option
    scale: str = option(
        "How columns are scaled; kept in the model. auto: standard, with logarithms of long tails.",
        ["auto", "standard", "robust", "minmax", "none"],
        default="auto",
    )
    missing: str = option(
        "Missing values: an error, drop their rows, or fill in the mean or median.",
        ["refuse", "drop", "mean", "median"],
        default="refuse",
    )

    def with_scale_for(self, metric: str | None) -> TableOptions:
        """Return the options with the --scale that a metric needs, if none was given."""
        source = click.get_current_context().get_parameter_source("scale")
        if source not in (None, click.core.ParameterSource.DEFAULT):
            if metric in unscaled_metrics and self.scale != "none":
                raise click.UsageError(
                    f"--scale {self.scale} is not for --metric {metric}, which compares values as "
                    "they are; use --scale none."
                )
            return self
        return replace(self, scale="none") if metric in (*unscaled_metrics, "cosine") else self


@dataclass(frozen=True)
class AffinityOptions:
    """Options that choose the metric and the graph."""

    kind: str | None = option(
        "Kind of graph. Default: chosen from the rows and these options.",
        ["gaussian", "neighbors", "landmarks"],
        "--affinity",
    )
    metric: str | None = metric_option
    neighbors: int | None = option(
        "Cut a graph of N nearest neighbours (with gaussian: for local bandwidths).", number(2)
    )
    sigma: float | str = option(
        "Bandwidth: a number, or auto, local, median, neighbors.", value, default="auto"
    )
    landmarks: int | None = option(
        "Cut a graph through N landmarks: for tables of millions of rows.", number(2)
    )

    @property
    def name(self) -> str:
        """Return the name of the affinity, from --affinity or from an option that only one has."""
        if self.kind is not None:
            return self.kind
        if self.landmarks is not None:
            return "landmarks"
        if self.sigma != "auto":
            return "gaussian"
        return "auto" if self.neighbors is None else "neighbors"

    def affinity(self) -> Any:
        """Return the value for ``GPOD(affinity=...)``."""
        if self.name == "auto":
            return "auto"
        from eigencut import affinities

        kind = getattr(affinities, self.name.capitalize())
        sigma: Any = self.sigma if isinstance(self.sigma, str) else float(self.sigma)
        sigma = None if sigma == "auto" else sigma
        given = {"n_landmarks": self.landmarks, "n_neighbors": self.neighbors, "sigma": sigma}
        given = {name: value for name, value in given.items() if value is not None}
        others = [name for name in given if name not in inspect.signature(kind).parameters]
        if others:
            option = others[0].removeprefix("n_")
            raise click.UsageError(f"--{option} is not for {self.name}; leave one out.")
        affinity = kind(**given) if self.metric is None else kind(**given, metric=self.metric)
        affinity._check_parameters()
        return affinity
