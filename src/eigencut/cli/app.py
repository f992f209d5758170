"""The commands: each is a function whose defaults are its options (see ``options.command``)."""

from __future__ import annotations

import shlex
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

import eigencut
from eigencut.cli import options as opt
from eigencut.cli.options import command, option, output
from eigencut.cli.outputs import check_output, is_standard_output, open_writer, say
from eigencut.exceptions import EmptyTableError, printable, shortened


@command(
    "Find clusters in a table and save the model.",
    "eigencut fit data.csv -k 3 -o model.eigencut",
    "eigencut fit clients.csv --ordered 'size=small<medium<large' --date joined -o model.eigencut",
    "eigencut fit embeddings.npy --metric cosine -k 20 -o model.eigencut",
    "eigencut fit huge.parquet --landmarks 1000 -k 10 -o model.eigencut",
    "eigencut fit mails.csv --known kind -k 5 -o model.eigencut",
    "eigencut fit clients.csv -k 8 --min-size 50 --max-size 0.2 -o model.eigencut",
    "zcat data.csv.gz | eigencut fit - -k 2 --sigma 0.5 --scale none -o model.eigencut",
)
def fit(
    *,
    table: str = opt.argument,
    output: str = output("Where the model goes.", required=True),
    clusters: int | str = option(
        "Number of clusters: 3, auto, or one of 2-30.", opt.value, "-k --clusters", default="auto"
    ),
    cut: str = opt.cut_option,
    min_size: Any = option(
        "Smallest size of a cluster: a number of rows, a share, or equal.", opt.value
    ),
    max_size: Any = option("Largest size of a cluster, in the same form.", opt.value),
    how: opt.AffinityOptions,
    outliers: str = option(
        "What predict gives rows far from the data: a cluster (keep) or -1 (label).",
        ["keep", "label"],
        default="keep",
    ),
    labels: str | None = option(
        "Also write the clusters of these rows: CSV, CSV.GZ, Parquet or NPY by its name.", opt.file
    ),
    known: str | None = option(
        "A column with the classes of some rows, as words or numbers from 0 on, and nothing or "
        "-1 in others; it is not used as data.",
        opt.column_name,
    ),
    spreadsheet: bool = opt.spreadsheet_option,
    memory_limit: str | None = option(
        "Memory that the fit may take besides the table, e.g. 4GB. Default: all that is free.", str
    ),
    run: opt.TableOptions,
) -> None:
    """Find clusters in TABLE (CSV, Parquet, NPY, or - for standard input) and save the model.

    The model remembers how columns are scaled and how missing values are treated. With landmarks,
    a file is read in blocks, a few times, and memory does not grow with its size. Standard input,
    and any table with --known, is read into memory.
    """
    check_output("table", labels, [table], run.as_json, "--labels", other=output)
    check_output("model", output, [table], run.as_json)
    run = run.with_scale_for(how.metric)

    from eigencut.cli import tables

    try:
        gpod = eigencut.GPOD(
            clusters,
            cut=cut,
            affinity=how.affinity(),
            metric=how.metric,
            min_cluster_size=min_size,
            max_cluster_size=max_size,
            outliers=outliers,
            random_state=run.seed,
            n_jobs=run.jobs,
            memory_limit=memory_limit,
        )
        gpod._check_parameters()
    except ValueError as error:
        raise click.UsageError(str(error)) from error
    start = time.perf_counter()
    in_blocks = how.name == "landmarks" and known is None
    model, labelled = tables.fit_table(gpod, table, in_blocks, known, run)
    gpod, seconds = model.gpod, time.perf_counter() - start
    with (
        run.progress("labels"),
        open_writer(labels, spreadsheet, lambda: model.save(output)) as write,
    ):
        sizes = tables.write_clusters(labelled, write)
    n_fitted, n_rows = gpod.affinity_.n_rows_, sizes.total()
    result = {
        "rows": n_rows,
        "rows_fitted": n_fitted,
        "columns": model.columns_,
        "kinds": [kind.name for kind in model.preparation_.kinds],
        "n_clusters": gpod.n_clusters_,
        "sizes": [sizes[k] for k in range(gpod.n_clusters_)],
        "class_names": model.class_names_,
        "eigenvalues": gpod.eigenvalues_.tolist() if hasattr(gpod, "eigenvalues_") else None,
        "affinity": repr(gpod.affinity_),
        "sigma": getattr(gpod.affinity_, "sigma_", None),
        "weights": run.weights,
        "known": known,
        "seconds": round(seconds, 3),
        "output": output,
    }
    fitted = "" if n_fitted == n_rows else f", {n_fitted} fitted"
    if run.weights is not None:
        fitted = f", {n_fitted:.10g} by {run.weights}"
    lines = [
        f"{gpod.n_clusters_} clusters of {', '.join(map(str, result['sizes']))} rows "
        f"({n_rows} rows{fitted}, {len(model.columns_)} columns)"
    ]
    if model.class_names_:
        lines.append(f"classes 0, 1, ...: {', '.join(model.class_names_)}")
    if not model.preparation_.is_numeric:
        lines.append(str(model.summary()))
    text = "\n".join([*lines, f"The model is in {output}"])
    run.say(result, text, output, labels)


