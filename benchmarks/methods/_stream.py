"""Rows that are read from their file in blocks. The data set must be one on disk."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from benchmarks.data import Array, Labels
from benchmarks.harness.problem import Problem

if TYPE_CHECKING:
    from eigencut import GPOD
    from eigencut.io.rows import Rows

FEW = 1_000_000  # rows that are enough to score a model, or to have one


def file_of(X: Array) -> Path:
    """The file behind a memory map."""
    return Path(X.filename)  # type: ignore[attr-defined]


def rows_of(problem: Problem) -> Rows:
    from eigencut.io.rows import Rows

    return Rows.from_file(file_of(problem.X))


def labelled(model: GPOD, problem: Problem) -> Any:
    """Labels of all rows, in a file beside theirs, as a memory map."""
    path = file_of(problem.X).with_name("labels.npy")
    model.predict_stream(rows_of(problem), path)
    return np.load(path, mmap_mode="r")


def first_labels(problem: Problem, model: GPOD) -> Labels:
    return np.asarray(model.predict(problem.X[:FEW]))
