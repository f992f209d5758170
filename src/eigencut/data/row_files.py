"""The files that rows are read from, and which of their columns."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from eigencut.data.column_names import absent, quoted
from eigencut.data.source import Source


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
            f"Got {str(path)!r}, where there is none."
        )
    return files


def chosen_names(columns: Sequence[str] | None, source: Source) -> list[str]:
    """The names of the columns to read."""
    if columns is not None:
        columns = [each for name in columns for each in source.groups.get(name, (name,))]
    unknown = absent(columns or (), source.names)
    if unknown:
        raise ValueError(
            f"columns must be among those of {source.name}, {quoted(source.names)}. "
            f"Got {quoted(unknown)}; correct it."
        )
    return list(source.names if columns is None else columns)
