"""``eigencut fit``: from a table to a model file."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import click

from eigencut.cli.checks import refuse_overwriting, sampled
from eigencut.cli.options import (
    Reading,
    column_options,
    jobs_option,
    json_option,
    preparation_options,
    quiet_option,
    reading_options,
    say,
)
from eigencut.runtime.memory import parse_bytes

if TYPE_CHECKING:
    from eigencut.data.table_model import TableModel


@click.command(
    "fit",
    epilog="""\b
Examples:
  eigencut fit data.csv -k 3 -o model.eigencut
  eigencut fit data.parquet --drop class --missing median -o model.eigencut
  eigencut fit huge.parquet --landmarks 1000 -k 10 -o model.eigencut
  eigencut fit large.parquet --memory-limit 4GB -k 10 -o model.eigencut
  eigencut fit big.csv --sample 5000 -k auto --labels clusters.csv -o model.eigencut
  zcat data.csv.gz | eigencut fit - -k 2 --sigma 0.5 --scale none -o model.eigencut""",
)
@click.argument("table")
@click.option("-o", "--output", required=True, metavar="FILE", help="Where the model goes.")
@click.option(
    "-k", "--clusters", default="auto", show_default=True, metavar="K", help="How many, or auto."
)
@click.option("--cut", type=click.Choice(["ncut", "ratiocut"]), default="ncut", show_default=True)
@click.option(
    "--sigma",
    default="auto",
    show_default=True,
    help="Bandwidth: a number, or auto, local, median, neighbors.",
)
@click.option(
    "--landmarks",
    type=click.IntRange(2),
    metavar="P",
    help="Cut a graph through P landmarks: for tables of millions of rows.",
)
@click.option(
    "--outliers",
    type=click.Choice(["keep", "label"]),
    default="keep",
    show_default=True,
    help="Whether predict labels rows far from the data all the same, or -1.",
)
@click.option("--sample", type=click.IntRange(2), metavar="N", help="Fit on N random rows.")
@click.option("--seed", type=click.IntRange(0), default=0, show_default=True)
@click.option("--labels", metavar="FILE", help="Also write the clusters of these rows.")
@click.option(
    "--memory-limit",
    metavar="SIZE",
    help="Memory the fit may take beyond the table, e.g. 4GB. Default: what there is.",
)
@column_options
@preparation_options
@reading_options
@jobs_option
@quiet_option
@json_option
def command(
    table: str,
    output: str,
    clusters: str,
    cut: str,
    sigma: str,
    landmarks: int | None,
    outliers: str,
    sample: int | None,
    seed: int,
    labels: str | None,
    memory_limit: str | None,
    columns: tuple[str, ...],
    drop: tuple[str, ...],
    id_column: str | None,
    scale: str,
    missing: str,
    jobs: int | None,
    quiet: bool,
    as_json: bool,
    **reading: Any,
) -> None:
    """Find clusters in TABLE (CSV, Parquet, NPY, or - for standard input) and save the model.

    Columns, their units and what is done about missing values are part of the model.
    """
    refuse_overwriting(output, table)
    n_clusters = parsed_clusters(clusters)
    affinity = parsed_affinity(sigma, landmarks)
    parse_bytes(memory_limit)  # before the table is read

    from eigencut.cli.progress_bar import progress_bar
    from eigencut.cli.reading import open_source
    from eigencut.data.table_model import TableModel
    from eigencut.estimator import GPOD

    source = open_source(table, Reading(**reading))
    with progress_bar("table", quiet):
        block = source.read(source.choose(columns, drop, id_column), id_column)
    start = time.perf_counter()
    gpod = GPOD(
        n_clusters,
        cut=cut,
        affinity=affinity,
        outliers=outliers,
        random_state=seed,
        n_jobs=jobs,
        memory_limit=memory_limit,
    )
    model = TableModel(gpod, scale=scale, missing=missing)
    rows, complete = model.fit_preparation(block.table)
    rows, complete = sampled(rows, complete, sample, seed)
    with progress_bar("fit", quiet):
        model.adopt(gpod.fit(rows), complete)
    seconds = time.perf_counter() - start
    model.save(output)
    if labels is not None:
        _write_labels(labels, model, id_column, block.ids)
    result = described(model, len(block.table.values)) | {
        "seconds": round(seconds, 3),
        "output": output,
    }
    say(as_json, result, _text(result))


def parsed_clusters(text: str) -> int | str:
    """K as a number, or "auto"."""
    if text == "auto":
        return text
    try:
        return int(text)
    except ValueError as error:
        raise click.UsageError(f"-k must be a whole number or auto. Got {text!r}.") from error


def parsed_affinity(sigma: str, landmarks: int | None) -> Any:
    """The affinity for what --sigma and --landmarks say."""
    if sigma == "auto" and landmarks is None:
        return "auto"
    from eigencut.affinity import Gaussian, Landmarks

    try:
        width: float | str = float(sigma)
    except ValueError:
        width = sigma
    return Gaussian(width) if landmarks is None else Landmarks(landmarks, sigma=width)


def described(model: TableModel, n_rows: int) -> dict[str, Any]:
    """What there is to say about a fitted model."""
    import numpy as np

    gpod = model.model_
    sizes = np.bincount(gpod.labels_, minlength=gpod.n_clusters_)
    return {
        "rows": n_rows,
        "rows_fitted": len(gpod.labels_),
        "columns": model.columns_,
        "n_clusters": gpod.n_clusters_,
        "sizes": sizes.tolist(),
        "eigenvalues": gpod.eigenvalues_.tolist(),
        "affinity": repr(gpod.affinity_),
        "sigma": getattr(gpod.affinity_, "sigma_", None),
    }


def _text(result: dict[str, Any]) -> str:
    listed = ", ".join(map(str, result["sizes"]))
    fitted = "" if result["rows_fitted"] == result["rows"] else f", {result['rows_fitted']} fitted"
    return "\n".join(
        [
            f"{result['n_clusters']} clusters of {listed} rows "
            f"({result['rows']} rows{fitted}, {len(result['columns'])} columns)",
            f"The model is in {result['output']}",
        ]
    )


def _write_labels(path: str, model: TableModel, id_column: str | None, ids: Any) -> None:
    from eigencut.cli.writing import open_writer

    columns = {} if id_column is None else {id_column: ids}
    with open_writer(path) as writer:
        writer.write({**columns, "cluster": model.labels_})
