"""Options that say how rows are compared: the affinity and its metric."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Any

import click

from eigencut.cli.options import TableOptions
from eigencut.cli.values import BANDWIDTH, whole_number

# As in eigencut.neighbors.metrics, which takes longer to import; a test compares them.
METRIC_NAMES = (
    "euclidean",
    "cosine",
    "manhattan",
    "chebyshev",
    "hamming",
    "jaccard",
    "haversine",
)
_UNSCALED = ("cosine", "hamming", "jaccard", "haversine")  # of rows as they are, unless asked
_NEVER_SCALED = ("hamming", "jaccard", "haversine")

metric_option = click.option(
    "--metric",
    type=click.Choice(METRIC_NAMES),
    help="How rows are compared: cosine for embeddings, hamming for codes, jaccard for sets of 0 "
    "and 1, haversine for latitude,longitude in degrees. Default: euclidean.",
)


@dataclass(frozen=True)
class AffinityOptions:
    """What ``affinity_options`` were given, by their names."""

    kind: str | None
    metric: str | None
    neighbors: int | None
    sigma: float | str
    landmarks: int | None

    @property
    def name(self) -> str:
        """The affinity that is asked for: by name, or by an option that only it has."""
        if self.kind is not None:
            return self.kind
        if self.landmarks is not None:
            return "landmarks"
        if self.sigma != "auto":
            return "gaussian"
        return "auto" if self.neighbors is None else "neighbors"

    def affinity(self) -> Any:
        """What ``GPOD`` takes."""
        name, neighbors, sigma = self.name, self.neighbors, self.sigma
        if self.landmarks is not None and name != "landmarks":
            raise click.UsageError(f"--landmarks is not for --affinity {name}; leave one out.")
        if neighbors is not None and name == "landmarks":
            raise click.UsageError("--neighbors is not for landmarks; use --landmarks alone.")
        has_own_width = sigma == "median" or not isinstance(sigma, str)
        if neighbors is not None and name == "gaussian" and has_own_width:
            raise click.UsageError(
                f"--neighbors is not for --sigma {sigma}, which needs none; leave one out, or use "
                "--sigma local or neighbors."
            )
        if sigma != "auto" and name == "neighbors":
            raise click.UsageError("--sigma is not for neighbors; use --affinity gaussian.")
        if isinstance(sigma, str) and sigma != "auto" and name == "landmarks":
            raise click.UsageError(
                f"--sigma {sigma} is not for --landmarks; use a number, or auto."
            )
        if name == "auto":
            return name
        from eigencut.affinities import Gaussian, Landmarks, Neighbors

        metric = self.metric or "euclidean"
        if name == "landmarks":
            p: dict[str, Any] = {} if self.landmarks is None else {"n_landmarks": self.landmarks}
            return Landmarks(**p, sigma=sigma, metric=metric)
        k: dict[str, Any] = {} if neighbors is None else {"n_neighbors": neighbors}
        if name == "neighbors":
            return Neighbors(**k, metric=metric)
        return Gaussian(sigma, **k, metric=metric)


def affinity_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """--affinity, --metric, --neighbors, --sigma and --landmarks, as one argument ``how``."""

    @wraps(function)
    def collected(**given: Any) -> Any:
        names = [field.name for field in fields(AffinityOptions)]
        how = AffinityOptions(**{name: given.pop(name) for name in names})
        return function(**given, how=how)

    found: Callable[..., Any] = collected
    for option in (
        click.option(
            "--landmarks",
            type=whole_number(2),
            metavar="P",
            help="Cut a graph through P landmarks: for tables of millions of rows.",
        ),
        click.option(
            "--sigma",
            type=BANDWIDTH,
            default="auto",
            show_default=True,
            metavar="S",
            help="Bandwidth: a number, or auto, local, median, neighbors.",
        ),
        click.option(
            "--neighbors",
            type=whole_number(2),
            metavar="N",
            help="Cut a graph of N nearest neighbours (with gaussian: for local bandwidths).",
        ),
        metric_option,
        click.option(
            "--affinity",
            "kind",
            type=click.Choice(["gaussian", "neighbors", "landmarks"]),
            help="The graph. Default: chosen by the rows and these options.",
        ),
    ):
        found = option(found)
    return found


def with_units_for(metric: str | None, options: TableOptions) -> TableOptions:
    """The options with the --scale that a metric needs, if none was given."""
    from click.core import ParameterSource

    given = click.get_current_context().get_parameter_source("scale") != ParameterSource.DEFAULT
    if metric in _NEVER_SCALED and given and options.scale != "none":
        raise click.UsageError(
            f"--scale {options.scale} is not for --metric {metric}, which compares values as they "
            "are; use --scale none."
        )
    if metric in _UNSCALED and not given:
        return replace(options, scale="none")
    return options


def suggest_cosine(metric: str | None, options: TableOptions, values: Any) -> None:
    """Say it where rows of unit length lose it to the units of columns, which nobody asked for."""
    from eigencut._utils.warn import warn_user
    from eigencut.neighbors.metrics import are_unit_vectors

    if metric is None and options.scale != "none" and are_unit_vectors(values):
        warn_user(
            "All rows have length 1, as embeddings do, and lose it as columns are scaled. Use "
            "--metric cosine for directions, or --scale none."
        )
