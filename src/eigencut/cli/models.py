"""Models from files, as models of tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from eigencut.data.table_model import TableModel


def load_table_model(path: str) -> TableModel:
    """The model in a file; one that was saved from Python takes its columns as they are."""
    from eigencut.data.table_model import TableModel, table_model
    from eigencut.files.models import load

    model = load(path)
    if isinstance(model, TableModel):
        return model
    if model.affinity_.pairwise:
        raise ValueError(
            f"{path} is a model of precomputed affinities, which tables do not have. "
            "Load it in Python with eigencut.load."
        )
    return table_model(model)
