"""``eigencut recluster``: one cluster in parts, the others as they are."""

from __future__ import annotations

from typing import Any

import click

from eigencut.cli.options import jobs_option, json_option, quiet_option, reading_options, say
from eigencut.cli.outputs import ModelOutput, check_outputs
from eigencut.cli.values import CLUSTERS, FILE, whole_number


@click.command(
    "recluster",
    epilog="""\b
Examples:
  eigencut recluster model.eigencut data.csv --cluster 3 -k 2 -o finer.eigencut
  eigencut recluster model.eigencut --cluster 3 -o finer.eigencut
  eigencut predict finer.eigencut new.csv -o labels.csv""",
)
@click.argument("model", type=FILE)
@click.argument("table", required=False, type=FILE)
@click.option(
    "--cluster", type=whole_number(0), required=True, metavar="N", help="The cluster to split."
)
@click.option(
    "-k",
    "--clusters",
    type=CLUSTERS,
    default="2",
    show_default=True,
    metavar="K",
    help="Its parts, or auto.",
)
@click.option(
    "-o", "--output", type=FILE, required=True, metavar="FILE", help="Where the new model goes."
)
@reading_options
@jobs_option
@quiet_option
@json_option
def command(
    model: str,
    table: str | None,
    cluster: int,
    clusters: int | str,
    output: str,
    jobs: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Split a cluster of MODEL into parts, by the rows of TABLE that belong to it.

    Without TABLE by the rows of the fit, which all models but those of landmarks have kept.
    The largest part keeps the number of the cluster, the others have the next free numbers; all
    other clusters stay what they are.
    """
    inputs = [model] if table is None else [table, model]
    check_outputs([ModelOutput("-o", output)], inputs, as_json)

    from eigencut.cli.models import load_labelling_model
    from eigencut.cli.progress_bar import progress_bar
    from eigencut.cli.tables import coding_of, model_columns, open_table
    from eigencut.hierarchy.recluster import recluster, sizes_of_parts

    fitted = load_labelling_model(model, jobs)
    rows = None
    if table is not None:
        source = open_table(table, **reading)
        columns = model_columns(fitted.columns_, source, None)
        with progress_bar("table", quiet):
            rows = source.read(columns, coding=coding_of(fitted)).table
    with progress_bar("fit", quiet):
        found = recluster(fitted, rows, cluster=cluster, n_clusters=clusters)
    found.save(output)
    numbers = found.splits_[-1].numbers.tolist()
    sizes = sizes_of_parts(found, rows)
    result = {"cluster": cluster, "parts": numbers, "sizes": sizes, "output": output}
    parts = ", ".join(f"{k} ({size} rows)" for k, size in zip(numbers, sizes, strict=True))
    text = f"Cluster {cluster} is now {parts}\nThe model is in {output}"
    say(as_json, result | {"n_clusters": found.n_clusters_}, text, output)
