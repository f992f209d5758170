"""The one reader of tables in files: a file's kind is told by its first bytes.

CSV is read by ``eigencut.io.csv_reader``; Parquet, Feather and JSON lines by pyarrow; NPY by numpy.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray
from scipy.sparse import coo_array, csc_array, csr_array

from eigencut._utils.memory import available_bytes, in_words
from eigencut._utils.validation import needed
from eigencut.exceptions import invalid
from eigencut.io.column_kinds import places, plain_names, refuse_duplicates
from eigencut.io.csv_reader import CsvSource
from eigencut.io.table import Source

READ_ROWS = 1 << 16  # of a block, where a file has rows of equal size


class NpySource(Source):
    """A two-dimensional array of numbers, mapped into memory; nothing in the file is executed."""

    has_names = False

    def __init__(self, path: str) -> None:
        self.name = path
        array = self._mapped()
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            got = f"shape {array.shape} of {array.dtype}"
            raise invalid(path, "be a two-dimensional array of numbers", got, "save it as such")
        self.names, self.size = plain_names(array.shape[1]), len(array)

    def _mapped(self) -> NDArray[Any]:
        try:
            array: NDArray[Any] = np.load(self.name, mmap_mode="r", allow_pickle=False)
        except (EOFError, SyntaxError, TokenError, ValueError) as error:  # of its header, too
            raise ValueError(
                f"{self.name} must be an array of numbers. It is damaged, or holds Python objects; "
                "save it anew with numpy.save."
            ) from error
        return array

    def batches(self, columns: Sequence[str]) -> Iterator[NDArray[Any]]:
        chosen = places(columns, self.names)
        for start in range(0, self.size or 0, READ_ROWS):
            # A map of its own for each block: pages that were read count as memory until unmapped.
            piece = np.array(self._mapped()[start : start + READ_ROWS, chosen])
            self.n_read = start + len(piece)
            yield piece


class ArrowSource(Source):
    """A Parquet, Feather or JSON lines file, read with pyarrow.

    A column of lists of numbers is one column for each place in the lists: name[0], name[1], ...
    """

    has_names = True

    def __init__(self, path: str, kind: str) -> None:
        self._arrow = needed("pyarrow", "stream")
        self._compute = needed("pyarrow.compute", "stream")
        self.name, self._kind = path, kind
        self._file: Any = None
        with self._damaged():
            if kind == "Parquet":
                # Read ahead, pyarrow would keep all of the file in memory.
                parquet = needed("pyarrow.parquet", "stream")
                self._file = parquet.ParquetFile(path, pre_buffer=False, buffer_size=1 << 20)
                self._schema, self.size = self._file.schema_arrow, self._file.metadata.num_rows
            elif kind == "Feather":
                self._file = self._arrow.ipc.open_file(self._arrow.OSFile(path))
                self._schema = self._file.schema
            else:
                self._file = needed("pyarrow.json", "stream").read_json(path)
                self._schema, self.size = self._file.schema, len(self._file)
        refuse_duplicates(self._schema.names)
        lengths = {column: self._length_of_lists(column) for column in self._schema.names}
        self.groups = {
            column: tuple(f"{column}[{i}]" for i in range(length))
            for column, length in lengths.items()
            if length is not None
        }
        groups = {column: self.groups.get(column, (column,)) for column in lengths}
        self.names = tuple(name for names in groups.values() for name in names)
        refuse_duplicates(self.names)
        self._column_of = {  # and the place in its lists, if it has any
            name: (column, i) for column, names in groups.items() for i, name in enumerate(names)
        }

    def _length_of_lists(self, column: str) -> int | None:
        """Return how many numbers each list of a column has, as far as its beginning shows."""
        types, kind = self._arrow.types, self._schema.field(column).type
        if not (types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind)):
            return None
        of_numbers = (types.is_integer, types.is_floating, types.is_decimal, types.is_boolean)
        if not any(check(kind.value_type) for check in of_numbers):
            return None
        if hasattr(kind, "list_size"):
            return int(kind.list_size)
        lists = next(self._raw_batches([column], 1024)).column(0).drop_null()
        return len(lists[0]) or None if len(lists) else None

    def _raw_batches(self, columns: list[str], n_rows: int) -> Iterator[Any]:
        if self._kind == "Parquet":
            yield from self._file.iter_batches(n_rows, columns=columns)
        elif self._kind == "Feather":
            for i in range(self._file.num_record_batches):
                yield self._file.get_batch(i).select(columns)
        else:
            yield from self._file.select(columns).to_batches(n_rows)

    def batches(self, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
        self._refuse_nested(columns)
        wanted = list(dict.fromkeys(self._column_of[name][0] for name in columns))
        n_rows = int(np.clip((1 << 24) // max(1, len(columns)), 1024, READ_ROWS))
        try:
            with self._damaged():
                for batch in self._raw_batches(wanted, n_rows):
                    for column in self.groups.keys() & wanted:
                        self._refuse_other_lengths(column, batch.column(column))
                    self.n_read += len(batch)
                    yield {name: self._cells(batch, *self._column_of[name]) for name in columns}
        finally:
            self.close()

    def _cells(self, batch: Any, column: str, place: int) -> Any:
        """Return a column, or the numbers at one place in its lists."""
        if column not in self.groups:
            return batch.column(column)
        return self._compute.list_element(batch.column(column), place).cast("float64", safe=False)

    def _refuse_nested(self, columns: Sequence[str]) -> None:
        """Raise an error for columns whose cells are not one value."""
        single = [name for name in columns if self._column_of[name][0] not in self.groups]
        kinds = {name: self._schema.field(name).type for name in single}
        nested = [name for name in single if self._arrow.types.is_nested(kinds[name])]
        if nested:
            shown = ", ".join(f"{name!r} ({kinds[name]})" for name in nested[:8])
            raise ValueError(
                f"{self.name}: cells must hold a number, a word, a date, or a list of numbers, but "
                f"not so {shown}. Fit without these columns (drop {','.join(nested)!r}), or write "
                "one value to a cell."
            )

    def _refuse_other_lengths(self, name: str, lists: Any) -> None:
        """Raise an error for a list that is not as long as the first one; it may be missing."""
        length = len(self.groups[name])
        sizes = self._compute.list_value_length(lists).fill_null(length)
        is_other = np.asarray(sizes) != length
        if is_other.any():
            at = int(np.argmax(is_other))
            raise ValueError(
                f"{self.name}: the lists of column {name!r} must all have {length} numbers, as the "
                f"first one has. Got {sizes[at]} in row {at + self.n_read + 1}; make them of one "
                f"length, or fit without the column (drop {name!r})."
            )

    def close(self) -> None:
        if self._kind == "Parquet":
            self._file.close()

    @contextmanager
    def _damaged(self) -> Iterator[None]:
        try:
            yield
        except (OSError, self._arrow.ArrowException) as error:
            raise ValueError(
                f"{self.name} is a damaged {self._kind} file; write it anew."
            ) from error


def open_source(path: str, *, file: BufferedReader | None = None, **dialect: Any) -> Source:
    """Open the table in a file: Parquet, Feather, JSON lines, NPY, or else CSV.

    An open ``file``, such as standard input, stays open; ``path`` only names it then, and only CSV
    is read from it. ``dialect`` are the parameters of ``CsvSource``.
    """
    opened = file or Path(path).open("rb")  # noqa: SIM115 (whoever reads it closes it)
    try:
        start = opened.peek(8)  # once: a pipe cannot be opened again
        kinds = {b"PAR1": "Parquet", b"ARROW1": "Feather", b"{": "JSON lines", b"\x93NUMPY": "NPY"}
        kind = next((kind for magic, kind in kinds.items() if start.startswith(magic)), None)
        if kind is None:
            return CsvSource(path, opened, is_ours=file is None, **dialect)
        if file is not None or not opened.seekable():
            raise ValueError(f"{path} must be CSV; save the table to a file and name that.")
        opened.close()
        return NpySource(path) if kind == "NPY" else ArrowSource(path, kind)
    except BaseException:
        if file is None:
            opened.close()
        raise


# Sparse matrices in files, as ``scipy.sparse.save_npz`` writes them.
#
# Nothing in such a file is trusted: no object is unpickled, no more is read than the archive says
# that it holds, and that must fit into memory. Of a damaged file, zipfile, its codecs and numpy
# raise almost any error.


class _Other(Exception):
    """What a file holds instead, in words."""


def is_sparse_file(path: str) -> bool:
    """Return whether a file is an archive with a sparse matrix in it."""
    if not Path(path).is_file():  # a pipe can be read once
        return False
    try:
        with Path(path).open("rb") as file:
            if file.read(4) != b"PK\x03\x04":
                return False
        with zipfile.ZipFile(path) as archive:
            return {"format.npy", "shape.npy", "data.npy"} <= set(archive.namelist())
    except Exception:
        return False


def read_sparse(path: str) -> Any:
    """Return the rows of a sparse matrix in a file, as a ``csr_array`` of float64."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _sparse_matrix(archive)
    except Exception as error:
        what = str(error) if isinstance(error, _Other) else "a damaged file; save it anew"
        got, _, remedy = what.partition("; ")
        expected = "hold a sparse matrix of numbers, as scipy.sparse.save_npz writes it"
        raise invalid(path, expected, got, remedy) from error