@command(
    "Compare numbers of clusters.",
    "eigencut select data.csv",
    "eigencut select data.csv -k 2-6 --metric cosine",
)
def select(
    *,
    table: str = opt.argument,
    clusters: str = option(
        "Candidates, e.g. 2-10 or 2,4,8; auto chooses them.",
        opt.candidates,
        "-k --clusters",
        default="auto",
    ),
    metric: str | None = opt.metric_option,
    cut: str = opt.cut_option,
    run: opt.TableOptions,
) -> None:
    """Compare numbers of clusters on TABLE; the best one first."""
    run = run.with_scale_for(metric)

    from eigencut.cli import tables

    selection = tables.select_table(table, run, n_clusters=clusters, cut=cut, metric=metric)
    run.say(selection.to_dict() | {"n_clusters": selection.best.n_clusters}, str(selection))


@command(
    "Add the rows of a table to a saved model; clusters keep their numbers.",
    "eigencut update model.eigencut tonight.csv -o model.eigencut",
    "eigencut update monday.eigencut tuesday.parquet --decay 0.9 -o tuesday.eigencut",
)
def update(
    *,
    model: str = opt.argument,
    table: str = opt.argument,
    output: str = output("Where the updated model goes; it may replace MODEL.", required=True),
    decay: float = option(
        "The weight of each earlier row from now on, at most 1.", float, default=1.0
    ),
    weights: str | None = opt.weights_option,
    run: opt.RunOptions,
) -> None:
    """Add the rows of TABLE (CSV, Parquet, NPY, or - for standard input) to MODEL.

    Clusters that persist keep their numbers. New clusters get new numbers, and numbers of clusters
    that disappear are not used again. With landmarks, only TABLE is read, in blocks. Other models
    are refitted on TABLE and the rows that they have stored.
    """
    check_output("model", output, [table], run.as_json)

    from eigencut.cli import tables

    fitted = tables.load_model(model, run.jobs)
    start = time.perf_counter()
    if fitted.gpod.affinity_.streams and not fitted.splits_ and Path(table).is_file():
        source = tables.open_table(table, run)
        columns = tables.model_columns(fitted, source, weights=weights)
        source.close()
        with run.progress("update"):
            rows = eigencut.Rows.from_file(table, columns, weights=weights, **run.reading)
            fitted.update(rows, decay=decay)
    else:
        whole = tables.read_for_model(fitted, table, run, weights=weights)
        with run.progress("update"):
            fitted.update(whole, sample_weight=whole.weight, decay=decay)
    fitted.save(output)
    updated, seconds = fitted.gpod.updated_, time.perf_counter() - start
    result = updated.to_dict() | {"seconds": round(seconds, 3), "output": output}
    run.say(result, f"{updated}\nThe model is in {output}", output)


@command(
    "Split one cluster; the others stay as they are.",
    "eigencut recluster model.eigencut data.csv --cluster 3 -k 2 -o finer.eigencut",
)
def recluster(
    *,
    model: str = opt.argument,
    table: str | None = opt.argument,
    cluster: int = option("The cluster to split.", opt.number(0), required=True),
    clusters: int | str = option("Number of parts.", opt.value, "-k --clusters", default="2"),
    output: str = output("Where the new model goes.", required=True),
    run: opt.RunOptions,
) -> None:
    """Split a cluster of MODEL by the rows of TABLE (default: the rows stored in MODEL)."""
    check_output("model", output, [table, model], run.as_json)

    from eigencut.cli import tables

    fitted = tables.load_model(model, run.jobs)
    rows = None if table is None else tables.read_for_model(fitted, table, run)
    with run.progress("fit"):
        finer = eigencut.recluster(fitted, rows, cluster=cluster, n_clusters=clusters)
    finer.save(output)
    numbers = finer.splits_[-1].numbers.tolist()
    result = {"cluster": cluster, "parts": numbers, "n_clusters": finer.n_clusters_}
    text = f"Cluster {cluster} is now {', '.join(map(str, numbers))}\nThe model is in {output}"
    run.say(result | {"output": output}, text, output)


