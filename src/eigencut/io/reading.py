"""The one reader of tables: a file's kind is told by its first bytes."""

from __future__ import annotations

from io import BufferedReader
from pathlib import Path

from eigencut.io.csv_source import CsvSource
from eigencut.io.npy_source import NpySource
from eigencut.io.parquet_source import ParquetSource
from eigencut.io.source import Source

_KINDS: dict[bytes, type[NpySource | ParquetSource]] = {
    b"PAR1": ParquetSource,
    b"\x93NUMPY": NpySource,
}


def open_source(
    path: str,
    *,
    file: BufferedReader | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str = "utf-8",
    decimal: str = ".",
) -> Source:
    """The table in a file: Parquet, NPY, or else CSV.

    Parameters
    ----------
    path : str
        Of a file or a named pipe; only a name for messages if ``file`` is given.
    file : binary file, optional
        One that is open already, such as standard input, and stays open. Only CSV is read from it.
    delimiter, header, encoding, decimal
        Of a CSV file. None is found out.
    """
    opened = file or Path(path).open("rb")  # noqa: SIM115 (whoever reads it closes it)
    try:
        start = opened.peek(8)[:8]  # once: a pipe cannot be opened again
        for magic, kind in _KINDS.items():
            if start.startswith(magic):
                if file is not None or not opened.seekable():
                    raise ValueError(f"{path} must be CSV; save the table to a file and name that.")
                opened.close()
                return kind(path)
        return CsvSource(path, opened, file is None, delimiter, header, encoding, decimal)
    except BaseException:
        if file is None:
            opened.close()
        raise
