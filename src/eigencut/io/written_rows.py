"""What there is to say of each row of a stream, written to a file block by block."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from eigencut.io.atomic import replacing
from eigencut.io.rows import Rows

_HEADER_BYTES = 118  # with the ten bytes before it, a multiple of 64


def write_rows(
    path: str | os.PathLike[str],
    rows: Rows,
    answers: Iterable[NDArray[Any]],
    dtype: Any,
    shape: tuple[int, ...] = (),
) -> int:
    """Write the answers for blocks of a stream into a ``.npy`` file; return the number of rows.

    The file appears under its name when everything is in it, and not at all if reading or answering
    fails before. ``shape`` is that of the answer for one row.
    """
    ending = Path(path).suffix.lower()
    if ending not in ("", ".npy"):
        raise ValueError(
            f"path must end in .npy, for that is what is written. Got {os.fspath(path)!r}; write "
            "other kinds of files with the command eigencut predict."
        )
    written = Path(path)
    if any(written.exists() and written.samefile(file) for file in rows.files):
        raise ValueError(
            "path must be another file than those the rows are read from. "
            f"Got {os.fspath(path)!r}; name a new one."
        )
    n_rows = 0
    with replacing(path) as file:
        _write_header(file, np.dtype(dtype), (0, *shape))
        for answer in answers:
            file.write(answer.astype(dtype).tobytes())
            n_rows += len(answer)
        file.seek(0)
        _write_header(file, np.dtype(dtype), (n_rows, *shape))
    return n_rows


def _write_header(file: BinaryIO, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """The head of a .npy file, as long for one number of rows as for any other."""
    header = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    file.write(np.lib.format.magic(1, 0))
    file.write(_HEADER_BYTES.to_bytes(2, "little"))
    file.write(header.ljust(_HEADER_BYTES - 1).encode("latin1") + b"\n")