@command("Show what is in a model file.", "eigencut info model.eigencut")
def info(*, model: str = opt.argument, as_json: bool = opt.json_option) -> None:
    """Show what is in the file MODEL: columns, clusters, parameters, versions, arrays."""
    from eigencut.io.model_format import read_header

    try:
        result = _facts(read_header(model))
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{model} is not what eigencut writes; save the model again.") from error
    say(as_json, result | {"file": model}, _text_of_facts(result))


def _facts(header: Any) -> dict[str, Any]:
    """Return what ``info`` shows from the header of a file; no model is made of it."""
    content, saved = header.content, header.content["model"]
    kind, n_split = saved["class"], 0
    if kind == "Reclustered":  # all facts but the number of clusters are those of the base model
        parts = [part for name, part in saved["state"].items() if name.startswith("part_")]
        n_split = sum(part["state"]["n_clusters"] - 1 for part in parts)
        saved = saved["state"]["base"]
    table = saved if saved["class"] == "TableModel" else None
    gpod = table["state"]["model"] if table else saved
    state, affinity = gpod["state"], gpod["state"]["affinity"]
    libraries = {"eigencut": content["eigencut"], "Python": content["python"]}
    return {
        "format": header.version,
        "bytes": header.size,
        "written_by": libraries | content["libraries"],
        "class": kind,
        "n_clusters": state["n_clusters"] + n_split,
        "rows_fitted": affinity["state"]["n_rows"],
        "columns": table["state"]["columns"] if table else state["feature_names"],
        "kinds": [kind["kind"] for kind in table["state"].get("kinds", [])] if table else [],
        "scale": table["parameters"]["scale"] if table else None,
        "divides_columns": any("column_scales" in each.name for each in header.entries),
        "missing": table["parameters"]["missing"] if table else None,
        "parameters": gpod["parameters"],
        "choice": state.get("choice", []),
        "affinity": {"class": affinity["class"], "parameters": affinity["parameters"]},
        "arrays": [
            {"name": each.name, "dtype": each.dtype, "shape": [*each.shape], "sha256": each.sha256}
            for each in header.entries
        ],
    }


def _text_of_facts(result: dict[str, Any]) -> str:
    parameters, affinity = result["parameters"], result["affinity"]
    given = ", ".join(f"{name}={value!r}" for name, value in affinity["parameters"].items())
    columns = result["columns"]
    kinds = result["kinds"] or ["numeric"] * len(columns or ())
    named = [
        shortened(name) + ("" if kind == "numeric" else f" ({kind})")
        for name, kind in zip(columns or (), kinds, strict=True)
    ]
    filled, keeps = f"are replaced by the {result['missing']}", parameters["outliers"] == "keep"
    treated = {"refuse": "raise an error", "drop": "get no label"}.get(result["missing"], filled)
    units = f"scaling is {result['scale']}; missing values {treated}" if result["scale"] else "none"
    if result["divides_columns"]:
        units = "each column divided by its spread (column_scales_)"
    compared = "; ".join(f"{name}: {score:.2f}" for name, score in result["choice"])
    lines = {
        "clusters": f"{result['n_clusters']}, fitted on {result['rows_fitted']} rows",
        "columns": ", ".join(named) or "without names",
        "preparation": units,
        "cut": f"{parameters['cut']}; outliers get {'a cluster' if keeps else 'the label -1'}",
        "affinity": f"{affinity['class']}({given})",
        "compared": compared or "nothing, the affinity was given",
        "written by": ", ".join(f"{k} {v}" for k, v in result["written_by"].items()),
        "file": f"{result['bytes']} bytes, format {result['format']}",
    }
    return "\n".join(f"{name:<12} {printable(text)}" for name, text in lines.items())


