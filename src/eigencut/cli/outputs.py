"""Output of commands: checks of paths before any work, writers of tables, and printed results."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import re
import stat
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import click

from eigencut.exceptions import printable
from eigencut.io.atomic import check_replaceable, replacing

TABLES = (".csv", ".txt", ".csv.gz", ".txt.gz", ".parquet", ".npy")
ENDINGS = {"table": TABLES, "graph": (".onnx",), "report": (".html", ".json", ".txt")}
OTHERS = (".tsv", ".gz", ".xlsx", ".xls", ".ods", ".json", ".npz", ".zip", ".pkl", ".onnx")
NO_MODELS = (*TABLES, *OTHERS)


def check_output(
    kind: str,
    path: str | None,
    inputs: Sequence[str | None],
    as_json: bool,
    option: str = "-o",
    other: str | None = None,
) -> None:
    """Raise an error if ``path`` is an input or the ``other`` output, or cannot be written to."""
    if path is None:
        return
    wrong = _wrong_ending(kind, path)
    if wrong:
        raise click.UsageError(f"{option} {path}: {wrong}.")
    is_read = "-" in inputs and not is_stream(path) and _is_open_as(path, 0)
    if is_read or any(_is_same(path, given) for given in inputs if given not in (None, "-")):
        raise click.UsageError(f"{option} {path} is the input; name another file.")
    if other is not None and _is_same(path, other):
        raise click.UsageError(f"{option} {path} is what -o writes; name two files.")
    if is_standard_output(path) and as_json:
        raise click.UsageError(f"--json needs {option} FILE: standard output has both otherwise.")
    if path == "-" and sys.stdout is None:
        raise ValueError(f"Standard output is closed; name a file with {option}.")
    if path != "-":
        check_replaceable(path)


def _wrong_ending(kind: str, path: str) -> str:
    """Return why the ending of a file's name is wrong for this kind of output, or ""."""
    name, ending = path.lower(), Path(path).suffix
    if kind == "model":
        if name == "-":
            return "a model is a file; name it, or /dev/stdout"
        model = f"{path.removesuffix(ending)}.eigencut"
        is_other = name.endswith(NO_MODELS)
        return f"this is where the model goes; name it e.g. {model}" if is_other else ""
    is_open = kind != "report" and (not ending or is_stream(path))
    if is_open or name.endswith(ENDINGS[kind]):
        return ""
    return f"{ending or 'it'} cannot be written; let the name end in {' or '.join(ENDINGS[kind])}"


def is_stream(path: str) -> bool:
    """Return whether a path is "-", a pipe or a device, which have no ending and no old content."""
    if path == "-":
        return True
    with suppress(OSError):
        mode = Path(path).stat().st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))
    return False


def is_standard_output(path: str) -> bool:
    """Return whether a path is the standard output of this process, such as /dev/stdout."""
    return path == "-" or (sys.stdout is not None and _is_open_as(path, 1))


def _is_same(output: str, other: str) -> bool:
    """Return whether two paths are the same file."""
    if "-" in (output, other):
        return is_standard_output(output) and is_standard_output(other)
    if os.path.realpath(output) == os.path.realpath(other):
        return True
    with suppress(OSError):
        return Path(output).samefile(other)
    return False


def _is_open_as(path: str, descriptor: int) -> bool:
    with suppress(OSError):
        return os.path.samestat(Path(path).stat(), os.fstat(descriptor))
    return False


def say(as_json: bool, result: dict[str, Any], text: str, *outputs: str | None) -> None:
    """Print a result as text or JSON, to standard error if an output takes standard output."""
    if sys.stdout is None and not any(outputs):
        raise ValueError("Standard output is closed, where the result would go; open it.")
    is_taken = any(path is not None and is_standard_output(path) for path in outputs)
    click.echo(json_text(result) if as_json else printable(text, also="\n"), err=is_taken)


def json_text(result: Any) -> str:
    """Return one line of JSON, with escapes for control characters but not for other letters."""
    text = json.dumps(result, ensure_ascii=False)
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text)


def spreadsheet_safe(cell: str) -> str:
    """Return a cell with an apostrophe in front if a spreadsheet could run it as a formula."""
    is_formula = re.match(r"\s*[=+\-@|%\uff1d\uff0b\uff0d\uff20]|[\t\r\n]", cell)
    return f"'{cell}" if is_formula and not re.fullmatch(r"[-+]?[\d.]+", cell) else cell


Columns = Mapping[str, Any]  # arrays, or lists of words
Write = Callable[[Columns], None]


@contextmanager
def open_writer(
    path: str | None, spreadsheet: bool = False, then: Callable[[], None] = lambda: None
) -> Iterator[Write]:
    """Give a function that writes columns to a file, which appears if the block raises no error."""
    shown: Callable[[str], str] = spreadsheet_safe if spreadsheet else str
    if path is None:
        yield lambda columns: None
        then()
        return
    if is_standard_output(path):
        on_terminal = sys.stdout.isatty()
        safe = (lambda text: printable(shown(text))) if on_terminal else shown
        yield _csv_writer(sys.stdout.buffer, safe)
        sys.stdout.buffer.flush()
        then()
        return
    kind = Path(path).suffix.lower()
    with replacing(path) as file:
        if kind == ".gz":
            with gzip.open(file, "wb") as packed:
                yield _csv_writer(cast(BinaryIO, packed), shown)
        elif kind in (".npy", ".parquet"):
            with (_npy_writer if kind == ".npy" else _parquet_writer)(file) as write:
                yield write
        else:
            yield _csv_writer(file, shown)
        file.flush()  # raises the error of a full disk
        then()


def _csv_writer(file: BinaryIO, shown: Callable[[str], str]) -> Write:
    """Return a function that writes CSV: first a header, then rows, with empty cells for NaN."""
    has_header = False

    def cells(column: Any) -> list[Any]:
        if isinstance(column, list):
            return [shown(word) for word in column]
        return ["" if cell != cell else cell for cell in column.tolist()]

    def write(columns: Columns) -> None:
        nonlocal has_header
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        if not has_header:
            writer.writerow(map(shown, columns))
            has_header = True
        writer.writerows(zip(*map(cells, columns.values()), strict=True))
        file.write(text.getvalue().encode("utf-8"))

    return write


@contextmanager
def _npy_writer(file: BinaryIO) -> Iterator[Write]:
    """Give a function that collects clusters, and write them as one array of integers."""
    import numpy as np  # not at the top, so that --help is quick

    labels: list[Any] = []
    yield lambda columns: labels.append(columns["cluster"])
    np.save(file, np.concatenate(labels).astype(np.int64), allow_pickle=False)


@contextmanager
def _parquet_writer(file: BinaryIO) -> Iterator[Write]:
    """Give a function that writes the same columns as CSV to a Parquet file."""
    from eigencut._utils.validation import needed  # not at the top, so that --help is quick

    pa, pq = needed("pyarrow", "stream"), needed("pyarrow.parquet", "stream")
    writers: list[Any] = []  # one writer, from the first block on, which tells the columns

    def write(columns: Columns) -> None:
        table = pa.table(dict(columns))
        if not writers:
            writers.append(pq.ParquetWriter(file, table.schema))
        writers[0].write_table(table)

    yield write
    for writer in writers:
        writer.close()
