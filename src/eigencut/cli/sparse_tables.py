"""Sparse matrices instead of tables: what ``fit`` and ``predict`` do with an ``.npz`` file."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click

# What fit can be told of a sparse matrix; all else is about the columns of a table.
OF_SPARSE_FITS = (
    *("table", "output", "clusters", "cut", "outliers", "labels", "memory_limit", "spreadsheet"),
    *("kind", "metric", "neighbors", "sigma", "landmarks", "seed", "jobs", "quiet", "as_json"),
)
OF_SPARSE_LABELS = (
    *("model", "table", "output", "margin", "proba", "support", "spreadsheet"),
    *("jobs", "quiet", "as_json"),
)


def sparse_table(path: str, allowed: Collection[str]) -> Any:
    """The rows of a sparse matrix, if the file is one; options that it has no use for are refused.

    None if it is a table.
    """
    from eigencut.io.readers import is_sparse_file, read_sparse

    if path == "-" or not is_sparse_file(path):
        return None
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        given = context.get_parameter_source(name) != click.core.ParameterSource.DEFAULT
        if given and name not in allowed:
            raise click.UsageError(
                f"{parameter.opts[0]} is for tables, and {path} is a sparse matrix; leave it out."
            )
    if _is_complete_graph(context.params):
        raise click.UsageError(
            f"A complete graph is for tables, and {path} is a sparse matrix; use --neighbors or "
            "--landmarks."
        )
    return read_sparse(path)


def _is_complete_graph(given: dict[str, Any]) -> bool:
    """Whether options ask for what compares all rows with all."""
    has_width = given.get("sigma", "auto") != "auto" and given.get("landmarks") is None
    return given.get("kind") == "gaussian" or (has_width and given.get("kind") != "landmarks")