@command(
    "Describe each cluster: columns, rules, typical rows.",
    "eigencut describe model.eigencut data.csv",
    "eigencut describe model.eigencut letters.parquet --documents text",
)
def describe(
    *,
    model: str = opt.argument,
    table: str = opt.argument,
    documents: str | None = option(
        "A column of texts, for the words of the clusters.", opt.column_name
    ),
    top: int = option("Columns that distinguish a cluster, at most.", opt.number(1), default=5),
    outliers: bool = option("Also explain the rows that are unlike all clusters."),
    run: opt.RunOptions,
) -> None:
    """Describe each cluster of MODEL by the rows of TABLE: the training rows, or others.

    The description has its size, the columns that distinguish it, a rule of at most three
    conditions, and typical rows by their lines in TABLE.
    """
    from eigencut.cli.tables import load_model, read_for_model

    fitted = load_model(model, run.jobs)
    rows = read_for_model(fitted, table, run, documents=documents)
    description = fitted.describe(rows, documents=rows.ids, n_columns=top)
    result, text = description.to_dict(), str(description)
    if outliers:
        explained = fitted.explain_outliers(rows)
        result["outliers"] = explained.to_dict()
        text += f"\n\n{explained}"
    run.say(result, text)


@command("Show the clusters as a tree of coarser cuts.", "eigencut hierarchy model.eigencut")
def hierarchy(*, model: str = opt.argument, as_json: bool = opt.json_option) -> None:
    """Show the clusters of MODEL as a tree, from one group of all rows to single clusters."""
    tree = eigencut.load(model).hierarchy()
    groups = {str(k): tree.labels(k).tolist() for k in range(1, len(tree.sizes) + 1)}
    say(as_json, tree.to_dict() | {"groups": groups}, str(tree))


@command(
    "Test whether the rows of a table differ from those of a model.",
    "eigencut drift model.eigencut tonight.csv",
    'eigencut drift model.eigencut tonight.csv --alarm 0.001 || echo "look at it"',
)
def drift(
    *,
    model: str = opt.argument,
    table: str = opt.argument,
    alarm: float | None = option(
        "Exit with code 3 if the p-value of all tests together is smaller.", opt.share
    ),
    seed: int = opt.seed_option,
    run: opt.RunOptions,
) -> None:
    """Compare the rows of TABLE with those that MODEL has seen, without changing MODEL.

    Tests compare the share of rows unlike the training rows, the shares of clusters and the value
    of the cut. A p-value is the probability that chance alone makes as large a difference. The
    result also tells whether a new cluster stands out.
    """
    from eigencut.cli.tables import load_model, read_for_model

    fitted = load_model(model, run.jobs)
    rows = read_for_model(fitted, table, run)
    with run.progress("drift"):
        change = fitted.drift(rows, random_state=seed)
    run.say(change.to_dict(), str(change))
    if alarm is not None and change.p_values_hold and change.p_value < alarm:
        raise SystemExit(3)


@command(
    "Measure how well clusters hold on new data.",
    "eigencut assess model.eigencut heldout.csv",
    "eigencut assess model.eigencut heldout.csv --significance --stability --sets",
)
def assess(
    *,
    model: str = opt.argument,
    table: str | None = opt.argument,
    significance: bool = option("Test whether the rows are only one cluster: 200 refits."),
    stability: bool = option("Measure how often rows keep their cluster: 30 refits."),
    sets: bool = option("Calibrate label sets on TABLE: 20 refits."),
    theory: bool = option("Show the paper's errors and bounds, too."),
    run: opt.RunOptions,
) -> None:
    """Measure how well the clusters of MODEL hold, best on rows (TABLE) that it has not seen."""
    if sets and table is None:
        raise click.UsageError("--sets needs a TABLE of rows that the model was not fitted on.")

    from eigencut.cli.tables import load_model, read_for_model

    fitted = load_model(model, run.jobs, one_cut=True)
    gpod, ask = fitted.gpod, eigencut.inspection
    preparing: Any = nullcontext((None, None))
    if table is not None:
        preparing = fitted.preparing(read_for_model(fitted, table, run))
    with preparing as (rows, _), run.progress("refits"):
        chance = ask.significance(gpod) if significance else None
        stable = ask.stability(gpod) if stability else None
        label_sets = ask.label_sets(gpod, rows) if sets else None
        summary = ask.assess(gpod, rows, significance=chance, stability=stable, theory=theory)
    result = summary.to_dict()
    if label_sets is not None:
        result["label_sets"] = label_sets.to_dict()
    parts = [part for part in (summary, chance, stable, label_sets) if part is not None]
    run.say(result, "\n\n".join(map(str, parts)))


