"""Rows that a report is about: the labels of all of them, and more of some of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from eigencut._utils.arrays import Indices
from eigencut.fitted import Answers
from eigencut.inspection.refits import training_rows
from eigencut.inspection.summary import TORN
from eigencut.io.rows import Rows
from eigencut.io.table import Table
from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.sampling import shown_rows
from eigencut.tables.preparation import spread
from eigencut.tables.table_model import TableModel

Mask = NDArray[np.bool_]

LOOKED_AT = 50_000  # rows that more than their label is asked of, at most


@dataclass(frozen=True)
class SeenRows:
    """Rows, and what a model says of them.

    Attributes
    ----------
    table : data frame, Table, array or sparse array, or None
        All rows as they were given; None where only prepared ones are known.
    labels : array of shape (n_rows,)
        The cluster of each, by the numbers that users know; -1 is none.
    places : array of shape (n_looked_at,)
        Of the rows that were looked at, ascending: all complete ones, or some of very many.
    rows : array of shape (n_looked_at, n_features)
        These, as the model inside wants them.
    answers : Answers
        Of these; probabilities have a column for each cluster that there is.
    is_outside : array of shape (n_looked_at,)
        Which of them lie outside what the model knows.
    """

    table: Any
    labels: Indices
    places: Indices
    rows: Any
    answers: Answers
    is_outside: Mask

    @classmethod
    def of(cls, asked: AskedModel, name: str, table: Any, random_state: int) -> SeenRows:
        """Ask a model about rows that a user gave."""
        if isinstance(table, Rows):
            raise TypeError(
                f"{name} must be rows in memory. Got eigencut.Rows; pass some of them, which is "
                "enough for a report."
            )
        rows, complete = asked.prepared(table)
        if not complete.any():
            raise ValueError(
                f"{name} must have a row without missing values. Got {len(complete)} with some; "
                "pass other rows, or fit with missing='median'."
            )
        return cls._of_prepared(asked, table, rows, complete, random_state)

    @classmethod
    def kept(cls, asked: AskedModel, random_state: int) -> SeenRows | None:
        """The same of the rows that a model has kept; None if it has not."""
        try:
            rows = training_rows(asked.gpod)
        except ValueError:
            return None
        table, complete = rows, np.ones(rows.shape[0], dtype=bool)
        if isinstance(asked.base, TableModel):
            table = asked.in_units(rows) if asked.base.preparation_.is_numeric else None
        return cls._of_prepared(asked, table, rows, complete, random_state)

    @classmethod
    def _of_prepared(
        cls, asked: AskedModel, table: Any, rows: Any, complete: Mask, random_state: int
    ) -> SeenRows:
        labels = spread(asked.labels(rows), complete, -1)
        some = shown_rows(rows.shape[0], LOOKED_AT, random_state).rows
        chosen = rows if len(some) == rows.shape[0] else rows[some]
        answers = asked.answers(chosen)
        outside = asked.is_outside(answers.support)
        return cls(table, labels, np.flatnonzero(complete)[some], chosen, answers, outside)

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    @property
    def is_part(self) -> bool:
        """Whether not all rows that could have been looked at were."""
        return len(self.places) == LOOKED_AT < self.n_rows

    @property
    def looked_at(self) -> Any:
        """The rows that were looked at, as they were given."""
        return _rows_at(self.table, self.places)

    @property
    def is_unsure(self) -> Mask:
        """Which of them nearly belong to another cluster, though the model knows the place."""
        return (self.answers.margins < TORN) & ~self.is_outside

    @property
    def share_outside(self) -> float:
        """Of rows outside what the model knows."""
        return float(self.is_outside.mean())

    def sample(self, most: int, random_state: int) -> Any:
        """Some of the prepared rows, or all."""
        some = shown_rows(len(self.places), most, random_state)
        return self.rows if some.is_all else self.rows[some.rows]


def _rows_at(table: Any, rows: Indices) -> Any:
    """Some rows of a table, of the same kind."""
    if isinstance(table, Table):
        weight = None if table.weight is None else table.weight[rows]
        return replace(table, values=table.values[rows], weight=weight)
    n_rows = table.shape[0] if hasattr(table, "shape") else len(table)
    if len(rows) == n_rows:
        return table
    if hasattr(table, "column_names"):  # Arrow's
        return table.take(rows)
    return _safe_indexing(table.tocsr() if issparse(table) else table, rows)
