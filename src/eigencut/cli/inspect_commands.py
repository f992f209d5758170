"""Commands that tell about models: ``info``, ``describe``, ``hierarchy``, ``drift``, ``assess`` and
``report``."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from eigencut.cli import options as opt
from eigencut.cli.outputs import Output, check_outputs, say
from eigencut.exceptions import printable


@opt.command("info", "eigencut info model.eigencut", "eigencut info model.eigencut --verify --json")
@opt.argument("model")
@opt.flag("--verify", "Read all of it and compare every SHA-256.")
@opt.as_json
def info(model: str, verify: bool, as_json: bool) -> None:
    """Show what is in the file MODEL: columns, clusters, parameters, versions, arrays."""
    from eigencut.io.model_format import read_header, verified_header

    header = verified_header(model) if verify else read_header(model)
    try:
        result = _facts(header)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{model} is not what eigencut writes; save the model anew.") from error
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
        name if kind == "numeric" else f"{name} ({kind})"
        for name, kind in zip(columns or (), kinds, strict=True)
    ]
    units = f"scale {result['scale']}, missing {result['missing']}"
    is_right = "every SHA-256 is right" if result["verified"] else "not verified (--verify)"
    lines = {
        "clusters": f"{result['n_clusters']}, fitted on {result['rows_fitted']} rows",
        "columns": ", ".join(named) or "without names",
        "preparation": units if result["scale"] else "none",
        "cut": f"{parameters['cut']}, outliers {parameters['outliers']}",
        "affinity": f"{affinity['class']}({given})",
        "compared": "; ".join(f"{name}: {score:.2f}" for name, score in result["choice"])
        or "nothing, the affinity was given",
        "written by": ", ".join(f"{k} {v}" for k, v in result["written_by"].items()),
        "file": f"{result['bytes']} bytes, format {result['format']}, "
        f"{len(result['arrays'])} arrays, {is_right}",
    }
    return "\n".join(f"{name:<12} {printable(text)}" for name, text in lines.items())


@opt.command(
    "describe",
    "eigencut describe model.eigencut data.csv",
    "eigencut describe model.eigencut data.csv --top 3 --json",
    "eigencut describe model.eigencut letters.parquet --documents text",
)
@opt.argument("model")
@opt.argument("table")
@opt.option("--documents", opt.column, "A column of texts, for the words of the clusters.")
@opt.option("--top", opt.number(1), "Columns that distinguish a cluster, at most.", default=5)
@opt.option("--typical", opt.number(0), "Typical rows of a cluster, at most.", default=3)
@opt.option("--confidence", opt.share(), "Of the intervals.", default=0.95)
@opt.run
def describe(
    model: str,
    table: str,
    documents: str | None,
    top: int,
    typical: int,
    confidence: float,
    run: opt.RunOptions,
) -> None:
    """Say what each cluster of MODEL is, on the rows of TABLE: those of the fit, or others.

    Its size, the columns that distinguish it, a rule of at most three conditions, and typical rows
    (row 0 is the first of the table).
    """
    from eigencut.cli.tables import load_model, read_for_model

    fitted = load_model(model, run.jobs)
    block = read_for_model(fitted, table, run, documents=documents)
    description = fitted.describe(
        block.table,
        documents=block.ids,
        n_typical=typical,
        n_columns=top,
        confidence=confidence,
    )
    run.say(description.to_dict(), str(description))


@opt.command(
    "hierarchy",
    "eigencut hierarchy model.eigencut",
    "eigencut hierarchy model.eigencut --json",
)
@opt.argument("model")
@opt.as_json
def hierarchy(model: str, as_json: bool) -> None:
    """Show the clusters of MODEL as a tree, from one group of all rows to single clusters.

    A group has the smallest number of its clusters. No table is needed.
    """
    from eigencut.loading import load

    fitted: Any = load(model)
    tree = fitted.hierarchy()
    groups = {str(k): tree.labels(k).tolist() for k in range(1, len(tree.sizes) + 1)}
    say(as_json, tree.to_dict() | {"groups": groups}, str(tree))


@opt.command(
    "drift",
    "eigencut drift model.eigencut tonight.csv",
    'eigencut drift model.eigencut tonight.csv --alarm 0.001 || echo "look at it"',
    "eigencut drift model.eigencut tonight.parquet --json",
)
@opt.argument("model")
@opt.argument("table")
@opt.option(
    "--alarm",
    opt.share(),
    "Exit with code 3 if the p-value of all tests together is below it, and holds.",
)
@opt.seed
@opt.run
def drift(model: str, table: str, alarm: float | None, seed: int, run: opt.RunOptions) -> None:
    """Say how the rows of TABLE differ from those that MODEL has seen; MODEL stays as it is.

    Rows unlike the training rows, the shares of clusters and the value of the cut, before and now,
    each with a p-value: how often chance alone would make as large a difference. And whether a new
    cluster stands out.
    """
    from eigencut.cli.tables import load_model, read_for_model

    fitted = load_model(model, run.jobs)
    rows = read_for_model(fitted, table, run).table
    with run.progress("drift"):
        change = fitted.drift(rows, random_state=seed)
    run.say(change.to_dict(), str(change))
    if alarm is not None and change.p_values_hold and change.p_value < alarm:
        raise SystemExit(3)


@opt.command(
    "assess",
    "eigencut assess model.eigencut heldout.csv",
    "eigencut assess model.eigencut survey.csv --weights people",
    "eigencut assess model.eigencut --delta 0.01 --json",
    "eigencut assess model.eigencut heldout.csv --significance --stability --sets",
)
@opt.argument("model")
@opt.argument("table", required=False)
@opt.option("--delta", opt.share(), "The bounds may fail that often.", default=0.05)
@opt.flag("--significance", "Ask whether the rows are one cluster: 200 refits.")
@opt.flag("--stability", "Count how often labels stay: 30 refits.")
@opt.flag("--sets", "Calibrate label sets on TABLE: 20 refits.")
@opt.weights
@opt.run
def assess(
    model: str,
    table: str | None,
    delta: float,
    significance: bool,
    stability: bool,
    sets: bool,
    weights: str | None,
    run: opt.RunOptions,
) -> None:
    """Say how far MODEL can be trusted; on rows of TABLE that it was not fitted on, if given."""
    if sets and table is None:
        raise click.UsageError("--sets needs a TABLE of rows that the model was not fitted on.")
    if weights is not None and table is None:
        raise click.UsageError("--weights needs a TABLE, of which it names a column.")
    if sets and weights is not None:
        raise click.UsageError("--sets deals rows out, so it takes no --weights; leave one out.")

    from eigencut import inspection
    from eigencut.cli.tables import load_model, read_for_model
    from eigencut.io.refused_rows import naming_refused_rows

    fitted = load_model(model, run.jobs, one_cut=True)
    gpod, rows, counts = fitted.gpod, None, None
    with ExitStack() as stack:
        if table is not None:
            whole = read_for_model(fitted, table, run, weights=weights).table
            rows, complete = fitted.prepare(whole)
            counts = None if whole.weight is None else whole.weight[complete]
            stack.enter_context(fitted.naming_rows(whole, rows, complete))
            stack.enter_context(naming_refused_rows(rows))
        stack.enter_context(run.progress("refits"))
        chance = inspection.significance(gpod) if significance else None
        stable = inspection.stability(gpod) if stability else None
        label_sets = inspection.label_sets(gpod, rows) if sets and rows is not None else None
        summary = inspection.assess(
            gpod, rows, delta, sample_weight=counts, significance=chance, stability=stable
        )
    result = summary.to_dict()
    if label_sets is not None:
        result["label_sets"] = label_sets.to_dict()
    parts = [part for part in (summary, chance, stable, label_sets) if part is not None]
    run.say(result, "\n\n".join(map(str, parts)))


@opt.command(
    "report",
    "eigencut report model.eigencut data.csv -o report.html",
    "eigencut report model.eigencut data.csv --new today.csv -o report.html",
    "eigencut report model.eigencut data.csv --name 0=regulars --name 1=visitors --json",
)
@opt.argument("model")
@opt.argument("table", required=False)
@opt.output("Write it there: .html, .json or .txt. Default: print it.", required=False)
@opt.option("--new", opt.file, "Rows that the model was not fitted on, to judge it.")
@opt.option("--documents", opt.column, "A column of texts in TABLE, for words.")
@opt.option(
    "--name names",
    opt.cluster_name,
    "What cluster N is called, e.g. 0=regulars.",
    multiple=True,
)
@opt.option("--title", str, "Of the report. Default: the name of the file MODEL.")
@opt.option(
    "--refits", opt.number(0), "Fits on samples, for stability; 0 leaves it out.", default=10
)
@opt.seed
@opt.run
def report(
    model: str,
    table: str | None,
    output: str | None,
    new: str | None,
    documents: str | None,
    names: tuple[tuple[int, str], ...],
    title: str | None,
    refits: int,
    seed: int,
    run: opt.RunOptions,
) -> None:
    """Report on MODEL: a summary in plain words, clusters, doubt, choice, risk and stability.

    TABLE has the rows of the fit, or others like them; without it those are taken that the model
    has kept. A page (.html) is one file that needs no network.
    """
    outputs = [] if output is None else [Output("-o", output, "report")]
    check_outputs(outputs, [model, table, new], run.as_json)
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
    from eigencut.report import summarize
    from eigencut.report.writing import save_summary

    fitted = load_model(model, run.jobs)
    block = None if table is None else read_for_model(fitted, table, run, documents=documents)
    fresh = None if new is None else read_for_model(fitted, new, run)
    with run.progress("report"):
        summary = summarize(
            fitted,
            None if block is None else block.table,
            X_new=None if fresh is None else fresh.table,
            documents=None if block is None else block.ids,
            names=name_of,
            title=Path(model).stem if title is None else title,
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
