"""Rows that do not fit in memory: read in blocks, as often as a fit needs to.

A fit on landmarks is two sums over rows, so it needs no more than one block at a time. ``Rows``
says where blocks come from, and ``Rows.reduce`` how a sum over them is formed;
``eigencut.integrations.dask`` forms it on a cluster instead.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from eigencut.files.atomic import replacing
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.optional import needed
from eigencut.runtime.progress import advance

Part = TypeVar("Part")
Result = TypeVar("Result")

_HEADER_BYTES = 118  # with the ten bytes before it, a multiple of 64
_BUFFER = 1 << 20  # bytes of a column; read ahead, pyarrow would keep the whole file in memory
BLOCK_ROWS = 1 << 17
_ROWS_IN_MEMORY = (1 << 14, 1 << 19)  # least and most of a block; large ones pay off, but
_ENTRIES_IN_MEMORY = 1 << 22  # they are copied once


def rows_of_block(n_features: float) -> int:
    """Rows of a block of an array in memory."""
    return int(np.clip(_ENTRIES_IN_MEMORY // max(1.0, n_features), *_ROWS_IN_MEMORY))


class Rows:
    """A source of rows that can be read again and again, from the first to the last.

    Whatever size the blocks of the source have, rows are handed on in blocks of 131072. A stream
    and an array of the same rows give the same model, to the last bit.

    Parameters
    ----------
    blocks : function without arguments
        Each call returns an iterable of two-dimensional arrays (or data frames), anew.
    feature_names : sequence of str, optional
        Names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> rows = Rows(lambda: (np.full((2, 3), i) for i in range(4)))
    >>> rows.reduce(len, lambda a, b: a + b)
    8
    """

    in_memory = False
    is_local = True  # whether blocks are worked on in this process
    _n_rows: int | None = None  # known after the first pass

    def __init__(
        self,
        blocks: Callable[[], Iterable[Any]],
        feature_names: Sequence[str] | None = None,
    ) -> None:
        if not callable(blocks):
            raise TypeError(
                "blocks must be a function that returns an iterator over arrays, since rows are "
                f"read more than once. Got {type(blocks).__name__}; pass lambda: ... instead."
            )
        self._blocks = blocks
        self.feature_names = None if feature_names is None else list(feature_names)

    @classmethod
    def from_array(cls, X: ArrayLike) -> Rows:
        """Rows of a two-dimensional array or memory map; only one block is converted at a time."""
        array: NDArray[Any] = np.asanyarray(X)
        return cls(lambda: (array[rows] for rows in _spans(len(array), BLOCK_ROWS)))

    @classmethod
    def from_npy(cls, path: str | os.PathLike[str]) -> Rows:
        """Rows of a ``.npy`` file, mapped into memory; nothing in the file is ever executed."""

        def mapped() -> NDArray[Any]:
            return np.load(path, mmap_mode="r", allow_pickle=False)

        # A map of its own for each block: pages that were read count as memory until unmapped.
        n_rows = len(mapped())
        return cls(lambda: (mapped()[rows] for rows in _spans(n_rows, BLOCK_ROWS)))

    @classmethod
    def from_parquet(
        cls, path: str | os.PathLike[str], columns: Sequence[str] | None = None
    ) -> Rows:
        """Rows of a Parquet file, or of all files in a folder in the order of their names.

        Parameters
        ----------
        path : path of a file or folder
        columns : sequence of str, optional
            The columns to read. Default: all.
        """
        parquet = needed("pyarrow.parquet", "stream")
        files = _files(path, ".parquet")
        names = _chosen(columns, parquet.read_schema(files[0]).names)

        def blocks() -> Iterator[Any]:
            for file in files:
                with parquet.ParquetFile(file, pre_buffer=False, buffer_size=_BUFFER) as opened:
                    for batch in opened.iter_batches(BLOCK_ROWS, columns=names):
                        yield _table(batch, names)

        return cls(blocks, names)

    @classmethod
    def from_csv(cls, path: str | os.PathLike[str], columns: Sequence[str] | None = None) -> Rows:
        """Rows of a CSV file with a header, or of all in a folder in the order of their names.

        Parameters
        ----------
        path : path of a file or folder
        columns : sequence of str, optional
            The columns to read. Default: all.
        """
        csv = needed("pyarrow.csv", "stream")
        files = _files(path, ".csv")
        with csv.open_csv(files[0]) as opened:
            names = _chosen(columns, opened.schema.names)

        def blocks() -> Iterator[Any]:
            for file in files:
                with csv.open_csv(file) as opened:
                    for batch in opened:
                        yield _table(batch, names)

        return cls(blocks, names)

    def __iter__(self) -> Iterator[Array]:
        """Blocks of 131072 finite float64 rows; the last one may be shorter."""
        waiting: list[Array] = []
        n_waiting = n_seen = 0
        width = None if self.feature_names is None else len(self.feature_names)
        for block in self._blocks():
            rows = checked_block(block, width, n_seen)
            width = rows.shape[1]
            n_seen += len(rows)
            while n_waiting + len(rows) >= BLOCK_ROWS:
                head, rows = np.split(rows, [BLOCK_ROWS - n_waiting])
                yield head if not waiting else np.concatenate([*waiting, head])
                waiting, n_waiting = [], 0
            if len(rows):
                waiting.append(rows)
                n_waiting += len(rows)
        if n_seen == 0:
            raise ValueError("X must have at least one row. Got none; check the source of rows.")
        if waiting:
            yield np.concatenate(waiting)

    @cached_property
    def n_features(self) -> int:
        """Columns, from the names if there are any, otherwise from the first block."""
        if self.feature_names is not None:
            return len(self.feature_names)
        return int(next(iter(self)).shape[1])

    def reduce(
        self,
        part: Callable[[Array], Part],
        combine: Callable[[Part, Part], Part],
        finish: Callable[[Part], Any] | None = None,
    ) -> Any:
        """``finish(part(block_1) + part(block_2) + ...)``, + being ``combine``."""
        total: Any = None
        n_seen = 0
        for block in self:
            total = part(block) if total is None else combine(total, part(block))
            n_seen += len(block)
            advance(n_seen, self._n_rows, "rows")
        self._n_rows = n_seen
        return total if finish is None else finish(total)


def write_labels(
    path: str | os.PathLike[str], rows: Rows, predict: Callable[[Array], Indices], n_clusters: int
) -> int:
    """Label the rows block by block into a ``.npy`` file; returns how many there were.

    The file appears under its name when all labels are in it, and not at all if reading or
    predicting fails before. Labels are the smallest integers that hold K and -1.
    """
    dtype = np.min_scalar_type(-max(n_clusters, 1))
    n_rows = 0
    with replacing(path) as file:
        _write_header(file, dtype, 0)
        for block in rows:
            file.write(predict(block).astype(dtype).tobytes())
            n_rows += len(block)
        file.seek(0)
        _write_header(file, dtype, n_rows)
    return n_rows


def _write_header(file: BinaryIO, dtype: np.dtype[Any], n_rows: int) -> None:
    """The head of a .npy file, as long for one number of rows as for any other."""
    header = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': ({n_rows},), }}"
    file.write(np.lib.format.magic(1, 0))
    file.write(_HEADER_BYTES.to_bytes(2, "little"))
    file.write(header.ljust(_HEADER_BYTES - 1).encode("latin1") + b"\n")


class CheckedArray(Rows):
    """Rows of an array in memory that is known to be finite; blocks are views of it."""

    in_memory = True

    def __init__(self, X: Array) -> None:
        step = rows_of_block(X.shape[1])
        super().__init__(lambda: (X[rows] for rows in _spans(len(X), step)))
        self._n_rows = len(X)

    def __iter__(self) -> Iterator[Array]:
        return iter(self._blocks())


def as_rows(X: Array | Rows) -> Rows:
    """A stream as it is, an array that is checked already as one."""
    return X if isinstance(X, Rows) else CheckedArray(X)


def _spans(n_rows: int, step: int) -> Iterator[slice]:
    return (slice(start, start + step) for start in range(0, n_rows, step))


def checked_block(block: Any, width: int | None = None, n_before: int = 0) -> Array:
    """A block as finite float64 rows, or an error that says where it is not."""
    try:
        rows = np.ascontiguousarray(np.asarray(block), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"X must hold numbers only. Got something else in the block after row {n_before}; drop "
            "or encode it."
        ) from error
    if rows.ndim != 2 or 0 in rows.shape[1:] or (width is not None and rows.shape[1] != width):
        expected = "one or more" if width is None else f"{width}"
        raise ValueError(
            f"X must come in two-dimensional blocks of {expected} columns. Got shape {rows.shape} "
            f"after row {n_before}; make all blocks alike."
        )
    finite = np.isfinite(rows).all(axis=1)
    if not finite.all():
        raise ValueError(
            f"X must be finite. Got NaN or infinity in row {n_before + int(np.argmin(finite))}; "
            "drop or impute such rows."
        )
    return rows


def _files(path: str | os.PathLike[str], suffix: str) -> list[Path]:
    source = Path(path)
    files = sorted(source.glob(f"*{suffix}")) if source.is_dir() else [source]
    if not files or not files[0].is_file():
        raise FileNotFoundError(
            f"path must be a {suffix} file or a folder of such. Got {str(path)!r}, where there is "
            "none."
        )
    return files


def _chosen(columns: Sequence[str] | None, available: Sequence[str]) -> list[str]:
    """The names of the columns to read."""
    for name in columns or ():
        if name not in available:
            raise ValueError(
                f"columns must be among {', '.join(available)}. Got {name!r}; correct it."
            )
    return list(available if columns is None else columns)


def _table(batch: Any, names: list[str]) -> NDArray[Any]:
    """A batch as an array; missing values become NaN, which is refused later with its row."""
    columns = [batch.column(name).to_numpy(zero_copy_only=False) for name in names]
    return np.column_stack(columns)
