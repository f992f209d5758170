"""Models from files, as models of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigencut.hierarchy.recluster import Reclustered
    from eigencut.tables.table_model import TableModel


def load_table_model(path: str) -> TableModel:
    """The model in a file; one that was saved from Python takes its columns as they are."""
    from eigencut.tables.table_model import TableModel

    model = _of_tables(path)
    if not isinstance(model, TableModel):
        raise ValueError(
            f"{path} is a model whose clusters were split, which this command does not know. Use "
            "the model that recluster was given; predict, describe and recluster take both."
        )
    return model


def load_labelling_model(path: str, jobs: int | None) -> TableModel | Reclustered:
    """The same where it only has to label rows, so that its clusters may have been split."""
    from eigencut.tables.table_model import TableModel

    model = _of_tables(path)
    parts = [] if isinstance(model, TableModel) else [split.part for split in model.splits_]
    inner = model if isinstance(model, TableModel) else model.base_
    for gpod in (inner.model_, *parts):
        gpod.set_params(n_jobs=jobs)
    return model


def load_model_with(path: str, method: str) -> Any:
    """The model in a file, of whatever kind, if it can answer this."""
    from eigencut.loading import load

    model = load(path)
    if not hasattr(model, method):
        raise ValueError(
            f"{path} is a model whose clusters were split, which has no {method}. Use the model "
            "that recluster was given."
        )
    return model


def _of_tables(path: str) -> Any:
    from eigencut.hierarchy.recluster import Reclustered
    from eigencut.loading import load
    from eigencut.tables.table_model import TableModel, table_model

    model = load(path)
    if isinstance(model, TableModel):
        return model
    if isinstance(model, Reclustered):
        return model.of_tables()
    if model.affinity_.pairwise:
        raise ValueError(
            f"{path} is a model of precomputed affinities, which tables do not have. "
            "Load it in Python with eigencut.load."
        )
    return table_model(model)