def _sparse_matrix(archive: zipfile.ZipFile) -> Any:
    size = 3 * sum(info.file_size for info in archive.infolist())  # three copies at once
    most = available_bytes()
    if size > most:
        raise _Other(f"one that needs {in_words(size)}; {in_words(most)} are left")
    kind = str(_array(archive, "format").astype(np.str_).item())
    if kind not in ("csr", "csc", "coo"):
        raise _Other(f"a matrix of format {kind[:20]!r}; save it as CSR: X.tocsr()")
    n_rows, n_columns = shape = tuple(int(n) for n in _array(archive, "shape"))
    names = ("row", "col") if kind == "coo" else ("indices", "indptr")
    data, indices, starts = (_array(archive, name) for name in ("data", *names))
    if data.dtype.kind not in "fiub" or not {indices.dtype.kind, starts.dtype.kind} <= {*"iu"}:
        raise _Other(f"{data.dtype} in its entries; use numbers")
    if min(shape) < 1 or max(shape) > np.iinfo(np.int32).max:
        raise _Other(f"the shape {(n_rows, n_columns)}; use at least a row and a column")
    if n_rows > 100 * (len(data) + 10_000) or 24 * n_rows > most:
        raise _Other(f"{n_rows} rows for {len(data)} entries; leave out rows without any")
    values = data.astype(np.float64)
    if kind == "coo":
        rows = csr_array(coo_array((values, (indices, starts)), shape=shape))
    else:
        rows = (csr_array if kind == "csr" else csc_array)((values, indices, starts), shape=shape)
        rows.check_format(full_check=True)
        rows = csr_array(rows)
    is_wrong = ~np.isfinite(rows.data)
    if is_wrong.any():  # named by its place, as of a table
        at = int(np.argmax(is_wrong))
        row = int(np.searchsorted(rows.indptr, at, side="right"))
        what = "a missing value (NaN)" if np.isnan(rows.data[at]) else "infinity"
        raise _Other(f"{what} in row {row}, column x{rows.indices[at] + 1}; correct it")
    return rows


def _array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return one array of the archive, of numbers or text; no object is unpickled."""
    with archive.open(f"{name}.npy") as file:
        found: NDArray[Any] = npy.read_array(file, allow_pickle=False)
    if found.ndim > 1:
        raise _Other(f"something else in {name!r}; save it anew")
    return found
