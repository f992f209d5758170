"""Rows that do not fit in memory: ``Rows`` reads them in blocks, as often as a fit needs them."""

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
    """Return a block as float64 rows; raise an error unless it has ``width`` columns of numbers."""
    try:
        found = np.asarray(block)
        if found.dtype.kind in "mMc":  # numpy would convert dates and complex numbers silently
            raise TypeError(found.dtype)
        rows = np.ascontiguousarray(found, dtype=np.float64)
    except (TypeError, ValueError) as error:
        got = f"something else in the block after row {n_before}"
        other = invalid("X", "hold numbers only", got, "drop or encode it")
        raise text_error(block, n_before) or other from error
    refuse_shape(rows.shape, width, n_before)
    return rows


def refuse_shape(shape: tuple[int, ...], width: int | None, n_before: int) -> None:
    """Raise an error for a block that does not have ``width`` columns (None: at least one)."""
    if len(shape) != 2 or 0 in shape[1:] or (width is not None and shape[1] != width):
        expected = f"come in two-dimensional blocks of {width or 'one or more'} columns"
        remedy = "make all blocks alike, whenever they are read"
        raise invalid("X", expected, f"shape {shape} after row {n_before}", remedy)


def files_at(path: str | os.PathLike[str]) -> list[Path]:
    """Return the file, or the files of a folder except those whose names begin with . or _."""
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
    """Return the names of the columns to read: all if None; names of lists become several."""
    if columns is None:
        return list(source.names)
    names = [each for name in columns for each in source.groups.get(name, (name,))]
    unknown = absent(names, source.names)
    if unknown:
        expected = f"be among those of {source.name}, {quoted(source.names)}"
        raise invalid("columns", expected, quoted(unknown), "correct it")
    return names


def with_weights(rows: Array, weight: Array | None) -> Array:
    """Return the rows with their weights, if any, as an additional last column."""
    return rows if weight is None else np.column_stack([rows, weight])


def with_weight_column(
    table: Table, names: Sequence[str], weights: str | None, source: str
) -> Table:
    """Return the columns ``names`` of a table, with the column ``weights`` as weights of rows."""
    if weights is None:
        return table.choose(names)
    weight = table.values[:, table.names.index(weights)].copy()
    named = f"{source}: the weights in column {weights!r}"
    refuse_weights(weight, named, lambda row: f"in {table.place(row)}")
    return replace(table.choose(names), weight=weight)


def refuse_all_zero(n_positive: int) -> None:
    """Raise an error if no row has a positive weight."""
    if not n_positive:
        remedy = "leave it out to weigh all rows equally"
        raise invalid("sample_weight", "be positive for at least one row", "zeros only", remedy)


def _measure(rows: Array) -> Array:
    """Return the number of rows, and the sums of values and of absolute values per column."""
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
    """Return how many rows of an array in memory a block has: 4 million numbers, within limits."""
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
    is_local = True  # whether blocks are processed in this process, not on a cluster
    _n_rows: int | None = None  # known after the first pass
    _seen: Array | None = None  # the sums of ``_measure`` over all rows of the first pass
    _tables_of_files: Callable[[Coding | None], Iterable[Table]] | None = None
    files: tuple[Path, ...] = ()  # from which the rows are read, if they come from files

    def __init__(
        self,
        blocks: Callable[[], Iterable[Any]],
        feature_names: Sequence[str] | None = None,
        *,
        weighted: bool = False,
    ) -> None:
        if not callable(blocks):  # an iterator can be read only once
            expected = "be a function that returns an iterator over arrays"
            got, remedy = type(blocks).__name__, "pass lambda: ... instead"
            raise invalid("blocks", expected, got, remedy, error=TypeError)
        self._blocks, self.is_weighted = blocks, weighted
        self.feature_names = None if feature_names is None else list(feature_names)

    @classmethod
    def from_array(cls, X: ArrayLike, *, sample_weight: ArrayLike | None = None) -> Rows:
        """Read a two-dimensional array or memory map, of which one block at a time is converted.

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
            starts: list[int] = []  # the number of rows before each file
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
        """Yield blocks of 131072 rows (the last may be shorter), with NaN for missing values.

        Parameters
        ----------
        coding : Coding, optional
            Tells how words and dates become numbers. Without one, they raise an error.

        Yields
        ------
        Table
        """
        seen: Any = 0.0
        for table in self._tables(coding):
            with np.errstate(over="ignore", invalid="ignore"):
                seen = seen + _measure(with_weights(table.values, table.weight))
            if self._seen is not None and seen[0] > self._seen[0]:  # now: the source may be endless
                raise _changed(f"{self._seen[0]:.0f} rows at first and more later")
            yield table
        self._keep_seen(seen)

    def _keep_seen(self, seen: Array) -> None:
        """Raise an error if a complete pass has seen other rows than the first one."""
        first = self._seen = seen if self._seen is None else self._seen
        if seen[0] != first[0]:
            raise _changed(f"{first[0]:.0f} rows at first and {seen[0]:.0f} later")
        (sums, sizes), (now, _) = np.split(first[1:], 2), np.split(seen[1:], 2)
        with np.errstate(invalid="ignore", over="ignore"):  # infinite sums are not compared
            is_other = np.abs(now - sums) > 1e-6 * sizes  # a function may round differently
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
        """Yield the blocks as the source gives them; without a coding they must hold numbers."""
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
        """Yield blocks of 131072 finite float64 rows; the last block may be shorter."""
        return (rows for rows, _ in self.weighted())

    def weighted(self) -> Iterator[tuple[Array, Array | None]]:
        """Yield the same blocks with the weights of their rows, or with None."""
        for table in self.tables():
            refuse_infinite(table, table.values)
            yield table.values, table.weight

    @cached_property
    def n_features(self) -> int:
        """The number of columns; without names, the first block is read to find it."""
        if self.feature_names is not None:
            return len(self.feature_names)
        return int(next(iter(self)).shape[1])

    def reduce(
        self,
        part: Callable[..., Part],
        combine: Callable[[Part, Part], Part],
        finish: Callable[[Part], Any] | None = None,
    ) -> Any:
        """Compute something from all rows, block by block, such as a sum or a histogram.

        Parameters
        ----------
        part : callable
            ``part(block)`` is the result of a block; ``part(block, weights)`` for weighted rows.
        combine : callable
            ``combine(a, b)`` merges the results of two blocks, as ``+`` does with sums.
        finish : callable, optional
            Turns the merged result of all blocks into the answer. Default: leaves it as it is.

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
    """An array in memory, dense or sparse, with the interface of ``Rows``; it must be finite."""

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
    """Return a stream unchanged, and an array (already checked) with the interface of one."""
    return X if isinstance(X, Rows) else CheckedArray(X, sample_weight)


def write_rows(
    path: str | os.PathLike[str],
    rows: Rows,
    answers: Iterable[NDArray[Any]],
    dtype: Any,
    shape: tuple[int, ...] = (),
) -> int:
    """Write answers, an array for each block, to one ``.npy`` file; return the number of rows."""
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
        write_array_header_1_0(file, header)  # numpy leaves room for any number of rows
        for answer in answers:
            file.write(answer.astype(dtype).tobytes())
            n_rows += len(answer)
        file.seek(0)
        write_array_header_1_0(file, header | {"shape": (n_rows, *shape)})
    return n_rows
