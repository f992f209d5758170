"""What commands are told: the values that options take, and the options that commands share.

What is wrong without looking at the data is wrong usage. Nothing but click is imported here, so
that ``--help`` is quick. The name of a kind of value is what the help shows for it.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields, replace
from functools import wraps
from typing import Any

import click

from eigencut.cli.outputs import say

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


class Parsed(click.ParamType):
    """A value that a function makes of a text; its ValueError becomes the usage error."""

    def __init__(self, name: str, parse: Callable[[str], Any]) -> None:
        self.name, self._parse = name, parse

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        try:
            return self._parse(value) if isinstance(value, str) else value
        except ValueError as error:
            self.fail(str(error), param, ctx)


def parsed(name: str) -> Callable[[Callable[[str], Any]], Parsed]:
    """A function as a kind of value."""
    return lambda parse: Parsed(name, parse)


def _number(name: str, convert: type, is_allowed: Callable[[Any], bool], expected: str) -> Parsed:
    """A number within limits."""

    def parse(text: str) -> Any:
        try:
            value = convert(text)
        except ValueError:
            value = None
        if value is None or not is_allowed(value):
            raise ValueError(expected.format(repr(text)))
        return value

    return Parsed(name, parse)


def number(least: int, most: int | None = None) -> Parsed:
    """A whole number within limits."""
    limits = f"of at least {least}" if most is None else f"from {least} to {most}"
    largest = float("inf") if most is None else most
    expected = f"must be a whole number {limits}. Got {{}}."
    return _number("N", int, lambda value: least <= value <= largest, expected)


def share(may_be_one: bool = False) -> Parsed:
    """A number between 0 and 1."""
    if may_be_one:
        expected = "must be a number above 0 and at most 1. Got {}; use 0.9."
        return _number("SHARE", float, lambda value: 0 < value <= 1, expected)
    expected = "must be a number strictly between 0 and 1. Got {}; use 0.05."
    return _number("SHARE", float, lambda value: 0 < value < 1, expected)


@parsed("FILE")
def file(text: str) -> str:
    if not text:
        raise ValueError("must be the name of a file. Got ''.")
    return text


@parsed("K")
def candidates(text: str) -> str:
    from eigencut._utils.validation import parse_numbers

    if text != "auto":
        parse_numbers(text, least=2)
    return text


@parsed("K")
def clusters(text: str) -> int | str:
    from eigencut._utils.validation import parse_numbers

    if text.isdecimal() and int(text) >= 1:
        return int(text)
    try:
        parse_numbers("2" if text == "auto" else text, least=2)
    except ValueError:
        raise ValueError(
            f"must be a whole number of at least 1, auto, or candidates like 2-30. Got {text!r}."
        ) from None
    return text


def _bandwidth(text: str) -> float | str:
    from eigencut.affinities.gaussian import check_bandwidth

    try:
        width: float | str = float(text)
    except ValueError:
        width = text.strip()
    if width != "auto":
        check_bandwidth(width)
    return width


bandwidth = Parsed("S", _bandwidth)
bandwidths = Parsed("S", lambda text: [_bandwidth(part) for part in text.split(",")])


@parsed("SIZE")
def memory(text: str) -> str:
    from eigencut._utils.memory import parse_bytes

    try:
        parse_bytes(text)
    except ValueError as error:
        raise ValueError(f"must be a size such as 4GB or 500MB. Got {text!r}.") from error
    return text


@parsed("NAME")
def encoding(text: str) -> str:
    from eigencut.io.csv_reader import checked_encoding

    return checked_encoding(text)


@parsed("CHAR")
def delimiter(text: str) -> str:
    from eigencut.io.csv_reader import checked_delimiter

    is_tab = text in ("tab", "\\t")  # as shells let one type it
    return checked_delimiter("\t" if is_tab else text, decimal=".") or ","


@parsed("N=NAME")
def cluster_name(text: str) -> tuple[int, str]:
    cluster, mark, name = text.partition("=")
    if not mark or not cluster.strip().isdecimal() or not name.strip():
        raise ValueError(f"must be a cluster and what it is called, like 0=regulars. Got {text!r}.")
    return int(cluster), name


@parsed("NAME=A<B<C")
def order(text: str) -> tuple[str, list[str]]:
    name, _, listed = text.partition("=")
    words = [word.strip() for word in listed.split("<")]
    if not name.strip() or len(words) < 2 or not all(words) or len(set(words)) < len(words):
        raise ValueError(f"must be a column and its words, like size=small<large. Got {text!r}.")
    return name.strip(), words


column = Parsed("NAME", str)
columns = Parsed("NAMES", str)


# ----------------------------------------------------------------------------- commands and options


def command(name: str, *examples: str) -> Callable[[Callable[..., Any]], click.Command]:
    """A command whose help ends with examples."""
    return click.command(name, epilog="\n  ".join(["\b\nExamples:", *examples]))


def argument(name: str, required: bool = True) -> Decorator:
    """The name of a file."""
    return click.argument(name, type=file, required=required)


def option(name: str, kind: Any, help: str | None = None, **more: Any) -> Decorator:
    """An option that takes a value; of a list of words the first, unless there is a default."""
    if isinstance(kind, list):
        more, kind = {"default": kind[0]} | more, click.Choice(kind)
    return click.option(*name.split(), type=kind, help=help, **more)


def flag(name: str, help: str) -> Decorator:
    """An option that takes no value."""
    return click.option(*name.split(), is_flag=True, help=help)


def output(help: str, required: bool = True, **more: Any) -> Decorator:
    """Where the result goes."""
    return option("-o --output", file, help, required=required, **more)


def shared(decorator: Decorator) -> Any:
    """A field of a dataclass that holds what an option was given."""
    return field(metadata={"option": decorator})


def given(name: str, kind: Any, help: str, **more: Any) -> Any:
    """A field of a dataclass with an option of its own."""
    return shared(option(name, kind, help, **more))


def as_one_argument(name: str, kind: type) -> Decorator:
    """The options of the fields of a dataclass; a command takes their values as one argument."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def collected(**values: Any) -> Any:
            own = {each.name: values.pop(each.name) for each in fields(kind)}
            return function(**values, **{name: kind(**own)})

        decorated: Callable[..., Any] = collected
        is_inherited = lambda each: each.name not in kind.__annotations__  # noqa: E731
        for each in sorted(fields(kind), key=is_inherited)[::-1]:
            decorated = each.metadata["option"](decorated)
        return decorated

    return decorate


