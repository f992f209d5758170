"""Sparse matrices in files, as ``scipy.sparse.save_npz`` writes them.

Nothing in such a file is trusted: no object is unpickled, no more is read than the archive says
that it holds, and that must fit into memory.
"""

from __future__ import annotations

import lzma
import struct
import zipfile
import zlib
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array

from eigencut._utils.memory import available_bytes, in_words

_ARRAYS = {
    "csr": ("data", "indices", "indptr"),
    "csc": ("data", "indices", "indptr"),
    "coo": ("data", "row", "col"),
}
_DAMAGED = (
    *(EOFError, KeyError, NotImplementedError, OSError, OverflowError, RuntimeError, TypeError),
    *(ValueError, lzma.LZMAError, struct.error, zipfile.BadZipFile, zlib.error),
)
_MAGIC = b"PK\x03\x04"
_HEADERS = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
_COPIES = 3  # of the arrays, that are in memory at once


class _Other(Exception):
    """What a file holds instead, in words."""


def is_sparse_file(path: str) -> bool:
    """Whether a file is an archive with a sparse matrix in it."""
    if not Path(path).is_file():  # a pipe can be read once
        return False
    try:
        with Path(path).open("rb") as file:
            if file.read(len(_MAGIC)) != _MAGIC:
                return False
        with zipfile.ZipFile(path) as archive:
            return {"format.npy", "shape.npy", "data.npy"} <= set(archive.namelist())
    except _DAMAGED:
        return False


def read_sparse(path: str) -> Any:
    """The rows of a sparse matrix in a file, as a ``csr_array`` of float64."""
    try:
        with closing(zipfile.ZipFile(path)) as archive:
            _refuse_large(archive)
            kind = str(_array(archive, "format").astype(np.str_).item())
            if kind not in _ARRAYS:
                raise _Other(f"a matrix of format {kind[:20]!r}; save it as CSR: X.tocsr()")
            n_rows, n_columns = (int(n) for n in _array(archive, "shape"))
            first, second, third = (_array(archive, name) for name in _ARRAYS[kind])
            found = _matrix(kind, (n_rows, n_columns), first, second, third)
            _refuse_infinite(found)
            return found
    except _Other as error:
        raise _refused(path, str(error)) from error
    except _DAMAGED as error:
        raise _refused(path, "a damaged file; save it anew") from error


def _refused(path: str, what: str) -> ValueError:
    return ValueError(
        f"{path} must hold a sparse matrix of numbers, as scipy.sparse.save_npz writes it. Got "
        f"{what.rstrip('.')}."
    )


def _refuse_large(archive: zipfile.ZipFile) -> None:
    size = _COPIES * sum(info.file_size for info in archive.infolist())
    most = available_bytes()
    if size > most:
        raise _Other(f"one that needs {in_words(size)}, and {in_words(most)} are left")


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """One array of the archive; of numbers or text, and no larger than it says."""
    info = archive.getinfo(f"{name}.npy")
    with archive.open(info) as file:
        shape, dtype = _header(file)
        size = int(np.prod(shape, dtype=object)) * dtype.itemsize
        if dtype.hasobject or len(shape) > 1 or size > info.file_size:
            raise _Other(f"something else in {name!r}; save it anew")
        found = np.frombuffer(file.read(size), dtype=dtype)
    return found.reshape(shape)


def _header(file: Any) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of an array."""
    read = _HEADERS[npy.read_magic(file)]
    try:
        shape, _, dtype = read(file)
    except Exception as error:  # numpy parses it as Python, and raises what that raises
        raise _Other("a damaged file; save it anew") from error
    return shape, dtype


def _matrix(
    kind: str, shape: tuple[int, int], data: NDArray[Any], indices: Any, starts: Any
) -> Any:
    if data.dtype.kind not in "fiub" or not {indices.dtype.kind, starts.dtype.kind} <= {*"iu"}:
        raise _Other(f"{data.dtype} in its entries; use numbers")
    if min(shape) < 1 or max(shape) > np.iinfo(np.int32).max:
        raise _Other(f"the shape {shape}; use at least a row and a column")
    values = data.astype(np.float64)
    if kind == "coo":
        return csr_array(coo_array((values, (indices, starts)), shape=shape))
    made = (csr_array if kind == "csr" else csc_array)((values, indices, starts), shape=shape)
    made.check_format(full_check=True)
    return csr_array(made)


def _refuse_infinite(rows: Any) -> None:
    """An error that names the place of an entry that is no finite number, as of a table."""
    is_wrong = ~np.isfinite(rows.data)
    if is_wrong.any():
        at = int(np.argmax(is_wrong))
        row = int(np.searchsorted(rows.indptr, at, side="right"))
        what = "a missing value (NaN)" if np.isnan(rows.data[at]) else "infinity"
        raise _Other(f"{what} in row {row}, column x{rows.indices[at] + 1}; correct it")