@command(
    "Write a report on a model: its clusters, unsure rows, and how well it holds on new rows.",
    "eigencut report model.eigencut data.csv -o report.html",
    "eigencut report model.eigencut data.csv --new today.csv -o report.html",
    "eigencut report model.eigencut data.csv --name 0=regulars --name 1=visitors --json",
)
def report(
    *,
    model: str = opt.argument,
    table: str | None = opt.argument,
    output: str | None = output("Where the report goes: .html, .json, .txt. Default: print it."),
    new: str | None = option("Rows that the model was not fitted on, to judge it.", opt.file),
    documents: str | None = option("A column of texts in TABLE, for words.", opt.column_name),
    names: tuple[tuple[int, str], ...] = option(
        "The name of cluster N, e.g. 0=regulars.", opt.cluster_name, "--name"
    ),
    title: str | None = option("Title of the report. Default: the name of MODEL.", str),
    refits: int = option(
        "Fits on samples, for stability; 0 leaves it out.", opt.number(0), default=10
    ),
    seed: int = opt.seed_option,
    run: opt.RunOptions,
) -> None:
    """Report on MODEL: a summary, its clusters, unsure rows, and how well the clusters hold.

    TABLE has the training rows, or others like them (default: the rows stored in MODEL). A page
    (.html) is one file that needs no network.
    """
    check_output("report", output, [model, table, new], run.as_json)
    if documents is not None and table is None:
        raise click.UsageError("--documents names a column of TABLE, which is not given.")
    if "-" == table == new:
        raise click.UsageError("TABLE and --new cannot both be standard input; name a file.")

    from eigencut.cli.tables import load_model, read_for_model
    from eigencut.report.page import save_summary

    fitted = load_model(model, run.jobs)
    rows = None if table is None else read_for_model(fitted, table, run, documents=documents)
    fresh = None if new is None else read_for_model(fitted, new, run)
    with run.progress("report"):
        summary = eigencut.report.summarize(
            fitted,
            rows,
            X_new=fresh,
            documents=None if rows is None else rows.ids,
            names=dict(names),
            title=Path(model).stem if title is None else title,
            data=", ".join(
                f"{kind} {Path(given).name}"
                for kind, given in (("rows", table), ("new rows", new))
                if given not in (None, "-")
            ),
            n_refits=refits,
            random_state=seed,
        )
    if output is None:
        run.say(summary.to_dict(), str(summary))
        return
    save_summary(summary, output)
    result = summary.to_dict() | {"sentences": list(summary.sentences), "output": output}
    run.say(result, "\n".join([*summary.sentences, f"The report is in {output}"]), output)


@command(
    "Label the rows of a table with a saved model.",
    "eigencut predict model.eigencut new.csv -o labels.csv",
    "eigencut predict model.eigencut new.parquet --id customer --margin -o labels.parquet",
    "eigencut predict model.eigencut new.csv --proba -o probabilities.csv",
    "eigencut predict model.eigencut new.csv --levels 20,5 -o levels.csv",
    "cat new.csv | eigencut predict model.eigencut - > labels.csv",
)
def predict(
    *,
    model: str = opt.argument,
    table: str = opt.argument,
    output: str = output(
        "CSV, CSV.GZ, Parquet or NPY by its name. Default: CSV to standard output.",
        show_default=False,
        default="-",
    ),
    id_column: str | None = option("A column that names rows, to copy.", opt.column_name, "--id"),
    margin: bool = option("Also the margin: how clearly a row belongs to its cluster."),
    proba: bool = option("Also the probability of each cluster, in columns p0, p1, ..."),
    support: bool = option("Also the support: the similarity to the training rows."),
    levels: list[int] | str | None = option(
        "Also the groups at these levels: numbers of groups such as 20,5, or auto.", opt.levels
    ),
    spreadsheet: bool = opt.spreadsheet_option,
    run: opt.RunOptions,
) -> None:
    """Label the rows of TABLE (CSV, Parquet, NPY, or - for standard input) with MODEL.

    The output has a line for each row with its cluster, numbered as in the fit, or -1 for an
    outlier (fit --outliers label) or a row with missing values (fit --missing drop). If clusters
    have names (fit --known), the column cluster_name has them.
    """
    check_output("table", output, [table, model], run.as_json)
    has_more = margin or proba or support
    if output.lower().endswith(".npy") and (id_column is not None or has_more or levels):
        raise click.UsageError(
            f"-o {output} holds clusters alone; for --id, --margin, --proba, --support and "
            "--levels use .csv or .parquet."
        )

    from eigencut.cli import tables

    fitted = tables.load_model(model, run.jobs)
    groups = fitted.hierarchy().levels(levels) if levels else ()

    def answer(rows: Any) -> dict[str, Any]:
        answers: Any = fitted.answers(rows) if has_more else None
        labels = answers.labels if has_more else fitted.predict(rows)
        columns = tables.cluster_columns(fitted, labels)
        if margin:
            columns["margin"] = answers.margins
        if support:
            columns["support"] = answers.support
        if proba:
            columns |= {f"p{k}": column for k, column in enumerate(answers.probabilities.T)}
        for group in groups:
            own = columns[f"level_{len({*group} - {-1})}"] = group[labels]
            own[labels < 0] = -1
        return columns

    blocks = tables.labelled_blocks(fitted, table, run, id_column, answer)
    start, is_shown = time.perf_counter(), is_standard_output(output)
    if is_shown and sys.stdout.isatty():  # printed labels need no progress bar
        run = replace(run, quiet=True)
    with run.progress("labels"), open_writer(output, spreadsheet) as write:
        n_rows = tables.write_clusters(blocks, write).total()
        if not n_rows:
            raise EmptyTableError(f"{table} has no rows.")
    if is_shown:
        return
    seconds = round(time.perf_counter() - start, 3)
    result = {"rows": n_rows, "seconds": seconds, "output": output}
    run.say(result, f"{n_rows} rows labelled; the labels are in {output}", output)


