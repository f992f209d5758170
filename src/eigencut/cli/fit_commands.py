"""Commands that make models: ``fit``, ``select``, ``update``, ``align`` and ``recluster``."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import click

from eigencut.cli import options as opt
from eigencut.cli.outputs import Output, check_outputs, open_writer


@opt.command(
    "fit",
    "eigencut fit data.csv -k 3 -o model.eigencut",
    "eigencut fit clients.csv --ordered 'size=small<medium<large' --date joined -o model.eigencut",
    "eigencut fit data.parquet --drop class --missing median -o model.eigencut",
    "eigencut fit embeddings.npy --metric cosine -k 20 -o model.eigencut",
    "eigencut fit huge.parquet --landmarks 1000 -k 10 -o model.eigencut",
    "eigencut fit large.parquet --memory-limit 4GB -k 10 -o model.eigencut",
    "eigencut fit big.csv --sample 5000 -k auto --labels clusters.csv -o model.eigencut",
    "eigencut fit survey.csv --weights people -k 4 -o model.eigencut",
    "eigencut fit mails.csv --known kind -k 5 -o model.eigencut",
    "zcat data.csv.gz | eigencut fit - -k 2 --sigma 0.5 --scale none -o model.eigencut",
)
@opt.argument("table")
@opt.output("Where the model goes.")
@opt.option(
    "-k --clusters", opt.clusters, "How many, auto, or candidates like 2-30.", default="auto"
)
@opt.cut
@opt.affinity
@opt.option(
    "--outliers",
    ["keep", "label"],
    "Whether predict labels rows far from the data all the same, or -1.",
)
@opt.option(
    "--labels",
    opt.file,
    "Also write the clusters of these rows: CSV, CSV.GZ, Parquet or NPY by its name.",
)
@opt.option(
    "--known",
    opt.column,
    "A column with the classes of some rows, as words or numbers from 0 on, and nothing or -1 in "
    "others; it is no data then.",
)
@opt.spreadsheet
@opt.option(
    "--memory-limit",
    opt.memory,
    "Memory the fit may take beyond the table, e.g. 4GB. Default: what there is.",
)
@opt.run_on_table
def fit(
    table: str,
    output: str,
    clusters: int | str,
    cut: str,
    outliers: str,
    labels: str | None,
    known: str | None,
    spreadsheet: bool,
    memory_limit: str | None,
    how: opt.AffinityOptions,
    run: opt.TableOptions,
) -> None:
    """Find clusters in TABLE (CSV, Parquet, NPY, or - for standard input) and save the model.

    TABLE may be a sparse matrix, as scipy.sparse.save_npz writes it: then rows are taken as they
    are, and options about columns are refused.

    Columns, what they hold, their units and what is done about missing values are part of the
    model. With landmarks a file is read in blocks, a few times, and memory does not grow with
    it; not so standard input, and with --sample or --known.
    """
    outputs = [Output("-o", output, "model")]
    if labels is not None:
        outputs.append(Output("--labels", labels, "table"))
    check_outputs(outputs, [table], run.as_json)
    affinity = how.affinity()
    run = run.with_scale_for(how.metric)

    from eigencut.cli import tables
    from eigencut.gpod import GPOD

    gpod = GPOD(
        clusters,
        cut=cut,
        affinity=affinity,
        metric=how.metric,
        outliers=outliers,
        random_state=run.seed,
        n_jobs=run.jobs,
        memory_limit=memory_limit,
    )
    with run.progress("table"):
        matrix = tables.sparse_matrix(table)
    start = time.perf_counter()
    if matrix is None:
        in_blocks = how.name == "landmarks" and run.sample is None and known is None
        model, labelled = _fit_table(gpod, table, in_blocks, known, run)
        model.save(output)
    else:
        if how.name == "gaussian":
            raise click.UsageError(
                f"A complete graph is for tables, and {table} is a sparse matrix; use --neighbors "
                "or --landmarks."
            )
        model = _fit_matrix(gpod, matrix, run)
        labelled = [{"cluster": gpod.labels_}]
        gpod.save(output)
    seconds = time.perf_counter() - start
    with run.progress("labels"):
        n_rows, sizes = _written(labels, labelled, model.gpod.n_clusters_, spreadsheet)
    gpod = model.gpod
    result = {
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
        "weights": run.weights,
        "known": known,
        "seconds": round(seconds, 3),
        "output": output,
    }
    text = _text(result, model)
    if matrix is not None:  # whose columns have no names
        result |= {"columns": [], "kinds": [], "n_columns": matrix.shape[1]}
    run.say(result, text, output, labels)


def _fit_table(
    gpod: Any, path: str, in_blocks: bool, known: str | None, run: opt.TableOptions
) -> tuple[Any, Iterable[dict[str, Any]]]:
    """``TableModel.fit`` on a table in memory or on a stream, and the clusters of its rows."""
    import numpy as np

    from eigencut.cli import tables
    from eigencut.io.rows import Rows
    from eigencut.tables.table_model import TableModel

    source = tables.open_table(path, run)
    columns = tables.data_columns(source, run, known)
    kinds = tables.kinds_of_columns(source, columns, run)
    model = TableModel(gpod, columns=kinds, scale=run.scale, missing=run.missing)
    if in_blocks and Path(path).is_file():
        source.close()
        with run.progress("table"):
            model.fit(Rows.from_file(path, columns, weights=run.weights, **run.reading))
        answer = lambda table: tables.cluster_columns(model, model.predict(table))  # noqa: E731
        return model, tables.labelled_blocks(model, path, run, run.id_column, answer)
    more = () if known is None else (known,)
    block = tables.read_data(source, columns, kinds, run, *more)
    whole, classes, is_known = block.table.choose(columns), None, False
    if known is not None:
        classes, is_known = tables.known_classes(block.table, known, gpod.n_clusters, source.name)
    tables.suggest_cosine(gpod.metric, run, whole.values)
    some, rows = tables.sample_rows(whole, run, is_known)
    with run.progress("fit"):
        known_labels = None if classes is None else classes[rows]
        model.fit(some, sample_weight=some.weight, known_labels=known_labels)
    labels = np.full(len(whole.values), -1)
    labels[rows] = model.labels_
    names = {} if run.id_column is None else {run.id_column: block.ids}
    return model, [names | tables.cluster_columns(model, labels)]


def _fit_matrix(gpod: Any, matrix: Any, run: opt.TableOptions) -> Any:
    """A sparse matrix as it is; errors count its rows as those of a table."""
    import numpy as np

    from eigencut.io.column_kinds import plain_names
    from eigencut.io.refused_rows import naming_rows_of_table
    from eigencut.tables.preparation import Preparation
    from eigencut.tables.table_model import table_model

    as_it_is = Preparation.nothing(plain_names(matrix.shape[1]))
    all_rows = np.ones(matrix.shape[0], dtype=bool)
    with run.progress("fit"), naming_rows_of_table(matrix, all_rows, as_it_is):
        return table_model(gpod.fit(matrix), as_it_is)


def _text(result: dict[str, Any], model: Any) -> str:
    n_fitted, names = result["rows_fitted"], result["class_names"]
    fitted = "" if n_fitted == result["rows"] else f", {n_fitted} fitted"
    if result["weights"] is not None:
        fitted = f", {n_fitted:.10g} by {result['weights']}"
    lines = [
        f"{result['n_clusters']} clusters of {', '.join(map(str, result['sizes']))} rows "
        f"({result['rows']} rows{fitted}, {len(result['columns'])} columns)"
    ]
    if names:
        lines.append(f"classes 0, 1, ...: {', '.join(names)}")
    if not model.preparation_.is_numeric:
        lines.append(str(model.summary()))
    return "\n".join([*lines, f"The model is in {result['output']}"])


def _written(
    path: str | None, labelled: Iterable[dict[str, Any]], n_clusters: int, spreadsheet: bool
) -> tuple[int, list[int]]:
    """Write columns of clusters, if there is a path; how many rows there are, and by cluster."""
    import numpy as np

    n_rows, sizes = 0, np.zeros(n_clusters, dtype=np.int64)
    with nullcontext() if path is None else open_writer(path, spreadsheet) as write:
        for columns in labelled:
            labels = columns["cluster"]
            n_rows += len(labels)
            sizes += np.bincount(labels[labels >= 0], minlength=n_clusters)
            if write is not None:
                write(columns)
    return n_rows, sizes.tolist()


@opt.command(
    "select",
    "eigencut select data.csv",
    "eigencut select data.csv -k 2-6 --sigma local,median -o model.eigencut",
    "eigencut select survey.csv --weights people",
    "eigencut select data.csv -k 2,4,8 --criterion stability --json",
)
@opt.argument("table")
@opt.option(
    "-k --clusters",
    opt.candidates,
    "Candidates, e.g. 2-10 or 2,4,8; auto is as far as the spectrum goes.",
    default="auto",
)
@opt.option(
    "--sigma",
    opt.bandwidths,
    "Candidates: numbers or rules, separated by commas.",
    default="auto",
)
@opt.metric
@opt.option("--criterion", ["conductance", "stability", "risk", "eigengap"])
@opt.cut
@opt.output("Save the best model there.", required=False)
@opt.run_on_table
def select(
    table: str,
    clusters: str,
    sigma: list[float | str],
    metric: str | None,
    criterion: str,
    cut: str,
    output: str | None,
    run: opt.TableOptions,
) -> None:
    """Compare numbers of clusters (and bandwidths) on TABLE; the best one first."""
    outputs = [] if output is None else [Output("-o", output, "model")]
    check_outputs(outputs, [table], run.as_json)
    run = run.with_scale_for(metric)

    from eigencut.affinities import Gaussian
    from eigencut.auto import select as selection
    from eigencut.cli import tables
    from eigencut.io.refused_rows import naming_rows_of_table
    from eigencut.tables.learning import learn_preparation
    from eigencut.tables.table_model import table_model

    source = tables.open_table(table, run)
    columns = tables.data_columns(source, run)
    kinds = tables.kinds_of_columns(source, columns, run)
    whole = tables.read_data(source, columns, kinds, run).table
    some, _ = tables.sample_rows(whole, run)
    preparation = learn_preparation(some, run.scale, run.missing)
    rows, complete = preparation.apply(some)
    affinities: Any = "auto"
    if sigma != ["auto"]:
        affinities = [Gaussian(width, metric=metric or "euclidean") for width in sigma]
    with run.progress("candidates"), naming_rows_of_table(some, complete, preparation):
        best = selection.select(
            rows,
            clusters,
            preparation.affinity_for(affinities),
            cut=cut,
            criterion=criterion,
            random_state=run.seed,
            n_jobs=run.jobs,
            sample_weight=None if some.weight is None else some.weight[complete],
            metric=metric,
        )
    result = best.to_dict() | {"n_clusters": best.best.n_clusters, "output": output}
    text = str(best)
    if output is not None:
        table_model(best.model, preparation, complete, kinds).save(output)
        text += f"\nThe best model is in {output}"
    run.say(result, text, output)


@opt.command(
    "update",
    "eigencut update model.eigencut tonight.csv -o model.eigencut",
    "eigencut update monday.eigencut tuesday.parquet --decay 0.9 -o tuesday.eigencut",
)
@opt.argument("model")
@opt.argument("table")
@opt.output("Where the updated model goes; it may replace MODEL.")
@opt.option(
    "--decay",
    opt.share(may_be_one=True),
    "What each earlier row counts from now on.",
    default=1.0,
)
@opt.weights
@opt.run
def update(
    model: str, table: str, output: str, decay: float, weights: str | None, run: opt.RunOptions
) -> None:
    """Add the rows of TABLE (CSV, Parquet, NPY, or - for standard input) to MODEL.

    Clusters that go on keep their numbers, new ones get numbers that were never given, and those of
    clusters that have gone are not given again. With landmarks only TABLE is read, in blocks; other
    models are fitted again on the rows that they keep and these.
    """
    check_outputs([Output("-o", output, "model")], [table], run.as_json)

    from eigencut.cli import tables
    from eigencut.io.rows import Rows

    fitted = tables.load_model(model, run.jobs)
    start = time.perf_counter()
    if fitted.gpod.affinity_.streams and not fitted.splits_ and Path(table).is_file():
        source = tables.open_table(table, run)
        columns = tables.model_columns(fitted, source, weights, "--weights")
        source.close()
        with run.progress("update"):
            rows = Rows.from_file(table, columns, weights=weights, **run.reading)
            fitted.update(rows, decay=decay)
    else:
        whole = tables.read_for_model(fitted, table, run, weights=weights).table
        with run.progress("update"):
            fitted.update(whole, sample_weight=whole.weight, decay=decay)
    fitted.save(output)
    updated, seconds = fitted.gpod.updated_, time.perf_counter() - start
    result = updated.to_dict() | {"seconds": round(seconds, 3), "output": output}
    run.say(result, f"{updated}\nThe model is in {output}", output)


@opt.command(
    "align",
    "eigencut align march.eigencut february.eigencut -o march.eigencut",
    "eigencut align march.eigencut february.eigencut march.csv -o aligned.eigencut",
)
@opt.argument("model")
@opt.argument("reference")
@opt.argument("table", required=False)
@opt.output("Where the model with other numbers goes; it may replace MODEL.")
@opt.run
def align(model: str, reference: str, table: str | None, output: str, run: opt.RunOptions) -> None:
    """Give the clusters of MODEL the numbers that they have in REFERENCE, over the same columns.

    Clusters are compared on the rows of TABLE, or on what REFERENCE keeps of those that it has
    seen. One that shares no more than half of its rows with any cluster of REFERENCE, or of that
    one's rows, gets a number that REFERENCE has never given.
    """
    check_outputs([Output("-o", output, "model")], [reference, table], run.as_json)

    from eigencut.cli import tables
    from eigencut.updating.alignment import align_labels, renumbered

    fitted = tables.load_model(model, run.jobs, one_cut=True)
    other = tables.load_model(reference, run.jobs, one_cut=True)
    rows = None if table is None else tables.read_for_model(fitted, table, run).table
    with run.progress("labels"):
        aligned = align_labels(fitted, other, rows)
    aligned.save(output)
    numbers = renumbered(fitted, aligned)
    known = set(other.cluster_numbers_.tolist())
    new = sorted(number for number in numbers.values() if number not in known)
    lines = [
        f"Cluster {before} is now {now}{', which is new' if now in new else ''}"
        for before, now in numbers.items()
    ]
    result = {"numbers": numbers, "new": new, "output": output}
    run.say(result, "\n".join([*lines, f"The model is in {output}"]), output)


@opt.command(
    "recluster",
    "eigencut recluster model.eigencut data.csv --cluster 3 -k 2 -o finer.eigencut",
    "eigencut recluster model.eigencut --cluster 3 -o finer.eigencut",
    "eigencut predict finer.eigencut new.csv -o labels.csv",
)
@opt.argument("model")
@opt.argument("table", required=False)
@opt.option("--cluster", opt.number(0), "The cluster to split.", required=True)
@opt.option("-k --clusters", opt.clusters, "Its parts, or auto.", default="2")
@opt.output("Where the new model goes.")
@opt.run
def recluster(
    model: str,
    table: str | None,
    cluster: int,
    clusters: int | str,
    output: str,
    run: opt.RunOptions,
) -> None:
    """Split a cluster of MODEL into parts, by the rows of TABLE that belong to it.

    Without TABLE by the rows of the fit, which all models but those of landmarks have kept.
    The largest part keeps the number of the cluster, the others have the next free numbers; all
    other clusters stay what they are.
    """
    check_outputs([Output("-o", output, "model")], [table, model], run.as_json)

    from eigencut.cli import tables
    from eigencut.hierarchy import recluster as splitting

    fitted = tables.load_model(model, run.jobs)
    rows = None if table is None else tables.read_for_model(fitted, table, run).table
    with run.progress("fit"):
        finer = splitting.recluster(fitted, rows, cluster=cluster, n_clusters=clusters)
    finer.save(output)
    numbers = finer.splits_[-1].numbers.tolist()
    sizes = splitting.sizes_of_parts(finer, rows)
    parts = ", ".join(f"{k} ({size} rows)" for k, size in zip(numbers, sizes, strict=True))
    result = {
        "cluster": cluster,
        "parts": numbers,
        "sizes": sizes,
        "output": output,
        "n_clusters": finer.n_clusters_,
    }
    run.say(result, f"Cluster {cluster} is now {parts}\nThe model is in {output}", output)
