"""What commands do with tables and models: read tables, choose columns, fit, load and label."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from eigencut._utils.running import tell, warn_user, without_progress
from eigencut.auto.select import Selection, select
from eigencut.cli.options import RunOptions, TableOptions
from eigencut.exceptions import invalid
from eigencut.io.column_kinds import NUMERIC, Kind, absent, quoted, refuse_duplicates
from eigencut.io.readers import open_source
from eigencut.io.refused_rows import naming_rows_of_table
from eigencut.io.rows import Rows, with_weight_column
from eigencut.io.table import Coding, Source, Table
from eigencut.loading import load
from eigencut.neighbors.metrics import are_unit_vectors
from eigencut.semi_supervised.known_labels import named, read_known_labels
from eigencut.tables.preparation import learn_preparation
from eigencut.tables.table_model import TableModel, table_model


def open_table(path: str, run: RunOptions) -> Source:
    """Open the table at a path, or standard input for ``-``."""
    if path != "-":
        return open_source(path, **run.reading)
    if sys.stdin is None:
        raise ValueError("Standard input is closed; name a file instead of -.")
    return open_source("Standard input", file=sys.stdin.buffer, **run.reading)  # type: ignore[arg-type]


def data_columns(source: Source, options: TableOptions, known: str | None = None) -> list[str]:
    """Return the columns to cluster: --columns or all, without --drop, --id, --weights, --known."""
    wanted = _split(source, options.columns, "--columns")
    dropped = _split(source, options.drop, "--drop")
    dropped += _named_columns(source, id=options.id_column, weights=options.weights, known=known)
    if known is not None and known == options.weights:
        raise ValueError(f"--weights and --known both name {known!r}; name two columns.")
    chosen = absent(wanted or source.names, dropped)
    if not chosen:
        raise ValueError(f"{source.name}: no columns are left; choose some with --columns.")
    refuse_duplicates(chosen)
    unnamed = [name for name in chosen if name in source.unnamed]
    if unnamed and not wanted:  # such as the index of a frame, as pandas writes it
        warn_user(
            f"{source.name} has columns without a name, which count as data: {quoted(unnamed)}. If "
            f"they only number the rows, leave them out: --drop {','.join(unnamed)}."
        )
    return chosen


def kinds_of_columns(
    source: Source, chosen: Sequence[str], options: TableOptions
) -> dict[str, Any] | None:
    """Return the kinds of columns from options, for ``TableModel(columns=...)``."""
    given: list[tuple[str, str, Any]] = []  # option, column, kind
    for option in ("categorical", "numeric", "date"):
        names = _split(source, getattr(options, option), f"--{option}")
        given += [(option, name, option) for name in names]
    given += [("ordered", name, order) for name, order in options.ordered]
    kinds: dict[str, Any] = {}
    for option, name, kind in given:
        _check_columns(source, [name], f"--{option}")
        if name not in chosen:
            raise ValueError(f"--{option} names {name!r}, which --columns or --drop leaves out.")
        if name in kinds:
            raise ValueError(f"Two options say what {name!r} holds; name it once.")
        kinds[name] = kind
    return kinds or None


def read_data(
    source: Source, columns: Sequence[str], kinds: Any, options: TableOptions, *more: str
) -> Table:
    """Read all rows of a table for a fit, with ``more`` columns that are read as words."""
    coding = Coding(dict.fromkeys(more, Kind("categorical")), kinds)
    with options.progress("table"):
        return _read(source, [*columns, *more], options.weights, coding, options.id_column)


def fit_table(
    gpod: Any, path: str, in_blocks: bool, known: str | None, run: TableOptions
) -> tuple[Any, Iterable[dict[str, Any]]]:
    """Fit a TableModel for the command ``eigencut fit``; return it, and blocks of labelled rows."""
    source = open_table(path, run)
    columns = data_columns(source, run, known)
    kinds = kinds_of_columns(source, columns, run)
    model = TableModel(gpod, columns=kinds, scale=run.scale, missing=run.missing)
    if in_blocks and Path(path).is_file():
        source.close()
        with run.progress("table"):
            model.fit(Rows.from_file(path, columns, weights=run.weights, **run.reading))
        answer = lambda table: cluster_columns(model, model.predict(table))  # noqa: E731
        return model, labelled_blocks(model, path, run, run.id_column, answer)
    table = read_data(source, columns, kinds, run, *([] if known is None else [known]))
    whole, classes = table.choose(columns), None
    if known is not None:
        classes = known_classes(table, known, gpod.n_clusters, source.name)
    if gpod.metric is None and run.scale != "none" and are_unit_vectors(whole.values):
        warn_user(
            "All rows have length 1, as embeddings do, and scaling columns changes it. Use "
            "--metric cosine for directions, or --scale none."
        )
    with run.progress("fit"):
        model.fit(whole, sample_weight=whole.weight, known_labels=classes)
    names = {} if run.id_column is None else {run.id_column: table.ids}
    return model, [names | cluster_columns(model, model.labels_)]


def select_table(path: str, run: TableOptions, **how: Any) -> Selection:
    """Call ``eigencut.select`` on a table, for the command ``eigencut select``."""
    source = open_table(path, run)
    columns = data_columns(source, run)
    table = read_data(source, columns, kinds_of_columns(source, columns, run), run)
    preparation = learn_preparation(table, run.scale, run.missing)
    rows, complete = preparation.apply(table)
    weight = None if table.weight is None else table.weight[complete]
    with run.progress("candidates"), naming_rows_of_table(table, complete, preparation):
        return select(rows, n_jobs=run.jobs, sample_weight=weight, **how)


def known_classes(table: Table, column: str, n_clusters: int | str, source: str) -> Any:
    """Return a column for ``known_labels`` of ``fit``, after a check of the number of classes."""
    words: list[str | None] = [*table.words(column), None]
    codes = table.values[:, table.names.index(column)]
    cells = np.array(words, dtype=object)[np.where(np.isnan(codes), -1, codes).astype(np.intp)]
    name = f"{source}: column {column!r}, which --known names,"
    known = read_known_labels(cells, len(cells), name=name)
    n_classes = int(known.labels.max()) + 1
    if not n_classes:
        expected = "hold the classes of some rows, and nothing or -1 in the others"
        raise invalid(name, expected, "no class at all", "leave --known out for no classes")
    if isinstance(n_clusters, int) and n_clusters < n_classes:
        listed = ", ".join(known.names) or f"numbers up to {n_classes - 1}"
        expected = f"be at least the number of classes in column {column!r}, {n_classes} ({listed})"
        raise invalid("-k", expected, n_clusters, "raise it, or use -k auto")
    return cells


def load_model(path: str, jobs: int | None, one_cut: bool = False) -> Any:
    """Load a model that takes tables; a GPOD becomes a TableModel that leaves columns unchanged."""
    model: Any = load(path)
    if model.gpod.affinity_.pairwise:
        raise ValueError(
            f"{path} is a model of precomputed affinities, which tables do not have. "
            "Load it in Python with eigencut.load."
        )
    if model.splits_:
        if one_cut:
            raise ValueError(
                f"{path} is a model whose clusters were split, which this command cannot use. "
                "Use the model from before recluster."
            )
        model = model.of_tables()
    elif not model.finds_columns:
        model = table_model(model)
    for gpod in (model.gpod, *(split.part for split in model.splits_)):
        gpod.set_params(n_jobs=jobs)
    return model


def labelled_blocks(
    model: Any,
    path: str,
    run: RunOptions,
    id_column: str | None,
    answer: Callable[[Table], dict[str, Any]],
) -> Iterator[dict[str, Any]]:
    """Yield columns of answers for blocks of a table, after the ``id_column`` if there is one."""
    source = open_table(path, run)
    start, n_rows = time.perf_counter(), 0
    columns = model_columns(model, source, id=id_column)
    for table in source.blocks(columns, id_column, model.unsplit.preparation_.coding()):
        with without_progress():
            answers = answer(table)
        yield ({} if id_column is None else {id_column: table.ids}) | answers
        n_rows += len(table.values)
        share, seconds = source.share(), time.perf_counter() - start
        left = f", {seconds * (1 / share - 1):.0f} s left" if share else ""
        tell(share, f"{n_rows:,} rows, {n_rows / seconds:,.0f} rows/s{left}")


def read_for_model(
    model: Any,
    path: str,
    run: RunOptions,
    *,
    documents: str | None = None,
    weights: str | None = None,
) -> Table:
    """Read the columns of a model, and those that options name, from all rows of a table."""
    source = open_table(path, run)
    columns = model_columns(model, source, documents=documents, weights=weights)
    if weights in columns:
        expected = "name a column that the model does not use as data"
        got = f"{weights!r}, which the model was fitted on"
        raise invalid("--weights", expected, got, "fit it with --weights, or give another")
    with run.progress("table"):
        return _read(source, columns, weights, model.unsplit.preparation_.coding(), documents)


def model_columns(model: Any, source: Source, **named: str | None) -> list[str]:
    """Return the columns of a model; raise an error if the table lacks any, or one of ``named``."""
    _named_columns(source, **named)
    columns: list[str] = model.columns_
    missing = absent(columns, source.names)
    if missing:
        raise ValueError(
            f"{source.name} must have the columns that the model was fitted on. "
            f"It lacks {quoted(missing)}, and has {quoted(source.names)}."
        )
    return columns


def write_clusters(
    blocks: Iterable[dict[str, Any]], write: Callable[[dict[str, Any]], None]
) -> Counter[int]:
    """Write columns block by block; return the number of rows of each cluster (-1: no cluster)."""
    sizes = Counter[int]()
    for columns in blocks:
        write(columns)
        sizes.update(dict(enumerate(np.bincount(columns["cluster"] + 1).tolist(), start=-1)))
    return sizes


def cluster_columns(model: Any, labels: Any) -> dict[str, Any]:
    """Return the columns to write for labels: their numbers, and names if clusters have names."""
    names = getattr(model, "class_names_", [])
    return {"cluster": labels} | ({"cluster_name": named(labels, names)} if names else {})


def _read(
    source: Source, columns: list[str], weights: str | None, coding: Coding, names: str | None
) -> Table:
    """Read all rows of some columns; ``weights`` and ``names`` are columns with weights and ids."""
    if weights is None:
        return source.read(columns, names, coding)
    coding.kinds.setdefault(weights, NUMERIC)
    table = source.read([*columns, weights], names, coding)
    return with_weight_column(table, columns, weights, source.name)


def _check_columns(source: Source, names: Sequence[str], option: str) -> None:
    """Raise an error if the table lacks columns that an option names."""
    unknown = absent(names, source.names)
    if unknown:
        raise ValueError(
            f"{source.name} has no column {quoted(unknown)}, which {option} names. "
            f"It has {quoted(source.names)}."
        )


def _named_columns(source: Source, **named: str | None) -> list[str]:
    """Return the columns that options name, without None; raise an error if the table lacks one."""
    given = {option: name for option, name in named.items() if name is not None}
    for option, name in given.items():
        _check_columns(source, [name], f"--{option}")
    return list(given.values())


def _split(source: Source, texts: Sequence[str], option: str) -> list[str]:
    """Return the columns from texts such as "a,b", each of which may name several columns."""
    columns = []
    for text in texts:
        names = [text] if text in source.names else [part.strip() for part in text.split(",")]
        columns += [each for name in names for each in source.groups.get(name, (name,))]
    _check_columns(source, columns, option)
    return columns
