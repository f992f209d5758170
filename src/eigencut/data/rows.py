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

from eigencut.data.bad_values import refuse_infinite, text_error
from eigencut.data.lazy_rows import refuse_lazy
from eigencut.data.reading import open_source
from eigencut.data.row_weights import weights_of, with_weight_column, with_weights
from eigencut.data.same_rows import Seen
from eigencut.data.source import Source
from eigencut.data.table import Table, absent, plain_names, quoted
from eigencut.files.atomic import replacing
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.progress import advance

Part = TypeVar("Part")
Result = TypeVar("Result")

_HEADER_BYTES = 118  # with the ten bytes before it, a multiple of 64
BLOCK_ROWS = 1 << 17
_ROWS_IN_MEMORY = (1 << 12, 1 << 19)  # least and most of a block; large ones pay off, but
_ENTRIES_IN_MEMORY = 1 << 22  # they are copied once


def rows_of_block(n_features: float) -> int:
    """Rows of a block of an array in memory."""
    return int(np.clip(_ENTRIES_IN_MEMORY // max(1.0, n_features), *_ROWS_IN_MEMORY))


class Rows:
    """A source of rows that can be read again and again, from the first to the last.

    Whatever size the blocks of the source have, rows are handed on in blocks of 131072. A stream
    and an array of the same rows give the same model, to the last bit. A source that gives other
    rows when it is read again is refused.

    Parameters
    ----------
    blocks : function without arguments
        Each call returns an iterable of two-dimensional arrays (or data frames), anew.
    feature_names : sequence of str, optional
        Names of the columns.
    weighted : bool, default=False
        Whether rows have weights, as ``sample_weight`` of ``GPOD.fit``: each block is a pair of
        rows and weights then.

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
    _seen: Seen | None = None  # by the first whole pass
    files: tuple[Path, ...] = ()  # that the rows are read from, where that is known

    def __init__(
        self,
        blocks: Callable[[], Iterable[Any]],
        feature_names: Sequence[str] | None = None,
        *,
        weighted: bool = False,
    ) -> None:
        if not callable(blocks):
            raise TypeError(
                "blocks must be a function that returns an iterator over arrays, since rows are "
                f"read more than once. Got {type(blocks).__name__}; pass lambda: ... instead."
            )
        self._blocks, self.is_weighted = blocks, weighted
        self.feature_names = None if feature_names is None else list(feature_names)

    @classmethod
    def from_array(cls, X: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Rows:
        """Rows of a two-dimensional array or memory map; only one block is converted at a time.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        sample_weight : array-like of shape (n_rows,), optional
            What each row counts.
        """
        refuse_lazy(X)
        array: NDArray[Any] = np.asanyarray(X)
        if sample_weight is None:
            return cls(lambda: (array[rows] for rows in _spans(len(array), BLOCK_ROWS)))
        weight = weights_of(sample_weight, len(array))
        pairs = lambda rows: (array[rows], weight[rows])  # noqa: E731
        return cls(lambda: map(pairs, _spans(len(array), BLOCK_ROWS)), weighted=True)

    @classmethod
    def from_file(
        cls,
        path: str | os.PathLike[str],
        columns: Sequence[str] | None = None,
        *,
        weights: str | None = None,
        delimiter: str | None = None,
        header: bool | None = None,
        encoding: str = "utf-8",
        decimal: str = ".",
    ) -> Rows:
        """Rows of a CSV, Parquet or NPY file, or of all files in a folder by order of name.

        A file's kind is told by its first bytes. Parquet needs ``pip install 'eigencut[stream]'``,
        which also makes CSV faster.

        Parameters
        ----------
        path : path of a file or folder
        columns : sequence of str, optional
            The columns to read. Default: all. Where a file has no names, they are x1, x2, ...
        weights : str, optional
            The column that says what each row counts; it is not among the columns then, unless
            they name it.
        delimiter : str, optional
            Between the cells of a CSV file. Default: found out.
        header : bool, optional
            Whether the first line of a CSV file names columns. Default: found out.
        encoding : str, default="utf-8"
            Of a CSV file.
        decimal : {".", ","}, default="."
            Before the fraction of a number in a CSV file.
        """
        files = _files(path)

        def opened(file: Path) -> Source:
            how = {"delimiter": delimiter, "encoding": encoding, "decimal": decimal}
            return open_source(str(file), header=header, **how)  # type: ignore[arg-type]

        first = opened(files[0])
        first.close()
        names = _chosen(columns, first)
        if weights is not None:
            _chosen([weights], first)
            names = names if columns is not None else absent(names, [weights])
        read = names if weights is None else [*absent(names, [weights]), weights]

        def blocks() -> Iterator[Any]:
            is_empty = True
            for source in map(opened, files):
                for block in source.blocks(_chosen(read, source)):
                    found = with_weight_column(block.table, names, weights, source.name)
                    yield found.values if weights is None else (found.values, found.weight)
                    is_empty = False
            if is_empty:
                raise ValueError(f"{os.fspath(path)} has no rows.")

        has_names = first.has_names or columns is not None
        rows = cls(blocks, names if has_names else None, weighted=weights is not None)
        rows.files = tuple(files)
        rows.n_features = len(names)
        return rows

    def tables(self) -> Iterator[Table]:
        """Blocks of 131072 rows, the last one shorter; missing values are NaN, and not refused."""
        seen: Seen | None = None
        for table in self._tables():
            found = Seen.of(with_weights(table.values, table.weight))
            seen = found if seen is None else seen.merged(found)
            if self._seen is not None:
                self._seen.refuse_more(seen)
            yield table
        assert seen is not None  # there is one row at least
        self._keep_seen(seen)

    def _keep_seen(self, seen: Seen) -> None:
        """What a whole pass has seen: the same as the first one did."""
        if self._seen is None:
            self._seen = seen
        self._seen.refuse_change(seen)

    def _tables(self) -> Iterator[Table]:
        waiting: list[Array] = []
        n_waiting = n_seen = 0
        width = self.__dict__.get("n_features")  # if it is known yet
        if self.feature_names is not None:
            width = len(self.feature_names)

        def table(rows: Array, end: int) -> Table:
            weight = rows[:, -1].copy() if self.is_weighted else None
            values = np.ascontiguousarray(rows[:, :-1]) if self.is_weighted else rows
            names = self.feature_names or plain_names(values.shape[1])
            return Table(tuple(names), values, end - len(rows) + 1, weight)

        for block in self._blocks():
            given, weight = block if self.is_weighted else (block, None)
            rows = _numbers(given, width, n_seen)
            width = self.n_features = rows.shape[1]
            rows = with_weights(rows, weights_of(weight, len(rows), n_seen))
            n_seen += len(rows)
            while n_waiting + len(rows) >= BLOCK_ROWS:
                head, rows = np.split(rows, [BLOCK_ROWS - n_waiting])
                full = head if not waiting else np.concatenate([*waiting, head])
                waiting, n_waiting = [], 0
                yield table(full, n_seen - len(rows))
            if len(rows):
                waiting.append(rows)
                n_waiting += len(rows)
        if n_seen == 0:
            raise ValueError("X must have at least one row. Got none; check the source of rows.")
        if waiting:
            yield table(np.concatenate(waiting), n_seen)

    def __iter__(self) -> Iterator[Array]:
        """Blocks of 131072 finite float64 rows; the last one may be shorter."""
        return (rows for rows, _ in self.weighted())

    def weighted(self) -> Iterator[tuple[Array, Array | None]]:
        """The same, each with the weights of its rows; None where rows have none."""
        for table in self.tables():
            yield _finite(table.values, table.first_row - 1), table.weight

    @cached_property
    def n_features(self) -> int:
        """Columns, from the names if there are any, otherwise from the first block."""
        if self.feature_names is not None:
            return len(self.feature_names)
        return int(next(iter(self)).shape[1])

    def reduce(
        self,
        part: Callable[..., Part],
        combine: Callable[[Part, Part], Part],
        finish: Callable[[Part], Any] | None = None,
    ) -> Any:
        """Add up over blocks: ``finish(part(block_1) + part(block_2) + ...)``.

        Parameters
        ----------
        part, combine : callable
            What is known of a block, and + of two such. Where rows have weights, those of the
            block are a second argument.
        finish : callable, optional

        Returns
        -------
        total : whatever ``finish``, or ``combine``, returns
        """
        total: Any = None
        n_seen = 0
        for block, weight in self.weighted():
            found = part(block) if weight is None else part(block, weight)
            total = found if total is None else combine(total, found)
            n_seen += len(block)
            advance(n_seen, self._n_rows, "rows")
        self._n_rows = n_seen
        return total if finish is None else finish(total)


def write_labels(
    path: str | os.PathLike[str], rows: Rows, predict: Callable[[Array], Indices], n_clusters: int
) -> int:
    """Label the rows block by block into a ``.npy`` file; returns how many there were.

    Labels are the smallest integers that hold K and -1.
    """
    return write_rows(path, rows, predict, np.min_scalar_type(-max(n_clusters, 1)))


def write_rows(
    path: str | os.PathLike[str],
    rows: Rows,
    answer: Callable[[Array], NDArray[Any]],
    dtype: Any,
    shape: tuple[int, ...] = (),
) -> int:
    """Write what there is to say of each row into a ``.npy`` file; returns how many there were.

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
        for block in rows:
            file.write(answer(block).astype(dtype).tobytes())
            n_rows += len(block)
        file.seek(0)
        _write_header(file, np.dtype(dtype), (n_rows, *shape))
    return n_rows


def _write_header(file: BinaryIO, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    """The head of a .npy file, as long for one number of rows as for any other."""
    header = f"{{'descr': '{dtype.str}', 'fortran_order': False, 'shape': {shape}, }}"
    file.write(np.lib.format.magic(1, 0))
    file.write(_HEADER_BYTES.to_bytes(2, "little"))
    file.write(header.ljust(_HEADER_BYTES - 1).encode("latin1") + b"\n")


class CheckedArray(Rows):
    """Rows of an array in memory that is known to be finite.

    Blocks are views of it, or, if its numbers have fewer than 64 bits, what these are in float64.
    """

    in_memory = True

    def __init__(self, X: Array, sample_weight: Array | None = None) -> None:
        self._spans = list(_spans(len(X), rows_of_block(X.shape[1])))
        super().__init__(lambda: (np.asarray(X[rows], np.float64) for rows in self._spans))
        self._n_rows, self._sample_weight = len(X), sample_weight

    def weighted(self) -> Iterator[tuple[Array, Array | None]]:
        weight = self._sample_weight
        for rows, block in zip(self._spans, self._blocks(), strict=True):
            yield block, None if weight is None else weight[rows]


def as_rows(X: Array | Rows, sample_weight: Array | None = None) -> Rows:
    """A stream as it is, an array that is checked already as one."""
    return X if isinstance(X, Rows) else CheckedArray(X, sample_weight)


def _spans(n_rows: int, step: int) -> Iterator[slice]:
    return (slice(start, start + step) for start in range(0, n_rows, step))


def checked_block(block: Any, width: int | None = None, n_before: int = 0) -> Array:
    """A block as finite float64 rows, or an error that says where it is not."""
    return _finite(_numbers(block, width, n_before), n_before)


def _numbers(block: Any, width: int | None, n_before: int) -> Array:
    """A block as float64 rows of that many columns."""
    try:
        found = np.asarray(block)
        if found.dtype.kind in "mMc":  # dates and complex numbers would be converted silently
            raise TypeError(found.dtype)
        rows = np.ascontiguousarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise text_error(block, n_before) or ValueError(
            f"X must hold numbers only. Got something else in the block after row {n_before}; drop "
            "or encode it."
        ) from error
    if rows.ndim != 2 or 0 in rows.shape[1:] or (width is not None and rows.shape[1] != width):
        expected = "one or more" if width is None else f"{width}"
        raise ValueError(
            f"X must come in two-dimensional blocks of {expected} columns. Got shape {rows.shape} "
            f"after row {n_before}; make all blocks alike, whenever they are read."
        )
    return rows


def _finite(rows: Array, n_before: int) -> Array:
    """The rows themselves, if they are finite."""
    refuse_infinite(rows, rows, n_before)
    return rows


def _files(path: str | os.PathLike[str]) -> list[Path]:
    """The file, or those in a folder but for hidden ones and notes such as _SUCCESS."""
    source = Path(path)
    files = [source]
    if source.is_dir():
        files = sorted(file for file in source.iterdir() if file.name[0] not in "._")
    files = [file for file in files if file.is_file()]
    if not files:
        raise FileNotFoundError(
            "path must be a CSV, Parquet or NPY file, or a folder of such. "
            f"Got {str(path)!r}, where there is none."
        )
    return files


def _chosen(columns: Sequence[str] | None, source: Source) -> list[str]:
    """The names of the columns to read."""
    unknown = absent(columns or (), source.names)
    if unknown:
        raise ValueError(
            f"columns must be among those of {source.name}, {quoted(source.names)}. "
            f"Got {quoted(unknown)}; correct it."
        )
    return list(source.names if columns is None else columns)