as_json = flag("--json as_json", "Print the result as JSON.")
cut = option("--cut", ["ncut", "ratiocut"])
seed = option("--seed", number(0, 2**32 - 1), "Of all that is random.", default=0)
spreadsheet = flag(
    "--spreadsheet",
    "Put ' before names of rows in a CSV file that a spreadsheet would run as formulas.",
)
weights = option(
    "--weights", column, "A column that says what each row counts; it is no data then."
)
unscaled_metrics = ["hamming", "jaccard", "haversine"]
# As in eigencut.neighbors.metrics, which takes longer to import; a test compares them.
metric_names = ["euclidean", "cosine", "manhattan", "chebyshev", *unscaled_metrics]
metric = option(
    "--metric",
    metric_names,
    "How rows are compared: cosine for embeddings, hamming for codes, jaccard for sets of 0 "
    "and 1, haversine for latitude,longitude in degrees. Default: euclidean.",
    default=None,
)


@dataclass(frozen=True)
class RunOptions:
    """How tables are read, threads, and what is printed."""

    delimiter: str | None = given(
        "--delimiter", delimiter, "Between cells of a CSV file, or tab. Default: found out."
    )
    decimal: str = given("--decimal", [".", ","], "Before the fraction of a number in a CSV file.")
    header: bool | None = shared(
        click.option(
            "--header/--no-header",
            default=None,
            help="Whether the first line of a CSV file names the columns. Default: found out.",
        )
    )
    encoding: str = given("--encoding", encoding, "Of a CSV file.", default="utf-8")
    jobs: int | None = given("--jobs", number(1, 1024), "Threads. Default: all cores.")
    quiet: bool = shared(flag("--quiet", "No progress bar."))
    as_json: bool = shared(as_json)

    @property
    def reading(self) -> dict[str, Any]:
        """Those that say how a table is read."""
        names = ("delimiter", "decimal", "header", "encoding")
        return {name: getattr(self, name) for name in names}

    def progress(self, stage: str) -> AbstractContextManager[object]:
        """A bar on a terminal that shows how far the work inside is; silence in a pipe."""
        from eigencut._utils.progress import terminal_display

        return (None if self.quiet else terminal_display(stage)) or nullcontext()

    def say(self, result: dict[str, Any], text: str, *outputs: str | None) -> None:
        """Print a result, for people or for programs."""
        say(self.as_json, result, text, *outputs)


def names(name: str, help: str) -> Any:
    """A field with names of columns, given once or several times."""
    return given(name, columns, help, multiple=True)