@command(
    "Write a model as ONNX, for services without Python.",
    "eigencut export model.eigencut -o model.onnx",
)
def export(
    *,
    model: str = opt.argument,
    output: str = output("Where the ONNX file goes.", required=True),
    as_json: bool = opt.json_option,
) -> None:
    """Write MODEL as an ONNX graph: rows in; labels, embedding and similarity out.

    The graph also scales columns and fills in missing values. It is written only if onnxruntime
    agrees with the model on the training rows. Needs the extra: pip install 'eigencut[onnx]'.
    """
    check_output("graph", output, [model], as_json)

    from eigencut.cli.tables import load_model

    fitted = load_model(model, None, one_cut=True)
    eigencut.export.to_onnx(fitted, output)
    listed = printable(", ".join(map(shortened, fitted.columns_)))
    result = {"columns": fitted.columns_, "output": output}
    say(as_json, result, f"The model is in {output}; its input X has the columns {listed}", output)


@command("Try everything on generated data.", "eigencut demo --out tour")
def demo(
    *, out: str = option("Files go into this folder.", opt.file, default="eigencut-demo")
) -> None:
    """Write two generated tables, then fit a model, show it, and label rows with it."""
    from sklearn.datasets import make_moons

    folder = Path(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name, n_rows, seed in (("moons", 1000, 0), ("new", 300, 1)):
        X, moon = make_moons(n_rows, noise=0.05, random_state=seed)
        with open_writer(str(folder / f"{name}.csv")) as write:
            write({"x": X[:, 0].round(4), "y": X[:, 1].round(4), "moon": moon})
    for line in (
        "fit {0}/moons.csv --drop moon -k 2 -o {0}/moons.eigencut",
        "info {0}/moons.eigencut",
        "predict {0}/moons.eigencut {0}/new.csv --margin -o {0}/labels.csv",
    ):
        arguments = shlex.split(line.format(shlex.quote(out)))
        click.echo(f"$ eigencut {shlex.join(arguments)}")
        app.main(arguments, prog_name="eigencut", standalone_mode=False)
        click.echo()
    click.echo(f"$ head -n 4 {shlex.quote(f'{out}/labels.csv')}")
    click.echo("".join((folder / "labels.csv").open().readlines()[:4]), nl=False)


class CommandsInOrder(click.Group):
    """A group that lists its commands in the given order, not alphabetically."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


@click.command(
    cls=CommandsInOrder,
    commands=[
        *(fit, predict, update, drift, select, assess),
        *(describe, report, hierarchy, recluster, info, export, demo),
    ],
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
    epilog="""\b
Examples:
  eigencut fit data.csv -k 3 -o model.eigencut
  eigencut predict model.eigencut new.csv -o labels.csv
  eigencut fit --help

Exit codes: 0 done, 1 a problem with the data or the model,
2 wrong usage or a table without rows.""",
)
@click.version_option(eigencut.__version__, prog_name="eigencut")
@click.option(
    "--debug", is_flag=True, help="Show where an error comes from (anywhere on the line)."
)
def app(debug: bool) -> None:
    """Spectral clustering that generalizes: fit once, label data it has never seen."""
