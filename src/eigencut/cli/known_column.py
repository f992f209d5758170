"""The column that --known names: classes of some rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from eigencut.io.table import Table
    from eigencut.semi_supervised.known_labels import KnownClasses
    from eigencut.tables.table_model import TableModel


def known_classes(
    table: Table, column: str | None, n_clusters: int | str, source: str
) -> KnownClasses | None:
    """What a column of words says of the classes of rows; None where no column is named."""
    if column is None:
        return None

    import numpy as np  # here, so that --help is quick

    from eigencut.semi_supervised.known_labels import read_known_labels

    words: list[str | None] = [*table.words(column), None]
    codes = table.values[:, table.names.index(column)]
    cells = [words[int(code)] for code in np.where(np.isnan(codes), len(words) - 1, codes)]
    name = f"{source}: column {column!r}, which --known names,"
    found = read_known_labels(np.array(cells, dtype=object), len(cells), name=name)
    if (found.labels < 0).all():
        raise ValueError(
            f"{name} must hold the classes of some rows, and nothing or -1 in the others. Got no "
            "class at all; leave --known out to look for clusters without classes."
        )
    n_classes = int(found.labels.max()) + 1
    if isinstance(n_clusters, int) and n_clusters < n_classes:
        listed = ", ".join(found.names) or f"numbers up to {n_classes - 1}"
        raise ValueError(
            f"-k must be at least the number of classes in column {column!r}, {n_classes} "
            f"({listed}). Got {n_clusters}; raise it, or use -k auto."
        )
    return found


def cluster_columns(model: TableModel | Any, labels: Any) -> dict[str, Any]:
    """Clusters as they are written: numbers, and names where classes had some."""
    names = getattr(model, "class_names_", [])
    if not names:
        return {"cluster": labels}

    from eigencut.semi_supervised.known_labels import named

    return {"cluster": labels, "cluster_name": named(labels, names)}
