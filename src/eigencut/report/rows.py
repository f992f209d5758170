"""Rows that a report is about: the labels of all of them, and more of some of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils import _safe_indexing

from eigencut._utils.arrays import Indices
from eigencut._utils.threads import threads
from eigencut.exceptions import invalid
from eigencut.extension.labelling import is_outlier
from eigencut.fitted import Answers
from eigencut.inspection.policy import POLICY as INSPECTION
from eigencut.inspection.refits import training_rows
from eigencut.io.rows import Rows
from eigencut.io.table import Table
from eigencut.model import Mask, Model, spread
from eigencut.plotting.rows import Shown


@dataclass(frozen=True)
class Policy:
    """How many rows a report looks at, how long it fits again, and what its sentences name."""

    looked_at: int = 50_000
    """More than its label is asked of at most so many rows."""
    points: int = 4000
    """The picture shows at most so many rows."""
    new_points: int = 2000
    """The picture shows at most so many new rows."""
    held_out: int = 2000
    """Risk is measured on the pairs of at most so many new rows."""
    refitted: int = 2000
    """A refit, and the spectrum, take at most so many rows."""
    seconds: float = 8.0
    """No further refit begins after so many seconds."""
    worth_naming: float = 0.01
    """A pair of clusters is named from this share of unsure rows on, and a change of shares."""
    shaky: float = 0.8
    """A cluster is named if refits agree on fewer of its labels."""
    beyond_chance: float = 2.0
    """A difference of so many standard errors is more than chance explains."""
    far_beyond_chance: float = 3.5
    """The same for the largest of many differences."""


POLICY = Policy()


@dataclass(frozen=True)
class SeenRows:
    """Rows, and what a model says of them; more than labels of those that were looked at."""

    table: Any  # all rows as they were given; None where only prepared ones are known
    labels: Indices  # of all rows, by the numbers that users know; -1 is none
    places: Indices  # of the rows looked at, ascending: all complete ones, or some of very many
    rows: Any  # these, as the GPOD of the model takes them
    answers: Answers  # of these
    is_outside: Mask  # which of these lie outside what the model knows

    @classmethod
    def from_user(cls, model: Model, name: str, table: Any, random_state: int) -> SeenRows:
        """Ask a model about rows that a user gave."""
        if isinstance(table, Rows):
            remedy = "pass some of them, which is enough for a report"
            raise invalid(name, "be rows in memory", "eigencut.Rows", remedy, error=TypeError)
        with model.preparing(table) as (rows, complete):
            if not complete.any():
                expected, got = "have a row without missing values", f"{len(complete)} with some"
                remedy = "pass other rows, or fit with missing='median'"
                raise invalid(name, expected, got, remedy)
            return cls._from_prepared(model, table, rows, complete, random_state)

    @classmethod
    def from_fit(cls, model: Model, random_state: int) -> SeenRows | None:
        """Ask about the rows that the model holds since its fit; None if it holds none."""
        try:
            rows = training_rows(model.gpod)
        except ValueError:
            return None
        table, complete = None, np.ones(rows.shape[0], dtype=bool)
        if model.is_numeric:
            table = rows if issparse(rows) else model.in_units(rows)
        with threads(model.gpod.n_jobs):
            return cls._from_prepared(model, table, rows, complete, random_state)

    @classmethod
    def _from_prepared(
        cls, model: Model, table: Any, rows: Any, complete: Mask, random_state: int
    ) -> SeenRows:
        labels = spread(model.labels_of(rows), complete, -1)
        some = Shown.draw(rows.shape[0], POLICY.looked_at, random_state)
        chosen = rows if some.is_all else rows[some.rows]
        answers = model.answers_of(chosen)
        return cls(
            table=table,
            labels=labels,
            places=np.flatnonzero(complete)[some.rows],
            rows=chosen,
            answers=answers,
            is_outside=is_outlier(answers.support, model.gpod.fitted_cut_.least_support),
        )

    @property
    def n_rows(self) -> int:
        return len(self.labels)

    @property
    def is_part(self) -> bool:
        """Whether not all rows that could have been looked at were."""
        return len(self.places) == POLICY.looked_at < self.n_rows

    @property
    def looked_at(self) -> Any:
        """The rows that were looked at, as they were given."""
        table, places = self.table, self.places
        if isinstance(table, Table):
            weight = None if table.weight is None else table.weight[places]
            return replace(table, values=table.values[places], weight=weight)
        if len(places) == self.n_rows:
            return table
        if hasattr(table, "column_names"):  # Arrow's
            return table.take(places)
        return _safe_indexing(table.tocsr() if issparse(table) else table, places)

    @property
    def is_unsure(self) -> Mask:
        """Which of them nearly belong to another cluster, though the model knows the place."""
        return (self.answers.margins < INSPECTION.ambiguous_margin) & ~self.is_outside

    def unsure_share(self, cluster: int | None = None) -> float | None:
        """The share of rows that are unsure, of a cluster or of all."""
        unsure = self.is_unsure
        if cluster is not None:
            unsure = unsure[self.answers.labels == cluster]
        return float(unsure.mean()) if len(unsure) else None

    def sample(self, most: int, random_state: int) -> Any:
        """Some of the prepared rows, or all."""
        some = Shown.draw(len(self.places), most, random_state)
        return self.rows if some.is_all else self.rows[some.rows]
