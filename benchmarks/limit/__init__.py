"""The hardware limit: the fused C kernel alone, compiled here and now for this very machine."""

from __future__ import annotations

import ctypes
import math
import os
import shutil
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Array
from benchmarks.harness.method import NotInstalled
from eigencut.kernels import WeightedSums
from eigencut.kernels.numpy_kernels import LAYOUT, SOURCES, padded

_SOURCE = SOURCES / "weighted_sums.c"
_FLAGS = ("-std=gnu11", "-O3", "-march=native", "-shared", "-fPIC", "-DNAME=weighted_sums")
_C_NAMES = {"float32": "float", "float64": "double"}
_CHUNK_ROWS = 4096


@cache
def compiled(dtype: str) -> WeightedSums:
    """The kernel in this precision, from the system's compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise NotInstalled("a C compiler (cc)")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / f"weighted_sums_{dtype}.so"
        bits = 8 * np.dtype(dtype).itemsize
        kind = (f"-DREAL={_C_NAMES[dtype]}", f"-DREAL_BITS={bits}")
        command = [compiler, *_FLAGS, *kind, str(_SOURCE), "-o", str(library)]
        subprocess.run(command, check=True)
        return WeightedSums(ctypes.CDLL(str(library)), dtype)  # stays when the file is gone


@dataclass(frozen=True)
class MultiplyExp:
    """``W(x, Y) @ V`` for rows x, with everything about Y and V prepared."""

    sums: WeightedSums
    center: Array
    unit: float
    right: Any  # [y, -1, -|y|^2] in units, padded
    V: Any

    @classmethod
    def of(cls, Y: Array, V: Array, sigma: float, dtype: str) -> MultiplyExp:
        # exp(-|x - y|^2 / (2 sigma^2)) = 2^(-|u x - u y|^2)
        unit = math.sqrt(math.log2(math.e) / 2) / sigma
        center = Y.mean(axis=0)
        scaled = (Y - center) * unit
        right = np.column_stack([scaled, -np.ones(len(Y)), -_squares(scaled)])
        prepared = (padded(array.astype(dtype), LAYOUT.rows_multiple) for array in (right, V))
        return cls(compiled(dtype), center, unit, *prepared)

    def rows(self, X: Array) -> Any:
        """New rows as the kernel wants them: [2x, |x|^2, 1] in units."""
        scaled = (X - self.center) * self.unit
        left = np.column_stack([2 * scaled, _squares(scaled), np.ones(len(X))])
        return left.astype(self.right.dtype)

    def __call__(self, rows: Any, threads: int) -> Any:
        product = np.empty((len(rows), self.V.shape[1]))

        def fill(start: int) -> None:
            chunk = slice(start, start + _CHUNK_ROWS)
            product[chunk] = self.sums(rows[chunk], self.right, self.V)

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(fill, range(0, len(rows), _CHUNK_ROWS)))
        return product


def _squares(rows: Array) -> Array:
    return np.einsum("ij,ij->i", rows, rows)
