"""``eigencut hierarchy``: which clusters of a model are one group in coarser cuts."""

from __future__ import annotations

import click

from eigencut.cli.options import json_option, say
from eigencut.cli.values import FILE


@click.command(
    "hierarchy",
    epilog="""\b
Examples:
  eigencut hierarchy model.eigencut
  eigencut hierarchy model.eigencut --json""",
)
@click.argument("model", type=FILE)
@json_option
def command(model: str, as_json: bool) -> None:
    """Show the clusters of MODEL as a tree, from one group of all rows to single clusters.

    A group has the smallest number of its clusters. No table is needed.
    """
    from eigencut.cli.models import load_model_with

    found = load_model_with(model, "hierarchy").hierarchy()
    result = found.to_dict()
    result["groups"] = {str(k): found.labels(k).tolist() for k in range(1, len(found.sizes) + 1)}
    say(as_json, result, str(found))
