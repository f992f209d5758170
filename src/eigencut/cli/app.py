"""All commands: each is a function whose defaults are its options (see ``options.command``)."""

from __future__ import annotations

import shlex
import sys
import time
from contextlib import nullcontext
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import click

import eigencut
from eigencut.cli import options as opt
from eigencut.cli.options import command, option, output
from eigencut.cli.outputs import check_output, is_standard_output, open_writer, say
from eigencut.exceptions import EmptyTableError, printable


@command(
    "Find clusters in a table and save the model.",
    "eigencut fit data.csv -k 3 -o model.eigencut",
    "eigencut fit clients.csv --ordered 'size=small<medium<large' --date joined -o model.eigencut",
    "eigencut fit data.parquet --drop class --missing median -o model.eigencut",
    "eigencut fit embeddings.npy --metric cosine -k 20 -o model.eigencut",
    "eigencut fit huge.parquet --landmarks 1000 -k 10 -o model.eigencut",
    "zcat data.csv.gz | eigencut fit - -k 2 --sigma 0.5 --scale none -o model.eigencut",
)
def fit(
    *,
    table: str = opt.argument,
    output: str = output("Where the model goes.", required=True),
    clusters: int | str = option(
        "How many, auto, or candidates like 2-30.", opt.clusters, "-k --clusters", default="auto"
    ),
    cut: str = opt.cut_option,
    min_size: Any = option(
        "The least size of a cluster: rows, a share of them, or equal.", opt.cluster_size
    ),
    max_size: Any = option("The largest size of a cluster, in the same way.", opt.cluster_size),
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
        "Memory the fit may take beyond the table, e.g. 4GB. Default: what there is.", opt.memory
    ),
    run: opt.TableOptions,
) -> None:
    """Find clusters in TABLE (CSV, Parquet, NPY, or - for standard input) and save the model.

    Columns, what they hold, their units and what is done about missing values are part of the
    model. With landmarks a file is read in blocks, a few times, and memory does not grow with
    it; not so standard input, and with --sample or --known.
    """
    check_output("table", labels, [table], run.as_json, "--labels", other=output)
    check_output("model", output, [table], run.as_json)
    affinity = how.affinity()
    run = run.with_scale_for(how.metric)

    from eigencut.cli import tables

    gpod = eigencut.GPOD(
        clusters,
        cut=cut,
        affinity=affinity,
        metric=how.metric,
        min_cluster_size=min_size,
        max_cluster_size=max_size,
        outliers=outliers,
        random_state=run.seed,
        n_jobs=run.jobs,
        memory_limit=memory_limit,
    )
    start = time.perf_counter()
    in_blocks = how.name == "landmarks" and run.sample is None and known is None
    model, labelled = tables.fit_table(gpod, table, in_blocks, known, run)
    gpod, seconds = model.gpod, time.perf_counter() - start
    with (
        run.progress("labels"),
        open_writer(labels, spreadsheet, lambda: model.save(output)) as write,
    ):
        sizes = tables.write_clusters(labelled, write)
    result = {
        "rows": sizes.total(),
        "rows_fitted": gpod.affinity_.n_rows_,
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
    n_fitted, n_rows = gpod.affinity_.n_rows_, sizes.total()
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
    "Choose the number of clusters and the bandwidth.",
    "eigencut select data.csv",
    "eigencut select data.csv -k 2-6 --sigma local,median -o model.eigencut",
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
    sigma: Any = option(
        "Candidates: numbers or rules, separated by commas.", opt.bandwidths, default="auto"
    ),
    metric: str | None = opt.metric_option,
    cut: str = opt.cut_option,
    output: str | None = output("Save the best model there."),
    run: opt.TableOptions,
) -> None:
    """Compare numbers of clusters (and bandwidths) on TABLE; the best one first."""
    check_output("model", output, [table], run.as_json)
    run = run.with_scale_for(metric)

    from eigencut.cli import tables

    affinity: Any = "auto"
    if sigma != ["auto"]:
        affinity = [eigencut.Gaussian(width, metric=metric or "euclidean") for width in sigma]
    how = dict(n_clusters=clusters, affinity=affinity, cut=cut, metric=metric)
    best, model = tables.select_table(table, run, **how)
    result = best.to_dict() | {"n_clusters": best.best.n_clusters, "output": output}
    text = str(best)
    if output is not None:
        model.save(output)
        text += f"\nThe best model is in {output}"
    run.say(result, text, output)


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
        "What each earlier row counts from now on, at most 1.", opt.whole_share, default=1.0
    ),
    weights: str | None = opt.weights_option,
    run: opt.RunOptions,
) -> None:
    """Add the rows of TABLE (CSV, Parquet, NPY, or - for standard input) to MODEL.

    Clusters that go on keep their numbers, new ones get numbers that were never given, and those of
    clusters that have gone are not given again. With landmarks only TABLE is read, in blocks; other
    models are fitted again on the rows that they keep and these.
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
    "Give the clusters of a model the numbers of another's.",
    "eigencut align march.eigencut february.eigencut -o march.eigencut",
    "eigencut align march.eigencut february.eigencut march.csv -o aligned.eigencut",
)
def align(
    *,
    model: str = opt.argument,
    reference: str = opt.argument,
    table: str | None = opt.argument,
    output: str = output(
        "Where the model with other numbers goes; it may replace MODEL.", required=True
    ),
    run: opt.RunOptions,
) -> None:
    """Give the clusters of MODEL the numbers that they have in REFERENCE, over the same columns.

    Clusters are compared on the rows of TABLE, or on what REFERENCE keeps of those that it has
    seen. One that shares no more than half of its rows with any cluster of REFERENCE, or of that
    one's rows, gets a number that REFERENCE has never given.
    """
    check_output("model", output, [reference, table], run.as_json)

    from eigencut.cli import tables
    from eigencut.updating.alignment import renumbered

    fitted = tables.load_model(model, run.jobs, one_cut=True)
    other = tables.load_model(reference, run.jobs, one_cut=True)
    rows = None if table is None else tables.read_for_model(fitted, table, run)
    with run.progress("labels"):
        aligned = eigencut.align_labels(fitted, other, rows)
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


@command(
    "Split one cluster; the others stay as they are.",
    "eigencut recluster model.eigencut data.csv --cluster 3 -k 2 -o finer.eigencut",
    "eigencut recluster model.eigencut --cluster 3 -o finer.eigencut",
    "eigencut predict finer.eigencut new.csv -o labels.csv",
)
def recluster(
    *,
    model: str = opt.argument,
    table: str | None = opt.argument,
    cluster: int = option("The cluster to split.", opt.number(0), required=True),
    clusters: int | str = option("Its parts, or auto.", opt.clusters, "-k --clusters", default="2"),
    output: str = output("Where the new model goes.", required=True),
    run: opt.RunOptions,
) -> None:
    """Split a cluster of MODEL into parts, by the rows of TABLE that belong to it.

    Without TABLE by the rows of the fit, which all models but those of landmarks have kept.
    The largest part keeps the number of the cluster, the others have the next free numbers; all
    other clusters stay what they are.
    """
    check_output("model", output, [table, model], run.as_json)

    from eigencut.cli import tables
    from eigencut.hierarchy.recluster import sizes_of_parts

    fitted = tables.load_model(model, run.jobs)
    rows = None if table is None else tables.read_for_model(fitted, table, run)
    with run.progress("fit"):
        finer = eigencut.recluster(fitted, rows, cluster=cluster, n_clusters=clusters)
    finer.save(output)
    numbers = finer.splits_[-1].numbers.tolist()
    sizes = sizes_of_parts(finer, rows)
    parts = ", ".join(f"{k} ({size} rows)" for k, size in zip(numbers, sizes, strict=True))
    result = {
        "cluster": cluster,
        "parts": numbers,
        "sizes": sizes,
        "output": output,
        "n_clusters": finer.n_clusters_,
    }
    run.say(result, f"Cluster {cluster} is now {parts}\nThe model is in {output}", output)


@command(
    "Show what is in a model file.",
    "eigencut info model.eigencut",
    "eigencut info model.eigencut --verify --json",
)
def info(
    *,
    model: str = opt.argument,
    verify: bool = option("Read all of it and compare every SHA-256."),
    as_json: bool = opt.json_option,
) -> None:
    """Show what is in the file MODEL: columns, clusters, parameters, versions, arrays."""
    from eigencut.io.model_format import read_header, verified_header

    header = verified_header(model) if verify else read_header(model)
    try:
        result = _facts(header)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{model} is not what eigencut writes; save the model again.") from error
    result |= {"file": model, "verified": verify}
    say(as_json, result, _text_of_facts(result))


def _facts(header: Any) -> dict[str, Any]:
    """Plain facts from the header; nothing of it is run, or turned into a model."""
    content, saved = header.content, header.content["model"]
    kind, n_split = saved["class"], 0
    if kind == "Reclustered":  # parts are models too: what is said here is of the base
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


def _clipped(name: str) -> str:
    """Return the name of a column, cut short where it fills a screen."""
    return name if len(name) <= 60 else f"{name[:57]}..."


def _text_of_facts(result: dict[str, Any]) -> str:
    parameters, affinity = result["parameters"], result["affinity"]
    given = ", ".join(f"{name}={value!r}" for name, value in affinity["parameters"].items())
    columns = result["columns"]
    kinds = result["kinds"] or ["numeric"] * len(columns or ())
    named = [
        _clipped(name) + ("" if kind == "numeric" else f" ({kind})")
        for name, kind in zip(columns or (), kinds, strict=True)
    ]
    units = f"scale {result['scale']}, missing {result['missing']}" if result["scale"] else "none"
    if result["divides_columns"]:
        units = "each column divided by its spread (column_scales_)"
    is_right = "every SHA-256 is right" if result["verified"] else "not verified (--verify)"
    lines = {
        "clusters": f"{result['n_clusters']}, fitted on {result['rows_fitted']} rows",
        "columns": ", ".join(named) or "without names",
        "preparation": units,
        "cut": f"{parameters['cut']}, outliers {parameters['outliers']}",
        "affinity": f"{affinity['class']}({given})",
        "compared": "; ".join(f"{name}: {score:.2f}" for name, score in result["choice"])
        or "nothing, the affinity was given",
        "written by": ", ".join(f"{k} {v}" for k, v in result["written_by"].items()),
        "file": f"{result['bytes']} bytes, format {result['format']}, "
        f"{len(result['arrays'])} arrays, {is_right}",
    }
    return "\n".join(f"{name:<12} {printable(text)}" for name, text in lines.items())


@command(
    "Say what each cluster is: columns, rules, typical rows.",
    "eigencut describe model.eigencut data.csv",
    "eigencut describe model.eigencut letters.parquet --documents text",
    "eigencut describe model.eigencut new.csv --outliers",
)
def describe(
    *,
    model: str = opt.argument,
    table: str = opt.argument,
    documents: str | None = option(
        "A column of texts, for the words of the clusters.", opt.column_name
    ),
    outliers: bool = option("Also explain the rows that are unlike all clusters."),
    run: opt.RunOptions,
) -> None:
    """Say what each cluster of MODEL is, on the rows of TABLE: those of the fit, or others.

    Its size, the columns that distinguish it, a rule of at most three conditions, and typical rows
    by their lines in TABLE.
    """
    from eigencut.cli.tables import load_model, read_for_model

    fitted = load_model(model, run.jobs)
    rows = read_for_model(fitted, table, run, documents=documents)
    description = fitted.describe(rows, documents=rows.ids)
    result, text = description.to_dict(), str(description)
    if outliers:
        explained = fitted.explain_outliers(rows)
        result["outliers"] = explained.to_dict()
        text += f"\n\n{explained}"
    run.say(result, text)


@command(
    "Show the clusters as a tree of coarser cuts.",
    "eigencut hierarchy model.eigencut",
)
def hierarchy(*, model: str = opt.argument, as_json: bool = opt.json_option) -> None:
    """Show the clusters of MODEL as a tree, from one group of all rows to single clusters.

    A group has the smallest number of its clusters. No table is needed.
    """
    tree = eigencut.load(model).hierarchy()
    groups = {str(k): tree.labels(k).tolist() for k in range(1, len(tree.sizes) + 1)}
    say(as_json, tree.to_dict() | {"groups": groups}, str(tree))


@command(
    "Say how the rows of a table differ from those of a model.",
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
    """Say how the rows of TABLE differ from those that MODEL has seen; MODEL stays as it is.

    Rows unlike the training rows, the shares of clusters and the value of the cut, before and now,
    each with a p-value: how often chance alone would make as large a difference. And whether a new
    cluster stands out.
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
    "Say how far a model can be trusted on new data.",
    "eigencut assess model.eigencut heldout.csv",
    "eigencut assess model.eigencut heldout.csv --significance --stability --sets",
)
def assess(
    *,
    model: str = opt.argument,
    table: str | None = opt.argument,
    delta: float = option("How often the bounds may fail.", opt.share, default=0.05),
    significance: bool = option("Ask whether the rows are one cluster: 200 refits."),
    stability: bool = option("Count how often labels stay: 30 refits."),
    sets: bool = option("Calibrate label sets on TABLE: 20 refits."),
    theory: bool = option("Show the paper's errors and bounds, too."),
    weights: str | None = opt.weights_option,
    run: opt.RunOptions,
) -> None:
    """Say how far MODEL can be trusted; on rows of TABLE that it was not fitted on, if given."""
    if sets and table is None:
        raise click.UsageError("--sets needs a TABLE of rows that the model was not fitted on.")
    if weights is not None and table is None:
        raise click.UsageError("--weights names a column of TABLE, which is not given.")
    if sets and weights is not None:
        raise click.UsageError("--sets does not work with --weights; leave one out.")

    from eigencut.cli.tables import load_model, read_for_model

    fitted = load_model(model, run.jobs, one_cut=True)
    gpod, ask, counts = fitted.gpod, eigencut.inspection, None
    preparing: Any = nullcontext((None, None))
    if table is not None:
        whole = read_for_model(fitted, table, run, weights=weights)
        counts, preparing = whole.weight, fitted.preparing(whole)
    with preparing as (rows, complete), run.progress("refits"):
        counts = None if counts is None else counts[complete]
        chance = ask.significance(gpod) if significance else None
        stable = ask.stability(gpod) if stability else None
        label_sets = ask.label_sets(gpod, rows) if sets else None
        summary = ask.assess(
            gpod,
            rows,
            delta,
            sample_weight=counts,
            significance=chance,
            stability=stable,
            theory=theory,
        )
    result = summary.to_dict()
    if label_sets is not None:
        result["label_sets"] = label_sets.to_dict()
    parts = [part for part in (summary, chance, stable, label_sets) if part is not None]
    run.say(result, "\n\n".join(map(str, parts)))


