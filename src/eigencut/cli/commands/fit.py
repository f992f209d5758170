"""``eigencut fit``: from a table to a model file."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from eigencut.cli.affinity_options import (
    AffinityOptions,
    affinity_options,
    suggest_cosine,
    with_units_for,
)
from eigencut.cli.options import (
    TableOptions,
    say,
    spreadsheet_option,
    table_options,
    weights_option,
)
from eigencut.cli.outputs import ModelOutput, Output, TableOutput, check_outputs
from eigencut.cli.sampling import sampled
from eigencut.cli.values import CLUSTERS, FILE, MEMORY

if TYPE_CHECKING:
    from eigencut.io.source import Source
    from eigencut.tables.table_model import TableModel

Labelled = tuple[list[str] | None, Any]  # names of rows, if any, and their clusters


@click.command(
    "fit",
    epilog="""\b
Examples:
  eigencut fit data.csv -k 3 -o model.eigencut
  eigencut fit customers.csv --ordered 'size=small<medium<large' --date joined -o model.eigencut
  eigencut fit data.parquet --drop class --missing median -o model.eigencut
  eigencut fit embeddings.npy --metric cosine -k 20 -o model.eigencut
  eigencut fit huge.parquet --landmarks 1000 -k 10 -o model.eigencut
  eigencut fit large.parquet --memory-limit 4GB -k 10 -o model.eigencut
  eigencut fit big.csv --sample 5000 -k auto --labels clusters.csv -o model.eigencut
  eigencut fit survey.csv --weights people -k 4 -o model.eigencut
  eigencut fit mails.csv --known kind -k 5 -o model.eigencut
  zcat data.csv.gz | eigencut fit - -k 2 --sigma 0.5 --scale none -o model.eigencut""",
)
@click.argument("table", type=FILE)
@click.option(
    "-o", "--output", type=FILE, required=True, metavar="FILE", help="Where the model goes."
)
@click.option(
    "-k",
    "--clusters",
    type=CLUSTERS,
    default="auto",
    show_default=True,
    metavar="K",
    help="How many, auto, or candidates like 2-30.",
)
@click.option("--cut", type=click.Choice(["ncut", "ratiocut"]), default="ncut", show_default=True)
@affinity_options
@click.option(
    "--outliers",
    type=click.Choice(["keep", "label"]),
    default="keep",
    show_default=True,
    help="Whether predict labels rows far from the data all the same, or -1.",
)
@click.option(
    "--labels",
    type=FILE,
    metavar="FILE",
    help="Also write the clusters of these rows: CSV, CSV.GZ, Parquet or NPY by its name.",
)
@weights_option
@click.option(
    "--known",
    metavar="NAME",
    help="A column with the classes of some rows, as words or numbers from 0 on, and nothing or "
    "-1 in others; it is no data then.",
)
@spreadsheet_option
@click.option(
    "--memory-limit",
    type=MEMORY,
    metavar="SIZE",
    help="Memory the fit may take beyond the table, e.g. 4GB. Default: what there is.",
)
@table_options
def command(
    table: str,
    output: str,
    clusters: int | str,
    cut: str,
    outliers: str,
    labels: str | None,
    weights: str | None,
    known: str | None,
    memory_limit: str | None,
    spreadsheet: bool,
    how: AffinityOptions,
    options: TableOptions,
) -> None:
    """Find clusters in TABLE (CSV, Parquet, NPY, or - for standard input) and save the model.

    TABLE may be a sparse matrix, as scipy.sparse.save_npz writes it: then rows are taken as they
    are, and options about columns are refused.

    Columns, what they hold, their units and what is done about missing values are part of the
    model. With landmarks a file is read in blocks, a few times, and memory does not grow with
    it; not so standard input, and with --sample or --known.
    """
    outputs: list[Output] = [ModelOutput("-o", output)]
    if labels is not None:
        outputs.append(TableOutput("--labels", labels))
    check_outputs(outputs, [table], options.as_json)
    affinity = how.affinity()
    options = with_units_for(how.metric, options)

    import numpy as np

    from eigencut.cli.known_column import known_classes
    from eigencut.cli.progress_bar import progress_bar
    from eigencut.cli.sparse_tables import OF_SPARSE_FITS, sparse_table
    from eigencut.cli.tables import data_columns, kinds_of_columns, open_table, read_weighted
    from eigencut.gpod import GPOD
    from eigencut.io.column_kinds import Kind, plain_names
    from eigencut.io.refused_rows import naming_rows_of_table
    from eigencut.io.rows import Rows
    from eigencut.io.table import Coding
    from eigencut.tables.learning import learn_preparation
    from eigencut.tables.preparation import Preparation
    from eigencut.tables.table_model import TableModel, table_model

    id_column = options.id_column
    with progress_bar("table", options.quiet):
        matrix = sparse_table(table, OF_SPARSE_FITS)
    if matrix is None:
        source = open_table(table, **options.reading)
        chosen = data_columns(source, options.columns, options.drop, id_column, weights, known)
        kinds = kinds_of_columns(source, chosen, options)
    gpod = GPOD(
        clusters,
        cut=cut,
        affinity=affinity,
        metric=how.metric,
        outliers=outliers,
        random_state=options.seed,
        n_jobs=options.jobs,
        memory_limit=memory_limit,
    )
    found: Iterable[Labelled]
    is_whole = options.sample is not None or known is not None
    if matrix is not None:
        start = time.perf_counter()
        as_it_is = Preparation.nothing(plain_names(matrix.shape[1]))
        placed = naming_rows_of_table(matrix, np.ones(matrix.shape[0], dtype=bool), as_it_is)
        with progress_bar("fit", options.quiet), placed:
            model = table_model(gpod.fit(matrix), as_it_is)
        found = [(None, gpod.labels_)]
    elif how.name == "landmarks" and not is_whole and Path(table).is_file():
        source.close()
        start = time.perf_counter()
        with progress_bar("table", options.quiet):
            stream = Rows.from_file(table, chosen, weights=weights, **options.reading)
            units = {"scale": options.scale, "missing": options.missing}
            model = TableModel(gpod, columns=kinds, **units).fit(stream)
        found = _labelled(model, open_table(table, **options.reading), id_column)
    else:
        more = {known: Kind("categorical")} if known else {}
        coding = Coding(more, kinds)
        with progress_bar("table", options.quiet):
            block = read_weighted(source, [*chosen, *more], weights, coding, id_column)
        start = time.perf_counter()
        classes = known_classes(block.table, known, clusters, source.name)
        whole = block.table.choose(chosen)
        suggest_cosine(how.metric, options, whole.values)
        preparation = learn_preparation(whole, options.scale, options.missing)
        is_known = None if classes is None else classes.labels >= 0
        rows, complete = sampled(*preparation.apply(whole), options, is_known)
        of_rows = None if whole.weight is None else whole.weight[complete]
        y = None if classes is None else classes.as_y[complete]
        gpod.set_params(affinity=preparation.affinity_for(gpod.affinity))
        placed = naming_rows_of_table(whole, complete, preparation)
        with progress_bar("fit", options.quiet), placed:
            gpod.fit(rows, y, sample_weight=of_rows)
            names = () if classes is None else classes.names
            model = table_model(gpod, preparation, complete, kinds, names)
        found = [(block.ids, model.labels_)]
    seconds = time.perf_counter() - start
    (model if matrix is None else gpod).save(output)
    with progress_bar("labels", options.quiet):
        n_rows, sizes = _written(labels, found, id_column, model, spreadsheet)
    result = described(model, n_rows, sizes) | {"weights": weights, "known": known}
    result |= {"seconds": round(seconds, 3), "output": output}
    text = _text(result, model)
    if matrix is not None:  # whose columns have no names
        result |= {"columns": [], "kinds": [], "n_columns": matrix.shape[1]}
    say(options.as_json, result, text, output, labels)


def described(model: TableModel, n_rows: int, sizes: list[int]) -> dict[str, Any]:
    """What there is to say about a fitted model."""
    gpod = model.model_
    return {
        "rows": n_rows,
        "rows_fitted": gpod.affinity_.n_rows_,
        "columns": model.columns_,
        "kinds": [kind.name for kind in model.preparation_.kinds],
        "n_clusters": gpod.n_clusters_,
        "sizes": sizes,
        "class_names": model.class_names_,
        "eigenvalues": gpod.eigenvalues_.tolist(),
        "affinity": repr(gpod.affinity_),
        "sigma": getattr(gpod.affinity_, "sigma_", None),
    }


def _text(result: dict[str, Any], model: TableModel) -> str:
    listed = ", ".join(map(str, result["sizes"]))
    fitted = "" if result["rows_fitted"] == result["rows"] else f", {result['rows_fitted']} fitted"
    if result["weights"] is not None:
        fitted = f", {result['rows_fitted']:.10g} by {result['weights']}"
    return "\n".join(
        [
            f"{result['n_clusters']} clusters of {listed} rows "
            f"({result['rows']} rows{fitted}, {len(result['columns'])} columns)",
            *(
                [f"classes 0, 1, ...: {', '.join(names)}"]
                if (names := result["class_names"])
                else []
            ),
            *([] if model.preparation_.is_numeric else [str(model.summary())]),
            f"The model is in {result['output']}",
        ]
    )


def _labelled(model: TableModel, source: Source, id_column: str | None) -> Iterator[Labelled]:
    """Names and clusters of the rows of a stream, as a fit in memory has them."""
    import numpy as np

    from eigencut._utils.progress import tell
    from eigencut._utils.threads import threads
    from eigencut.cli.tables import model_blocks

    gpod, n_rows = model.model_, 0
    for block in model_blocks(model, source, id_column):
        rows, complete = model.prepare(block.table)
        clusters = np.full(len(complete), -1)
        if complete.any():
            with threads(gpod.n_jobs):
                clusters[complete] = gpod._labels(rows)
        yield block.ids, clusters
        n_rows += len(clusters)
        tell(source.share(block), f"{n_rows:,} rows")


def _written(
    path: str | None,
    found: Iterable[Labelled],
    id_column: str | None,
    model: TableModel,
    spreadsheet: bool,
) -> tuple[int, list[int]]:
    """Write names and clusters, if there is a path; how many rows there are, and by cluster."""
    import numpy as np

    from eigencut.cli.known_column import cluster_columns
    from eigencut.cli.writing import open_writer

    n_clusters = model.model_.n_clusters_
    n_rows, sizes = 0, np.zeros(n_clusters, dtype=np.int64)
    with nullcontext() if path is None else open_writer(path, spreadsheet) as writer:
        for ids, clusters in found:
            n_rows += len(clusters)
            sizes += np.bincount(clusters[clusters >= 0], minlength=n_clusters)
            if writer is not None:
                names = {} if id_column is None else {id_column: ids}
                writer.write({**names, **cluster_columns(model, clusters)})
    return n_rows, sizes.tolist()
