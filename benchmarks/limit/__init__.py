"""The hardware limit: a fused C kernel, compiled here and now for this machine."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import Array
from benchmarks.harness.method import NotInstalled

_SOURCE = Path(__file__).with_name("multiply_exp.c")
_FLAGS = ("-std=gnu11", "-O3", "-march=native", "-shared", "-fPIC", "-pthread")
_C_NAMES = {"float32": "float", "float64": "double"}


@cache
def compiled(dtype: str) -> ctypes.CDLL:
    """The kernel in this precision, from the system's compiler."""
    compiler = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        raise NotInstalled("a C compiler (cc)")
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / f"multiply_exp_{dtype}.so"
        bits = 8 * np.dtype(dtype).itemsize
        kind = (f"-DREAL={_C_NAMES[dtype]}", f"-DREAL_BITS={bits}")
        command = [compiler, *_FLAGS, *kind, str(_SOURCE), "-o", str(library)]
        subprocess.run(command, check=True)
        return ctypes.CDLL(str(library))  # stays loaded when the file is gone


@dataclass(frozen=True)
class MultiplyExp:
    """``W(x, Y) @ V`` for rows x, with everything about Y and V prepared."""

    library: ctypes.CDLL
    center: Array
    unit: float
    train: Any  # [-|y|^2, 2y] in units, padded
    V: Any

    @classmethod
    def of(cls, Y: Array, V: Array, sigma: float, dtype: str) -> MultiplyExp:
        library = compiled(dtype)
        padded = -len(Y) % library.padding() + len(Y)
        # exp(-|x - y|^2 / (2 sigma^2)) = 2^(-|u x - u y|^2)
        unit = float(np.sqrt(np.log2(np.e) / 2) / sigma)
        center = Y.mean(axis=0)
        scaled = (Y - center) * unit
        train = np.zeros((padded, Y.shape[1] + 1), dtype=dtype)
        train[len(Y) :, 0] = -1e30  # a row that weighs nothing
        train[: len(Y), 0] = -np.einsum("ij,ij->i", scaled, scaled)
        train[: len(Y), 1:] = 2 * scaled
        values = np.zeros((padded, V.shape[1]), dtype=dtype)
        values[: len(Y)] = V
        return cls(library, center, unit, train, values)

    def rows(self, X: Array) -> Any:
        """New rows as the kernel wants them."""
        return np.ascontiguousarray((X - self.center) * self.unit, dtype=self.train.dtype)

    def __call__(self, rows: Any, threads: int) -> Any:
        product = np.empty((len(rows), self.V.shape[1]), dtype=self.V.dtype)
        arrays = (rows, self.train, self.V, product)
        sizes = (len(rows), len(self.train), rows.shape[1], self.V.shape[1])
        self.library.multiply_exp(
            *(ctypes.c_void_p(array.ctypes.data) for array in arrays),
            *map(ctypes.c_long, sizes),
            ctypes.c_int(threads),
        )
        return product