@command(
    "Write a page on a model: clusters, doubt, choice, risk.",
    "eigencut report model.eigencut data.csv -o report.html",
    "eigencut report model.eigencut data.csv --new today.csv -o report.html",
    "eigencut report model.eigencut data.csv --name 0=regulars --name 1=visitors --json",
)
def report(
    *,
    model: str = opt.argument,
    table: str | None = opt.argument,
    output: str | None = output("Write it there: .html, .json or .txt. Default: print it."),
    new: str | None = option("Rows that the model was not fitted on, to judge it.", opt.file),
    documents: str | None = option("A column of texts in TABLE, for words.", opt.column_name),
    names: tuple[tuple[int, str], ...] = option(
        "What cluster N is called, e.g. 0=regulars.", opt.cluster_name, "--name"
    ),
    title: str | None = option("Title of the report. Default: the name of MODEL.", str),
    refits: int = option(
        "Fits on samples, for stability; 0 leaves it out.", opt.number(0), default=10
    ),
    seed: int = opt.seed_option,
    run: opt.RunOptions,
) -> None:
    """Report on MODEL: a summary in plain words, clusters, doubt, choice, risk and stability.

    TABLE has the rows of the fit, or others like them; without it those are taken that the model
    has kept. A page (.html) is one file that needs no network.
    """
    check_output("report", output, [model, table, new], run.as_json)
    if documents is not None and table is None:
        raise click.UsageError("--documents names a column of TABLE, which is not given.")
    if "-" == table == new:
        raise click.UsageError("TABLE and --new cannot both be standard input; name a file.")
    name_of: dict[int, str] = {}
    for number, name in names:
        if name_of.setdefault(number, name) != name:
            raise click.UsageError(
                f"--name gives cluster {number} two names, {name_of[number]!r} and {name!r}; "
                "leave one out."
            )

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
            names=name_of,
            title=Path(model).stem if title is None else title,
            data=", ".join(
                f"{kind} {Path(given).name}"
                for kind, given in (("rows", table), ("new rows", new))
                if given not in (None, "-")
            ),
            stability=refits > 0,
            n_refits=max(refits, 1),
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
    id_column: str | None = option("A column to copy, which names rows.", opt.column_name, "--id"),
    margin: bool = option("Also how clearly a row belongs to its cluster."),
    proba: bool = option("Also the probability of each cluster, in columns p0, p1, ..."),
    support: bool = option("Also the similarity to the training rows."),
    levels: list[int] | str | None = option(
        "Also the groups at these levels: numbers of groups such as 20,5, or auto.", opt.levels
    ),
    min_children: int = option(
        "The least number of groups that make a coarser group.", opt.number(1), default=1
    ),
    spreadsheet: bool = opt.spreadsheet_option,
    run: opt.RunOptions,
) -> None:
    """Label the rows of TABLE (CSV, Parquet, NPY, or - for standard input) with MODEL.

    The output has a line for each row: its cluster, the same number as at the fit; -1 for an
    outlier (fit --outliers label) or a row with missing values (fit --missing drop). Where classes
    had names (fit --known) a column cluster_name has them.
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
    groups = fitted.hierarchy().levels(levels, min_children) if levels else ()

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
    if is_shown and sys.stdout.isatty():  # the labels show how far it is
        run = replace(run, quiet=True)
    with run.progress("labels"), open_writer(output, spreadsheet) as write:
        n_rows = tables.write_clusters(blocks, write).total()
        if not n_rows:
            raise EmptyTableError(f"{table} has no rows.")
    if is_shown:
        return
    seconds = time.perf_counter() - start
    result = {"rows": n_rows, "seconds": round(seconds, 3), "output": output}
    run.say(result, f"{n_rows} rows labelled; the labels are in {output}", output)


@command(
    "Write a model as ONNX, for services without Python.",
    "eigencut export model.eigencut -o model.onnx",
    "eigencut export model.eigencut --dtype float32 -o small.onnx",
)
def export(
    *,
    model: str = opt.argument,
    output: str = output("Where the ONNX file goes.", required=True),
    dtype: str = option(None, ["float64", "float32"], default="float64"),
    as_json: bool = opt.json_option,
) -> None:
    """Write MODEL as an ONNX graph: rows in; labels, embedding and similarity out.

    Units and missing values are part of the graph. onnxruntime must agree with the model on the
    training rows before anything is written. Needs the extra: pip install 'eigencut[onnx]'.
    """
    check_output("graph", output, [model], as_json)

    from eigencut.cli.tables import load_model

    fitted = load_model(model, None, one_cut=True)
    eigencut.export.to_onnx(fitted, output, dtype=dtype)
    result = {"columns": fitted.columns_, "dtype": dtype, "output": output}
    text = (
        f"The graph is in {output}; input X: {printable(', '.join(map(_clipped, fitted.columns_)))}"
    )
    say(as_json, result, text, output)


@command(
    "Make one labelling from several.",
    "eigencut consensus labels.csv -k 5 -o consensus.csv",
    "eigencut consensus labels.csv --columns anna,ben,model -k 5 --id row -o consensus.csv",
)
def consensus(
    *,
    table: str = opt.argument,
    output: str = output("CSV, CSV.GZ or Parquet by its name.", default="-", show_default=False),
    clusters: int = option("How many.", opt.number(1), "-k --clusters", required=True),
    columns: tuple[str, ...] = option("The labellings. Default: all columns.", opt.column_names),
    id_column: str | None = option("A column to copy, which names rows.", opt.column_name, "--id"),
    seed: int = opt.seed_option,
    run: opt.RunOptions,
) -> None:
    """Make one labelling from several: each column of TABLE has a label for every row.

    Labels are numbers or words; -1 or nothing means none. The output has the cluster of each row,
    and its agreement: how much of the clusters that it was put in went the same way.
    """
    check_output("table", output, [table], run.as_json)

    from eigencut.cli import tables

    labels, ids = tables.labellings(table, columns, id_column, run)
    with run.progress("consensus"):
        found = eigencut.consensus(labels, clusters, random_state=seed)
    answer = {"cluster": found.labels, "agreement": found.agreement}
    with open_writer(output) as write:
        write(({} if id_column is None else {id_column: ids}) | answer)
    if not is_standard_output(output):
        mean = float(found.agreement.mean())
        result = {"rows": len(found.labels), "agreement": mean, "output": output}
        text = f"{len(found.labels)} rows labelled, mean agreement {mean:.2f}; they are in {output}"
        run.say(result, text, output)


@command("Try everything on generated data.", "eigencut demo --out tour")
def demo(
    *, out: str = option("Files go into this folder.", opt.file, default="eigencut-demo")
) -> None:
    """Write two tables of moons, then fit, look at and use a model of them."""
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


class Group(click.Group):
    """Commands in the order in which they are listed; of unknown ones it says what was meant."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0] if arguments else ""
        if name and name not in self.commands and not name.startswith("-"):
            hint = f"There are {', '.join(self.commands)}."
            for meant in get_close_matches(name.lower(), self.commands, n=1):
                hint = f"Did you mean {meant!r}?"
            context.fail(f"No such command {name!r}. {hint}")
        return super().resolve_command(context, arguments)


@click.command(
    cls=Group,
    commands=[
        *(fit, predict, update, drift, align, select, assess),
        *(describe, report, hierarchy, recluster, consensus, info, export, demo),
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
