"""Tables that commands name: where they are, and which of their columns are data."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from eigencut._utils.warn import warn_user
from eigencut.io.column_kinds import UNITS_OF_DATES, absent, quoted
from eigencut.io.readers import open_source
from eigencut.io.source import Block, Source

if TYPE_CHECKING:
    from eigencut.cli.options import TableOptions
    from eigencut.hierarchy.recluster import Reclustered
    from eigencut.io.table import Coding
    from eigencut.tables.table_model import TableModel

STANDARD_INPUT = "-"


def open_table(path: str, **reading: Any) -> Source:
    """The table at a path, or standard input for ``-``."""
    if path == STANDARD_INPUT:
        if sys.stdin is None:
            raise ValueError("Standard input is closed; name a file instead of -.")
        return open_source("Standard input", file=sys.stdin.buffer, **reading)  # type: ignore[arg-type]
    return open_source(path, **reading)


def data_columns(
    source: Source,
    columns: Sequence[str],
    drop: Sequence[str],
    id_column: str | None,
    weights: str | None = None,
    known: str | None = None,
) -> list[str]:
    """The columns that are data: those named, or all; without dropped ones and those of options."""
    wanted, dropped = _split(source, columns, "--columns"), _split(source, drop, "--drop")
    if id_column is not None:
        dropped.append(_one_column(source, id_column))
    if weights is not None:
        dropped.append(_one_column(source, weights, "--weights"))
    if known is not None:
        dropped.append(_one_column(source, known, "--known"))
        if known == weights:
            raise ValueError(f"--weights and --known both name {known!r}; name two columns.")
    chosen = absent(wanted or source.names, dropped)
    if not chosen:
        raise ValueError(f"{source.name}: no columns are left; choose some with --columns.")
    if len(set(chosen)) < len(chosen):
        twice = next(name for name in chosen if chosen.count(name) > 1)
        raise ValueError(f"--columns names {twice!r} more than once; name it once.")
    if not wanted:
        _note_columns_without_names(source, chosen)
    return chosen


def kinds_of_columns(
    source: Source, chosen: Sequence[str], options: TableOptions
) -> dict[str, Any] | None:
    """What --categorical, --ordered, --date and --numeric say that columns hold; None if nothing.

    In the form of ``TableModel(columns=...)``.
    """
    said: list[tuple[str, str, Any]] = []  # option, column, kind
    for option in ("categorical", "numeric"):
        names = _split(source, getattr(options, option), f"--{option}")
        said += [(option, name, option) for name in names]
    for text in options.date:
        for part in [text] if text in source.names else text.split(","):
            name, mark, unit = part.strip().rpartition(":")
            if mark and name in source.names and unit not in UNITS_OF_DATES:
                raise ValueError(
                    f"--date {part.strip()}: the unit of a date must be one of "
                    f"{', '.join(UNITS_OF_DATES)}. Got {unit!r}; use --date {name} for days."
                )
            if part.strip() in source.names or unit not in UNITS_OF_DATES:
                name, mark, unit = part.strip(), "", ""
            _split(source, [name], "--date")
            said.append(("date", name, f"date{mark}{unit}"))
    for name, order in options.ordered:
        _split(source, [name], "--ordered")
        said.append(("ordered", name, order))
    found: dict[str, Any] = {}
    for option, name, kind in said:
        if name not in chosen:
            raise ValueError(f"--{option} names {name!r}, which is left out; choose it, or do not.")
        if name in found:
            raise ValueError(f"Two options say what {name!r} holds; name it once.")
        found[name] = kind
    return found or None


def coding_of(model: TableModel | Reclustered) -> Coding:
    """What the columns of a model hold."""
    base: Any = getattr(model, "base_", model)
    found: Coding = base.preparation_.coding()
    return found


def read_weighted(
    source: Source,
    columns: list[str],
    weights: str | None,
    coding: Coding,
    id_column: str | None = None,
) -> Block:
    """All rows of a table: columns that are data, and as weights the column that is named so."""
    from eigencut.io.column_kinds import NUMERIC
    from eigencut.io.rows import with_weight_column

    if weights is None:
        return source.read(columns, id_column, coding)
    if _one_column(source, weights, "--weights") in columns:
        raise ValueError(
            f"--weights must name a column that is no data of the model. Got {weights!r}, which "
            "the model was fitted on; fit it with --weights, or give another."
        )
    coding.kinds.setdefault(weights, NUMERIC)
    block = source.read([*columns, weights], id_column, coding)
    return replace(block, table=with_weight_column(block.table, columns, weights, source.name))


def model_blocks(
    model: TableModel | Reclustered, source: Source, id_column: str | None = None
) -> Iterator[Block]:
    """The rows of a table for a model, in blocks; its columns hold what they did at the fit."""
    columns = model_columns(model.columns_, source, id_column)
    return source.blocks(columns, id_column, coding_of(model))


def model_columns(
    columns: list[str], source: Source, id_column: str | None, option: str = "--id"
) -> list[str]:
    """The columns of a model, if the table has them and the one that an option names."""
    if id_column is not None:
        _one_column(source, id_column, option)
    missing = absent(columns, source.names)
    if missing:
        raise ValueError(
            f"{source.name} must have the columns that the model was fitted on. "
            f"It has no {quoted(missing)}, but {quoted(source.names)}."
        )
    return columns


def _one_column(source: Source, name: str, option: str = "--id") -> str:
    """The column that an option names."""
    if name not in source.names:
        raise ValueError(
            f"{source.name} has no column {name!r}, which {option} names. "
            f"It has {quoted(source.names)}."
        )
    return name


def _note_columns_without_names(source: Source, chosen: Sequence[str]) -> None:
    """The numbers of rows, as pandas writes them, are often taken for data unseen."""
    unnamed = [name for name in chosen if name in source.unnamed]
    if unnamed:
        listed = ",".join(unnamed)
        warn_user(
            f"{source.name} has columns without a name, which count as data: {quoted(unnamed)}. If "
            f"they only number the rows, leave them out: --drop {listed}."
        )


def _split(source: Source, texts: Sequence[str], option: str) -> list[str]:
    """Names as users give them: several options, or commas, or both."""
    found = []
    for text in texts:
        names = [text] if text in source.names else [name.strip() for name in text.split(",")]
        names = [each for name in names for each in source.groups.get(name, (name,))]
        unknown = absent(names, source.names)
        if unknown:
            raise ValueError(
                f"{source.name} has no column {quoted(unknown)}, which {option} names. "
                f"It has {quoted(source.names)}."
            )
        found += names
    return found
