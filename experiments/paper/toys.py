"""Figure 1: circles and moons, 2000 rows to fit on and 500 unseen ones, both cuts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from eigencut.affinities import Gaussian
from eigencut.cut import CUTS
from eigencut.gpod import GPOD
from experiments.paper.datasets import paper_circles, paper_moons
from experiments.paper.fits import paper_extension
from experiments.paper.plotting import COLORS, save, subplots
from experiments.paper.published import CUT_TITLES, TOY_SIGMAS
from experiments.paper.scores import accuracy

DATA = {"circles": paper_circles, "moons": paper_moons}
SEEDS = (0, 1)  # of the training and of the unseen rows
LITERAL, SENSIBLE, SQUARE, DEFAULT = "paper", "2 sigma^2 = s", "sigma^2 = s", "default"
FORMS = {"consistent": "consistent", "paper": "Algorithm 1"}  # of RatioCut's functions


def readings(cut: str) -> dict[str, Any]:
    """The affinities that are compared: readings of the paper's sigma, and the default.

    The paper's weight is exp(-d^2 / (2 sigma^2)); read so, its 0.0006 leaves no two rows connected.
    With s = 0.0006, exp(-d^2 / s) and exp(-d^2 / (2 s)) both give the figure as it is printed.
    """
    s = TOY_SIGMAS[cut]
    return {
        LITERAL: Gaussian(sigma=s),
        SENSIBLE: Gaussian(sigma=math.sqrt(s / 2)),
        SQUARE: Gaussian(sigma=math.sqrt(s)),
        DEFAULT: Gaussian(),
    }


def compute(n: int, m: int) -> list[dict[str, Any]]:
    """A record for each set, cut, reading and form; labels are digits, and none if refused."""
    records = []
    for name, make in DATA.items():
        (X, _), (new, truth) = make(n, SEEDS[0]), make(m, SEEDS[1])
        for cut in CUT_TITLES:
            for reading, affinity in readings(cut).items():
                record = {"set": name, "cut": cut, "reading": reading, "n": n, "m": m}
                try:
                    model = GPOD(2, cut=cut, affinity=affinity).fit(X)
                except ValueError as error:
                    records.append({**record, "error": str(error)})
                    continue
                record["sigma"] = float(f"{model.affinity_.sigma_:.4g}")
                record["pieces"] = model.n_components_found_
                for form, answering in _forms(model, X).items():
                    labels = answering.predict(new)
                    batch = answering.predict_batch(new, init="random").labels
                    found = {"accuracy": accuracy(truth, labels), "batch": accuracy(truth, batch)}
                    drawn = {"train": _digits(model.labels_), "unseen": _digits(labels)}
                    records.append({**record, "form": form, **found, **drawn})
    return records


def _forms(model: GPOD, X: Any) -> dict[str, GPOD]:
    """The model in each form of its extension; NCut's two are the same, Algorithm 2."""
    if CUTS[model.cut].paper_extension == "consistent":
        return {"consistent": model}
    return {"consistent": model, "paper": paper_extension(model, X)}


def _digits(labels: Any) -> str:
    return "".join(map(str, labels.tolist()))


def table(results: Mapping[str, Any]) -> str:
    """One row for each set, cut, form and reading of sigma."""
    lines = [
        "| data | cut | sigma | ACC of `predict`, unseen | ACC of `predict_batch` | pieces |",
        "|---|---|---|---|---|---|",
    ]
    for r in results["toys"]:
        start = f"| {r['set']} | {_title(r['cut'], r.get('form'))} | {r['reading']}"
        if "error" in r:
            lines.append(f"{start} | refused | refused | |")
        else:
            lines.append(
                f"{start}: {r['sigma']:g} | {r['accuracy']:.1f} % | {r['batch']:.1f} % "
                f"| {r['pieces']} |"
            )
    errors = sorted({r["error"] for r in results["toys"] if "error" in r})
    return "\n".join([*lines, *(f"\nWhere it is refused, the message is: *{e}*" for e in errors)])


def _title(cut: str, form: str | None) -> str:
    """The cut, and of RatioCut in which form."""
    has_two = CUTS[cut].paper_extension != "consistent"
    return f"{CUT_TITLES[cut]}, {FORMS[form]}" if has_two and form else CUT_TITLES[cut]


ROWS = (("", ""), ("ratiocut", "paper"), ("ratiocut", "consistent"), ("ncut", "consistent"))


def draw(results: Mapping[str, Any], folder: Path) -> None:
    """The paper's figure (data, RatioCut, NCut), in a reading that works and in the literal.

    RatioCut is there twice: by Algorithm 1, as in the paper, and in the consistent form.
    """
    for reading, name in ((SENSIBLE, "figure1"), (LITERAL, "figure1-literal")):
        records = {
            (r["set"], r["cut"], r.get("form")): r
            for r in results["toys"]
            if r["reading"] == _drawn(reading, r["cut"])
        }
        figure, axes = subplots(4, 4, figsize=(12, 10.5))
        columns = [(s, part) for part in ("train", "unseen") for s in DATA]
        for column, (set_name, part) in enumerate(columns):
            for row, (cut, form) in enumerate(ROWS):
                axis = axes[row, column]
                asked = set_name, cut or "ncut", form or "consistent"
                record = records.get(asked) or records[*asked[:2], None]
                _panel(axis, record, part, colored=bool(cut))
                if row == 0:
                    axis.set_title(f"{set_name}, {'original' if part == 'train' else 'unseen'}")
                if column == 0:
                    axis.set_ylabel(_title(cut, form) if cut else "data")
        save(figure, folder, name)


def _panel(axis: Any, record: Mapping[str, Any], part: str, colored: bool) -> None:
    size, seed = (record["n"], SEEDS[0]) if part == "train" else (record["m"], SEEDS[1])
    X, _ = DATA[record["set"]](size, seed)
    colors: Any = "#777777"
    if colored and part in record:
        colors = np.array(COLORS)[np.array(list(record[part]), dtype=int)]
    elif colored:
        axis.set_xlabel("refused")
    axis.scatter(*X.T, s=3, c=colors, rasterized=True)
    axis.set(xticks=[], yticks=[], aspect="equal")


def _drawn(reading: str, cut: str) -> str:
    """The paper's figure needs its literal sigma for NCut and the other reading for RatioCut."""
    literal_works = TOY_SIGMAS[cut] >= 0.01
    return LITERAL if reading == SENSIBLE and literal_works else reading
