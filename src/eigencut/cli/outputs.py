"""Files that commands write: looked at before any work is done, since work can take hours."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from eigencut.io.atomic import check_replaceable

STANDARD_STREAM = "-"
TABLES = (".csv", ".txt", ".csv.gz", ".txt.gz", ".parquet", ".npy")
REPORTS = (".html", ".json", ".txt")
_OTHERS = (".tsv", ".gz", ".xlsx", ".xls", ".ods", ".json", ".npz", ".zip", ".pkl", ".onnx")


@dataclass(frozen=True)
class Output:
    """A file to write, by the option that names it."""

    option: str
    path: str

    def refuse_ending(self) -> None:
        """An error if the name of the file says that it is something else."""

    def _refuse(self, reason: str) -> None:
        raise click.UsageError(f"{self.option} {self.path}: {reason}.")


class ModelOutput(Output):
    """A model, whose name may end as it likes, but not like something else."""

    def refuse_ending(self) -> None:
        if self.path == STANDARD_STREAM:
            self._refuse("a model is a file; name it, or /dev/stdout")
        name = Path(self.path).with_suffix(".eigencut") if Path(self.path).name else ""
        if self.path.lower().endswith((*TABLES, *_OTHERS)):
            self._refuse(f"this is where the model goes; name it e.g. {name}")


class TableOutput(Output):
    """Clusters of rows, as the kind of table that the name says."""

    def refuse_ending(self) -> None:
        if self.path.lower().endswith(TABLES) or is_stream(self.path):
            return
        ending = Path(self.path).suffix
        if ending:
            listed = f"{', '.join(TABLES[:-1])} or {TABLES[-1]}"
            self._refuse(f"{ending} cannot be written; let the name end in {listed}")


class GraphOutput(Output):
    """An ONNX file."""

    def refuse_ending(self) -> None:
        if Path(self.path).suffix.lower() not in ("", ".onnx") and not is_stream(self.path):
            self._refuse("the graph is ONNX; let the name end in .onnx")


class PageOutput(Output):
    """A report, as the kind of file that the name says."""

    def refuse_ending(self) -> None:
        if Path(self.path).suffix.lower() not in REPORTS:
            self._refuse(f"let the name end in {', '.join(REPORTS[:-1])} or {REPORTS[-1]}")


def check_outputs(outputs: Sequence[Output], inputs: Sequence[str | None], as_json: bool) -> None:
    """Nothing is written onto an input or another output, and all can be written."""
    for i, output in enumerate(outputs):
        output.refuse_ending()
        for given in inputs:
            if given is not None and _is_same(output.path, _input_of(given)):
                raise click.UsageError(
                    f"{output.option} {output.path} is the input; name another file."
                )
        for other in outputs[:i]:
            if _is_same(output.path, other.path):
                raise click.UsageError(
                    f"{output.option} {output.path} is what {other.option} writes; name two files."
                )
        if is_standard_output(output.path) and as_json:
            raise click.UsageError(
                f"--json needs {output.option} FILE: standard output has both otherwise."
            )
    for output in outputs:
        if output.path == STANDARD_STREAM and sys.stdout is None:
            raise ValueError(f"Standard output is closed; name a file with {output.option}.")
        if output.path != STANDARD_STREAM:
            check_replaceable(output.path)


def is_stream(path: str) -> bool:
    """Whether it is standard output, a pipe or a device, which is written to as it is."""
    if path == STANDARD_STREAM:
        return True
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def is_standard_output(path: str) -> bool:
    """Whether what is written there comes out of this process as its standard output."""
    return path == STANDARD_STREAM or (sys.stdout is not None and _is_open_as(path, 1))


def _input_of(given: str) -> str | int:
    return 0 if given == STANDARD_STREAM else given


def _is_same(output: str, other: str | int) -> bool:
    """Whether two names, or a name and an open file, are of one file."""
    if isinstance(other, int):
        return output != STANDARD_STREAM and not is_stream(output) and _is_open_as(output, other)
    if STANDARD_STREAM in (output, other):
        return is_standard_output(output) and is_standard_output(other)
    if os.path.realpath(output) == os.path.realpath(other):
        return True
    try:
        return Path(output).samefile(other)
    except OSError:
        return False


def _is_open_as(path: str, descriptor: int) -> bool:
    try:
        return os.path.samestat(Path(path).stat(), os.fstat(descriptor))
    except OSError:
        return False
