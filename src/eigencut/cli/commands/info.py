"""``eigencut info``: what a model file says about itself. Reads the header only."""

from __future__ import annotations

from typing import Any

import click

from eigencut._utils.validation import printable
from eigencut.cli.options import json_option, say
from eigencut.cli.values import FILE


@click.command(
    "info",
    epilog="""\b
Examples:
  eigencut info model.eigencut
  eigencut info model.eigencut --verify --json""",
)
@click.argument("model", type=FILE)
@click.option("--verify", is_flag=True, help="Read all of it and compare every SHA-256.")
@json_option
def command(model: str, verify: bool, as_json: bool) -> None:
    """Show what is in the file MODEL: columns, clusters, parameters, versions, arrays."""
    from eigencut.io.model_format import read_header, verified_header

    header = verified_header(model) if verify else read_header(model)
    try:
        result = _described(header)
    except (AttributeError, KeyError, TypeError) as error:
        raise ValueError(f"{model} is not what eigencut writes; save the model anew.") from error
    result |= {"file": model, "verified": verify}
    say(as_json, result, _text(result))


def _described(header: Any) -> dict[str, Any]:
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
    return {
        "format": header.version,
        "bytes": header.size,
        "written_by": {
            "eigencut": content["eigencut"],
            "Python": content["python"],
            **content["libraries"],
        },
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
            {
                "name": entry.name,
                "dtype": entry.dtype,
                "shape": list(entry.shape),
                "sha256": entry.sha256,
            }
            for entry in header.entries
        ],
    }


def _text(result: dict[str, Any]) -> str:
    parameters, affinity = result["parameters"], result["affinity"]
    given = ", ".join(f"{name}={value!r}" for name, value in affinity["parameters"].items())
    columns = result["columns"]
    lines = {
        "clusters": f"{result['n_clusters']}, fitted on {result['rows_fitted']} rows",
        "columns": ", ".join(_with_kinds(columns, result["kinds"])) if columns else "without names",
        "preparation": f"scale {result['scale']}, missing {result['missing']}"
        if result["scale"]
        else "none",
        "cut": f"{parameters['cut']}, outliers {parameters['outliers']}",
        "affinity": f"{affinity['class']}({given})",
        "compared": "; ".join(f"{name}: {score:.2f}" for name, score in result["choice"])
        or "nothing, the affinity was given",
        "written by": ", ".join(f"{k} {v}" for k, v in result["written_by"].items()),
        "file": f"{result['bytes']} bytes, format {result['format']}, "
        f"{len(result['arrays'])} arrays, "
        + ("every SHA-256 is right" if result["verified"] else "not verified (--verify)"),
    }
    return "\n".join(f"{name:<12} {printable(text)}" for name, text in lines.items())


def _with_kinds(columns: list[str], kinds: list[str]) -> list[str]:
    """Names of columns, and what those hold that hold no numbers."""
    pairs = zip(columns, kinds or ["numeric"] * len(columns), strict=True)
    return [name if kind == "numeric" else f"{name} ({kind})" for name, kind in pairs]
