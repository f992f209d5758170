"""Rows that do not fit in memory: read in blocks, as often as a fit needs to."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.lib.format import write_array_header_1_0
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse

from eigencut._utils.arrays import Array
from eigencut._utils.running import advance, row_blocks
from eigencut._utils.validation import refuse_weights, weights_of_rows
from eigencut.exceptions import EmptyTableError, invalid
from eigencut.io.atomic import replacing
from eigencut.io.column_kinds import NUMERIC, absent, plain_names, quoted
from eigencut.io.refused_rows import refuse_infinite, text_error
from eigencut.io.table import Coding, Source, Table, refuse_lazy


def numbers_of_block(block: Any, width: int | None, n_before: int) -> Array:
    """Return a block as float64 rows of that many columns."""
    try:
        found = np.asarray(block)
        if found.dtype.kind in "mMc":  # dates and complex numbers would be converted silently
            raise TypeError(found.dtype)
        rows = np.ascontiguousarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        got = f"something else in the block after row {n_before}"
        other = invalid("X", "hold numbers only", got, "drop or encode it")
        raise text_error(block, n_before) or other from error
    refuse_shape(rows.shape, width, n_before)
    return rows


def refuse_shape(shape: tuple[int, ...], width: int | None, n_before: int) -> None:
    """Raise an error for a block that does not have so many columns."""
    if len(shape) != 2 or 0 in shape[1:] or (width is not None and shape[1] != width):
        expected = f"come in two-dimensional blocks of {width or 'one or more'} columns"
        remedy = "make all blocks alike, whenever they are read"
        raise invalid("X", expected, f"shape {shape} after row {n_before}", remedy)


def files_at(path: str | os.PathLike[str]) -> list[Path]:
    """The file, or those in a folder but for hidden ones and notes such as _SUCCESS."""
    source = Path(path)
    files = [source]
    if source.is_dir():
        files = sorted(file for file in source.iterdir() if file.name[0] not in "._")
    files = [file for file in files if file.is_file()]
    if not files:
        raise FileNotFoundError(
            "path must be a CSV, Parquet or NPY file, or a folder of such. "
            f"Got {str(path)!r}, which has no such file."
        )
    return files


def chosen_names(columns: Sequence[str] | None, source: Source) -> list[str]:
    """Return the names of the columns to read."""
    if columns is None:
        return list(source.names)
    names = [each for name in columns for each in source.groups.get(name, (name,))]
    unknown = absent(names, source.names)
    if unknown:
        expected = f"be among those of {source.name}, {quoted(source.names)}"
        raise invalid("columns", expected, quoted(unknown), "correct it")
    return names


def with_weights(rows: Array, weight: Array | None) -> Array:
    """Return the rows with one more column, if they have weights."""
    return rows if weight is None else np.column_stack([rows, weight])


def with_weight_column(
    table: Table, names: Sequence[str], weights: str | None, source: str
) -> Table:
    """Return the columns of a table that are data, with the weights that another column has."""
    if weights is None:
        return table.choose(names)
    weight = table.values[:, table.names.index(weights)].copy()
    named = f"{source}: the weights in column {weights!r}"
    refuse_weights(weight, named, lambda row: f"in {table.place(row)}")
    return replace(table.choose(names), weight=weight)


def refuse_all_zero(n_positive: int) -> None:
    """Raise an error if no row has a weight."""
    if not n_positive:
        remedy = "leave it out to weigh all rows equally"
        raise invalid("sample_weight", "be positive for at least one row", "zeros only", remedy)


def _measure(rows: Array) -> Array:
    """Return the number of rows, the sum of each column, and that of its absolute values."""
    one = np.ones(len(rows))
    with np.errstate(over="ignore", invalid="ignore"):
        sums, sizes = one @ rows, one @ np.abs(rows)
        if np.isnan(sums).any():
            rows = np.nan_to_num(rows)
            sums, sizes = one @ rows, one @ np.abs(rows)
    return np.concatenate([[len(rows)], sums, sizes])


def _changed(got: str) -> Exception:
    remedy = "copy the source before it changes, or make a new Rows of it"
    return invalid("X", "give the same rows whenever it is read", got, remedy)


Part = TypeVar("Part")
BLOCK_ROWS = 1 << 17


def rows_of_block(n_features: float) -> int:
    """Return the rows of a block of an array in memory: many pay off, but they are copied once."""
    return int(np.clip((1 << 22) // max(1.0, n_features), 1 << 12, 1 << 19))


class Rows:
    """Rows that are read in blocks, from files or from a function, as often as needed.

    The model is the same as with the rows in memory, to the last bit. If the rows change between
    two readings, you get an error.

    Parameters
    ----------
    blocks : function without arguments
        Each call returns a new iterable of two-dimensional arrays (or data frames).
    feature_names : sequence of str, optional
        Names of the columns.
    weighted : bool, default=False
        Whether rows have weights, as ``sample_weight`` of ``GPOD.fit``. Each block is then a pair
        of rows and weights.

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
    _seen: Array | None = None  # what ``_measure`` says of the first whole pass
    _tables_of_files: Callable[[Coding | None], Iterable[Table]] | None = None
    files: tuple[Path, ...] = ()  # that the rows are read from, where that is known

    def __init__(
        self,
        blocks: Callable[[], Iterable[Any]],
        feature_names: Sequence[str] | None = None,
        *,
        weighted: bool = False,
    ) -> None:
        if not callable(blocks):  # for rows are read more than once
            expected = "be a function that returns an iterator over arrays"
            got, remedy = type(blocks).__name__, "pass lambda: ... instead"
            raise invalid("blocks", expected, got, remedy, error=TypeError)
        self._blocks, self.is_weighted = blocks, weighted
        self.feature_names = None if feature_names is None else list(feature_names)

    @classmethod
    def from_array(cls, X: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Rows:
        """Rows of a two-dimensional array or memory map; only one block is converted at a time.

        Parameters
        ----------
        X : array-like of shape (n_rows, n_features)
        sample_weight : array-like of shape (n_rows,), optional
            The weight of each row.
        """
        refuse_lazy(X)
        array: NDArray[Any] = np.asanyarray(X)
        if sample_weight is None:
            return cls(lambda: (array[rows] for rows in row_blocks(len(array), 1, BLOCK_ROWS)))
        weight = weights_of_rows(sample_weight, len(array))
        pairs = lambda rows: (array[rows], weight[rows])  # noqa: E731
        return cls(lambda: map(pairs, row_blocks(len(array), 1, BLOCK_ROWS)), weighted=True)

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
        """Read a CSV, Parquet, Feather, JSON lines or NPY file, or all files of a folder by name.

        The first bytes of a file tell its format. All formats but NPY need
        ``pip install '.[stream]'``.

        Parameters
        ----------
        path : path of a file or folder
        columns : sequence of str, optional
            The columns to read. Default: all. Where a file has no names, they are x1, x2, ...
        weights : str, optional
            The column with the weight of each row.
        delimiter, header : str and bool, optional
            The character between the cells of a CSV file, and whether its first line names the
            columns. Default: as the file shows.
        encoding, decimal : str, default="utf-8" and "."
            The encoding of a CSV file, and its decimal point: "." or ",".
        """
        from eigencut.io.readers import open_source

        files = files_at(path)
        dialect: dict[str, Any] = {"delimiter": delimiter, "header": header}
        dialect |= {"encoding": encoding, "decimal": decimal}
        first = open_source(str(files[0]), **dialect)
        first.close()
        names = chosen_names(columns, first)
        if weights is not None:
            chosen_names([weights], first)
            names = names if columns is not None else absent(names, [weights])

        def tables(coding: Coding | None = None) -> Iterator[Table]:
            n_rows = 0
            starts: list[int] = []  # the rows before each file
            sources: list[Source] = []

            def place(row: int) -> str:
                at = bisect_right(starts, row) - 1
                found = sources[at].place(row - starts[at])
                return f"{found} of {sources[at].name}" if len(files) > 1 else found

            wanted, read = names, [] if weights is None else [weights]
            if coding is not None:
                wanted = coding.chosen(names)
                coding.kinds |= dict.fromkeys(read, NUMERIC)
            read = [*absent(wanted, read), *read]
            for source in (open_source(str(file), **dialect) for file in files):
                starts.append(n_rows)
                sources.append(source)
                for block in source.blocks(chosen_names(read, source), coding=coding):
                    table = replace(block, first_row=n_rows, row_place=place)
                    yield with_weight_column(table, wanted, weights, source.name)
                    n_rows += len(table.values)
            if not n_rows:
                raise EmptyTableError(f"{os.fspath(path)} has no rows.")

        has_names = first.has_names or columns is not None
        rows = cls(tables, names if has_names else None, weighted=weights is not None)
        rows._tables_of_files, rows.files = tables, tuple(files)
        rows.n_features = len(names)
        return rows

    def tables(self, coding: Coding | None = None) -> Iterator[Table]:
        """Blocks of 131072 rows, the last one shorter; missing values are NaN, and not refused.

        Parameters
        ----------
        coding : Coding, optional
            By which words and dates become numbers. Without one they are refused.

        Yields
        ------
        Table
        """
        seen: Any = 0.0
        for table in self._tables(coding):
            with np.errstate(over="ignore", invalid="ignore"):
                seen = seen + _measure(with_weights(table.values, table.weight))
            if self._seen is not None and seen[0] > self._seen[0]:  # it may never end
                raise _changed(f"{self._seen[0]:.0f} rows at first and more later")
            yield table
        self._keep_seen(seen)

    def _keep_seen(self, seen: Array) -> None:
        """Refuse a whole pass that has seen other rows than the first one."""
        first = self._seen = seen if self._seen is None else self._seen
        if seen[0] != first[0]:
            raise _changed(f"{first[0]:.0f} rows at first and {seen[0]:.0f} later")
        (sums, sizes), (now, _) = np.split(first[1:], 2), np.split(seen[1:], 2)
        with np.errstate(invalid="ignore", over="ignore"):  # sums beyond float64 tell nothing
            is_other = np.abs(now - sums) > 1e-6 * sizes  # computed anew, last digits may differ
        if is_other.any():
            raise _changed(f"other values in column {int(np.argmax(is_other))} later")

    def _tables(self, coding: Coding | None) -> Iterator[Table]:
        waiting: list[Array] = []
        n_waiting = n_seen = 0
        names: tuple[str, ...] = ()
        place: Any = None

        def table(rows: Array, end: int) -> Table:
            weight = rows[:, -1].copy() if self.is_weighted else None
            values = np.ascontiguousarray(rows[:, :-1]) if self.is_weighted else rows
            return Table(names, values, end - len(rows), weight, coding, place)

        for block in self._tables_of_source(coding):
            values = np.ascontiguousarray(block.values) if coding is None else block.values
            rows, names, place = with_weights(values, block.weight), block.names, block.row_place
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
            raise invalid("X", "have at least one row", "none", "check the source of rows")
        if waiting:
            yield table(np.concatenate(waiting), n_seen)

    def _tables_of_source(self, coding: Coding | None) -> Iterator[Table]:
        """Yield the blocks of the source; without a coding they must hold numbers."""
        if self._tables_of_files is not None:
            yield from self._tables_of_files(coding)
            return
        given = names = self.feature_names
        n_seen = 0
        for block in self._blocks():
            block, weight = block if self.is_weighted else (block, None)
            width = self.__dict__.get("n_features") if given is None else len(given)
            if coding is None:
                rows = numbers_of_block(block, width, n_seen)
                self.n_features = rows.shape[1]
                table = Table(tuple(given or plain_names(self.n_features)), rows)
            else:
                if isinstance(block, np.ndarray):
                    refuse_shape(block.shape, width, n_seen)
                    self.n_features = block.shape[1]
                table = Table.from_data(block, names, coding, n_seen, "row {}".format)
                names = names or list(table.names)
                table = table.choose(coding.chosen(given) if given else None)
            if weight is not None:
                table = replace(table, weight=weights_of_rows(weight, len(table.values), n_seen))
            n_seen += len(table.values)
            yield table

    def __iter__(self) -> Iterator[Array]:
        """Blocks of 131072 finite float64 rows; the last one may be shorter."""
        return (rows for rows, _ in self.weighted())

    def weighted(self) -> Iterator[tuple[Array, Array | None]]:
        """The same, each with the weights of its rows; None where rows have none."""
        for table in self.tables():
            refuse_infinite(table, table.values)
            yield table.values, table.weight

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
            n_seen += block.shape[0]
            advance(n_seen, self._n_rows, "rows")
        self._n_rows = n_seen
        return total if finish is None else finish(total)


class CheckedArray(Rows):
    """Rows of an array in memory, dense or sparse, that is known to be finite."""

    in_memory = True

    def __init__(self, X: Any, sample_weight: Array | None = None) -> None:
        super().__init__(lambda: iter(self))
        self._X, self._n_rows, self._sample_weight = X, X.shape[0], sample_weight

    def weighted(self) -> Iterator[tuple[Any, Array | None]]:
        X, weight = self._X, self._sample_weight
        width = X.nnz / max(1, X.shape[0]) if issparse(X) else X.shape[1]
        for rows in row_blocks(X.shape[0], 1, rows_of_block(width)):
            block = X[rows].astype(np.float64, copy=False)
            if issparse(X):
                block.sum_duplicates()
            yield block, None if weight is None else weight[rows]


def as_rows(X: Any, sample_weight: Array | None = None) -> Rows:
    """Return a stream as it is, and an array that is checked already as a stream."""
    return X if isinstance(X, Rows) else CheckedArray(X, sample_weight)


def write_rows(
    path: str | os.PathLike[str],
    rows: Rows,
    answers: Iterable[NDArray[Any]],
    dtype: Any,
    shape: tuple[int, ...] = (),
) -> int:
    """Write the answers for blocks of a stream into a ``.npy`` file; return the number of rows."""
    written, got = Path(path), repr(os.fspath(path))
    if written.suffix.lower() not in ("", ".npy"):
        remedy = "write other kinds of files with the command eigencut predict"
        raise invalid("path", "end in .npy, for that is what is written", got, remedy)
    if any(written.exists() and written.samefile(file) for file in rows.files):
        expected = "be another file than those the rows are read from"
        raise invalid("path", expected, got, "name a new one")
    n_rows = 0
    header = {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": (0, *shape)}
    with replacing(path) as file:
        write_array_header_1_0(file, header)  # which leaves room for any number of rows
        for answer in answers:
            file.write(answer.astype(dtype).tobytes())
            n_rows += len(answer)
        file.seek(0)
        write_array_header_1_0(file, header | {"shape": (n_rows, *shape)})
    return n_rows
