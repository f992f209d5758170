"""Moons in a file that is mapped into memory, for more rows than one process should hold."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from pathlib import Path

import numpy as np

from benchmarks.data import Sample
from benchmarks.data.moons import rows as moons

_BLOCK = 1_000_000  # rows that are made at a time


def rows(n: int, seed: int, *, d: int, K: int, noise: float) -> Sample:
    """Rows and classes as maps of ``.npy`` files, which go when the rows are not used any more."""
    folder = Path(tempfile.mkdtemp(prefix="eigencut-benchmark-"))
    files = folder / "rows.npy", folder / "classes.npy"
    X = np.lib.format.open_memmap(files[0], "w+", np.dtype(np.float64), (n, d))
    y = np.lib.format.open_memmap(files[1], "w+", np.dtype(np.int8), (n,))
    for number, start in enumerate(range(0, n, _BLOCK)):
        block = slice(start, start + _BLOCK)
        X[block], y[block], _ = moons(len(y[block]), seed + number, d=d, K=K, noise=noise)
    del X, y  # written pages count as memory of the process as long as they are mapped
    X, y = (np.load(file, mmap_mode="r") for file in files)
    weakref.finalize(X, shutil.rmtree, folder, ignore_errors=True)
    return X, y, K
