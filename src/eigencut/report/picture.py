"""Some rows as points of the plane."""

from __future__ import annotations

import numpy as np

from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.projection import project
from eigencut.plotting.sampling import shown_rows
from eigencut.report.seen_rows import SeenRows
from eigencut.report.summary import Picture

_POINTS = 4000  # of a picture: as many as a page draws and searches at once
_NEW_POINTS = 2000
_WORDS = {
    "columns": "the two columns as they are",
    "eigenfunctions": "the first two eigenfunctions that vary, of rows of unit length",
    "pca": "the two directions in which the prepared rows differ most (PCA)",
}
_DIGITS = 6  # of a coordinate


def picture_of(
    asked: AskedModel, seen: SeenRows | None, new: SeenRows | None, random_state: int
) -> Picture | None:
    """Rows and new rows in the plane; None where there are none, or no plane for them."""
    groups = [rows for rows in (seen, new) if rows is not None]
    if not groups:
        return None
    try:
        projection = project(asked, groups[0].rows)
    except ValueError:  # one cluster of one column
        return None
    assert projection.apply is not None
    points, labels, margins, places, is_new = [], [], [], [], []
    for rows in groups:
        most = _NEW_POINTS if rows is new else _POINTS
        some = shown_rows(len(rows.places), most, random_state).rows
        points.append(projection.apply(rows.rows[some]))
        labels.append(rows.answers.labels[some])
        margins.append(rows.answers.margins[some])
        places.append(rows.places[some])
        is_new.append(np.full(len(some), rows is new))
    x, y = np.concatenate(points).T
    first, second = projection.axis_labels
    return Picture(
        projection=_WORDS[projection.kind],
        axes=(first, second),
        x=_rounded(x),
        y=_rounded(y),
        labels=tuple(map(int, np.concatenate(labels))),
        margins=_rounded(np.concatenate(margins)),
        rows=tuple(map(int, np.concatenate(places))),
        is_new=tuple(map(bool, np.concatenate(is_new))),
        n_rows=0 if seen is None else seen.n_rows,
        n_new=0 if new is None else new.n_rows,
    )


def _rounded(values: np.ndarray) -> tuple[float, ...]:
    """To as many digits as a picture shows."""
    return tuple(float(f"{value:.{_DIGITS}g}") for value in values)
