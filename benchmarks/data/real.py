"""Real data sets: bundled with scikit-learn, or files in ``../shared/data``."""

from __future__ import annotations

import csv
from functools import cache

import numpy as np

from benchmarks import ROOT
from benchmarks.data import Array, Labels, NoData

_SHARED = ROOT.parent / "shared" / "data"


@cache
def read_paper_data(name: str) -> tuple[Array, Labels]:
    """Rows of numbers and a class; a header and rows with missing values are left out."""
    with (_SHARED / "paper" / f"{name}.data").open(newline="") as file:
        rows = [row for row in csv.reader(file) if row and "?" not in row]
    if name == "mammographic":
        rows = rows[1:]
    X = np.array([row[:-1] for row in rows], dtype=float)
    return X, np.unique([row[-1] for row in rows], return_inverse=True)[1]


def read_digits(name: str) -> tuple[Array, Labels]:
    """Images of digits and letters, and their classes."""
    from scipy.io import loadmat
    from sklearn.datasets import load_digits

    if name == "digits":
        return load_digits(return_X_y=True)
    path = _SHARED / "digits" / f"{name}.mat"
    if not path.exists():
        raise NoData(f"{name}.mat must be in ../shared/data/digits. It is not there.")
    content = loadmat(path)
    return content["fea"].astype(float), content["gt"].ravel().astype(int)