@dataclass(frozen=True)
class TableOptions(RunOptions):
    """All about a table to learn from."""

    weights: str | None = shared(weights)
    columns: tuple[str, ...] = names("--columns", "Columns to use. Default: all.")
    drop: tuple[str, ...] = names("--drop", "Columns to leave out, e.g. town,day.")
    id_column: str | None = given("--id id_column", column, "A column that names rows.")
    categorical: tuple[str, ...] = names(
        "--categorical", "Columns of words, or of numbers that stand for such, e.g. town,zip."
    )
    ordered: tuple[tuple[str, list[str]], ...] = given(
        "--ordered",
        order,
        "A column of words in an order, e.g. 'size=small<medium<large'.",
        multiple=True,
    )
    date: tuple[str, ...] = names(
        "--date", "Columns of dates, as days, or e.g. day:hours; ISO 8601 in CSV."
    )
    numeric: tuple[str, ...] = names(
        "--numeric", "Columns of numbers, where they would be taken for something else."
    )
    sample: int | None = given("--sample", number(2), "Use N random rows.")
    seed: int = shared(seed)
    scale: str = given(
        "--scale", ["standard", "minmax", "none"], "Units of the columns; kept in the model."
    )
    missing: str = given(
        "--missing",
        ["refuse", "drop", "mean", "median"],
        "Missing values: an error, leave rows out, or fill in.",
    )

    def with_scale_for(self, metric: str | None) -> TableOptions:
        """The options with the --scale that a metric needs, if none was given."""
        if is_given("scale"):
            if metric in unscaled_metrics and self.scale != "none":
                raise click.UsageError(
                    f"--scale {self.scale} is not for --metric {metric}, which compares values as "
                    "they are; use --scale none."
                )
            return self
        return replace(self, scale="none") if metric in (*unscaled_metrics, "cosine") else self


def is_given(name: str) -> bool:
    """Whether the user of the running command has given an option."""
    source = click.get_current_context().get_parameter_source(name)
    return source not in (None, click.core.ParameterSource.DEFAULT)


@dataclass(frozen=True)
class AffinityOptions:
    """How rows are compared, and the graph."""

    kind: str | None = given(
        "--affinity kind",
        ["gaussian", "neighbors", "landmarks"],
        "The graph. Default: chosen by the rows and these options.",
        default=None,
    )
    metric: str | None = shared(metric)
    neighbors: int | None = given(
        "--neighbors",
        number(2),
        "Cut a graph of N nearest neighbours (with gaussian: for local bandwidths).",
    )
    sigma: float | str = given(
        "--sigma",
        bandwidth,
        "Bandwidth: a number, or auto, local, median, neighbors.",
        default="auto",
    )
    landmarks: int | None = given(
        "--landmarks",
        number(2),
        "Cut a graph through N landmarks: for tables of millions of rows.",
    )

    @property
    def name(self) -> str:
        """The affinity that is meant: by name, or by an option that only it has."""
        if self.kind is not None:
            return self.kind
        if self.landmarks is not None:
            return "landmarks"
        if self.sigma != "auto":
            return "gaussian"
        return "auto" if self.neighbors is None else "neighbors"

    def affinity(self) -> Any:
        """What ``GPOD`` takes."""
        self._refuse_contradictions()
        if self.name == "auto":
            return "auto"
        from eigencut import affinities

        settings: dict[str, Any] = {"n_landmarks": self.landmarks, "n_neighbors": self.neighbors}
        settings |= {"sigma": None if self.sigma == "auto" else self.sigma, "metric": self.metric}
        settings = {name: value for name, value in settings.items() if value is not None}
        return getattr(affinities, self.name.capitalize())(**settings)

    def _refuse_contradictions(self) -> None:
        name, sigma = self.name, self.sigma
        is_rule = isinstance(sigma, str)
        if self.landmarks is not None and name != "landmarks":
            raise click.UsageError(f"--landmarks is not for --affinity {name}; leave one out.")
        if self.neighbors is not None and name == "landmarks":
            raise click.UsageError("--neighbors is not for landmarks; use --landmarks alone.")
        if self.neighbors is not None and name == "gaussian" and (not is_rule or sigma == "median"):
            raise click.UsageError(
                f"--neighbors is not for --sigma {sigma}, which needs none; leave one out, or use "
                "--sigma local or neighbors."
            )
        if sigma != "auto" and name == "neighbors":
            raise click.UsageError("--sigma is not for neighbors; use --affinity gaussian.")
        if is_rule and sigma != "auto" and name == "landmarks":
            raise click.UsageError(
                f"--sigma {sigma} is not for --landmarks; use a number, or auto."
            )


run = as_one_argument("run", RunOptions)
run_on_table = as_one_argument("run", TableOptions)
affinity = as_one_argument("how", AffinityOptions)
