"""``eigencut select``: the number of clusters and the bandwidth, without labels."""

from __future__ import annotations

from typing import Any

import click

from eigencut.cli.affinity_options import metric_option, with_units_for
from eigencut.cli.options import TableOptions, say, table_options, weights_option
from eigencut.cli.outputs import ModelOutput, check_outputs
from eigencut.cli.sampling import sampled
from eigencut.cli.values import BANDWIDTHS, CANDIDATES, FILE


@click.command(
    "select",
    epilog="""\b
Examples:
  eigencut select data.csv
  eigencut select data.csv -k 2-6 --sigma local,median -o model.eigencut
  eigencut select survey.csv --weights people
  eigencut select data.csv -k 2,4,8 --criterion stability --json""",
)
@click.argument("table", type=FILE)
@click.option(
    "-k",
    "--clusters",
    type=CANDIDATES,
    default="auto",
    show_default=True,
    metavar="K",
    help="Candidates, e.g. 2-10 or 2,4,8; auto is as far as the spectrum goes.",
)
@click.option(
    "--sigma",
    type=BANDWIDTHS,
    default="auto",
    show_default=True,
    metavar="S",
    help="Candidates: numbers or rules, separated by commas.",
)
@metric_option
@click.option(
    "--criterion",
    type=click.Choice(["conductance", "stability", "risk", "eigengap"]),
    default="conductance",
    show_default=True,
)
@click.option("--cut", type=click.Choice(["ncut", "ratiocut"]), default="ncut", show_default=True)
@click.option("-o", "--output", type=FILE, metavar="FILE", help="Save the best model there.")
@weights_option
@table_options
def command(
    table: str,
    clusters: str,
    sigma: list[float | str],
    metric: str | None,
    criterion: str,
    cut: str,
    output: str | None,
    weights: str | None,
    options: TableOptions,
) -> None:
    """Compare numbers of clusters (and bandwidths) on TABLE; the best one first."""
    outputs = [] if output is None else [ModelOutput("-o", output)]
    check_outputs(outputs, [table], options.as_json)
    options = with_units_for(metric, options)

    from eigencut.auto.select import select
    from eigencut.cli.progress_bar import progress_bar
    from eigencut.cli.tables import data_columns, kinds_of_columns, open_table, read_weighted
    from eigencut.io.refused_rows import naming_rows_of_table
    from eigencut.io.table import Coding
    from eigencut.tables.learning import learn_preparation
    from eigencut.tables.table_model import table_model

    source = open_table(table, **options.reading)
    with progress_bar("table", options.quiet):
        columns = data_columns(source, options.columns, options.drop, options.id_column, weights)
        kinds = kinds_of_columns(source, columns, options)
        whole = read_weighted(source, columns, weights, Coding(columns=kinds)).table
    preparation = learn_preparation(whole, options.scale, options.missing)
    rows, complete = sampled(*preparation.apply(whole), options)
    placed = naming_rows_of_table(whole, complete, preparation)
    with progress_bar("candidates", options.quiet), placed:
        how = (cut, criterion, options.seed, options.jobs)
        counts = None if whole.weight is None else whole.weight[complete]
        affinities = preparation.affinity_for(_affinities(sigma, metric))
        compared = (rows, clusters, affinities, *how)
        found = select(*compared, sample_weight=counts, metric=metric)
    result = found.to_dict() | {"n_clusters": found.best.n_clusters, "output": output}
    text = str(found)
    if output is not None:
        table_model(found.model, preparation, complete, kinds).save(output)
        text += f"\nThe best model is in {output}"
    say(options.as_json, result, text, output)


def _affinities(bandwidths: list[float | str], metric: str | None) -> Any:
    """The affinities with the bandwidths that --sigma lists."""
    if bandwidths == ["auto"]:
        return "auto"
    from eigencut.affinities import Gaussian

    return [Gaussian(width, metric=metric or "euclidean") for width in bandwidths]
