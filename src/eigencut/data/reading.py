"""The one reader of tables: a file's kind is told by its first bytes."""

from __future__ import annotations

from io import BufferedReader
from pathlib import Path

from eigencut.data.csv_source import CsvSource
from eigencut.data.npy_source import NpySource
from eigencut.data.parquet_source import ParquetSource
from eigencut.data.source import Source

_KINDS: dict[bytes, type[NpySource | ParquetSource]] = {
    b"PAR1": ParquetSource,
    b"\x93NUMPY": NpySource,
}
_NOT_TABLES = {
    b"EIGENCUT": "it is a model; a table is expected",
    b"PK\x03\x04": "it is a spreadsheet or an archive; save it as CSV",
    b"\xd0\xcf\x11\xe0": "it is an old spreadsheet; save it as CSV",
    b"SQLite f": "it is a database; export a table as CSV",
    b"%PDF": "it is a PDF; export the table as CSV",
    b"\xff\xfe": "it is UTF-16; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16; save it as UTF-8",
}


def open_source(
    path: str,
    *,
    file: BufferedReader | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
) -> Source:
    """The table in a file: Parquet, NPY, or else CSV.

    Parameters
    ----------
    path : str
        Of a file or a named pipe; only a name for messages if ``file`` is given.
    file : binary file, optional
        One that is open already, such as standard input, and stays open. Only CSV is read from it.
    delimiter, header, encoding
        Of a CSV file. None is found out.
    """
    opened = file or Path(path).open("rb")  # noqa: SIM115 (whoever reads it closes it)
    start = opened.peek(8)[:8]  # once: a pipe cannot be opened again
    for magic, kind in _KINDS.items():
        if start.startswith(magic):
            if file is not None or not opened.seekable():
                raise ValueError(f"{path} must be CSV; save the table to a file and name that.")
            opened.close()
            return kind(path)
    for magic, reason in _NOT_TABLES.items():
        if start.startswith(magic):
            raise ValueError(f"{path} is not a table: {reason}.")
    return CsvSource(path, opened, file is None, delimiter, header, encoding)
