"""What a user knows of the rows, checked and completed by what follows from it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut.data.rows import Rows
from eigencut.known.class_names import known_classes_of_rows
from eigencut.known.constraints import Constraints, check_kind
from eigencut.known.contradictions import linked_groups, refuse_contradictions
from eigencut.known.least_clusters import least_apart
from eigencut.runtime.arrays import Array, Indices
from eigencut.search.distinct_rows import row_keys


@dataclass(frozen=True)
class Known:
    """Labels and pairs of some rows; they do not contradict each other.

    Attributes
    ----------
    X : array or sparse array
        The rows, those without weight too.
    labels : array of shape (n_rows,)
        The class of each row, -1 where it is unknown; rows of one group have one class.
    labelled : array
        Rows of known class and positive weight: of identical ones of one class the first, in an
        order that does not depend on that of the rows. So rows count once, however often they are
        repeated, or whatever their weight.
    groups : tuple of arrays
        Rows that must get one label, two or more in each group.
    apart : array of shape (n_pairs, 2)
        Rows that should get different labels.
    """

    X: Any
    labels: Indices
    labelled: Indices
    groups: tuple[Indices, ...]
    apart: Indices

    @classmethod
    def of(
        cls, X: Any, y: Any, constraints: Constraints | None, sample_weight: Array | None = None
    ) -> Known | None:
        """What is known of the rows of X; None where that is nothing."""
        if constraints is not None:
            check_kind(constraints)
        if isinstance(X, Rows):
            _refuse_stream(y, constraints)
            return None
        n = X.shape[0]
        labels = known_classes_of_rows(y, n, words=False).labels
        if constraints is None and (labels < 0).all():
            return None
        pairs = Constraints() if constraints is None else constraints
        pairs.check_rows(n)
        must = _with_identical_rows(pairs.must_link, X)
        group = linked_groups(n, must)
        refuse_contradictions(group, must, pairs.cannot_link, labels)
        groups = _members(group, np.unique(must))
        for rows in groups:
            labels[rows] = labels[rows].max()
        is_labelled = labels >= 0
        if sample_weight is not None:
            is_labelled &= sample_weight > 0
        labelled = _first_of_identical(np.flatnonzero(is_labelled), X, labels)
        found = cls(X, labels, labelled, groups, pairs.cannot_link)
        return found if found.n_facts else None

    def rows_at(self, numbers: Indices) -> Any:
        """Some of the rows, as ``predict`` is given them: of float64, whatever X is of."""
        found = self.X[numbers]
        return found if issparse(found) else np.asarray(found, dtype=np.float64)

    @property
    def rows(self) -> Indices:
        """All rows of which something is to be learned, ascending."""
        return np.unique(np.concatenate([self.labelled, *self.groups, self.apart.ravel()]))

    @property
    def n_facts(self) -> int:
        """Labels, and pairs that follow from nothing else."""
        return len(self.labelled) + sum(len(g) - 1 for g in self.groups) + len(self.apart)

    @property
    def n_classes(self) -> int:
        """Classes that are known of: 0, 1, ... up to the largest."""
        return int(self.labels.max()) + 1

    @property
    def least_clusters(self) -> int:
        """So many clusters at least are needed for classes and pairs to hold."""
        return max(1, self.n_classes, least_apart(self.labels, self.groups, self.apart))

    def check_model(self, n_clusters: int, outliers: str, extension: str) -> None:
        """Refuse parameters of a model that cannot take account of what is known."""
        if self.groups and outliers != "keep":
            raise ValueError(
                f"outliers must be 'keep' with must_link, whose rows get equal labels. Got "
                f"{outliers!r}, which marks each row on its own; ask score_samples instead."
            )
        if extension != "consistent":
            raise ValueError(
                f"extension must be 'consistent' with known labels or pairs. Got {extension!r}, "
                "which does not give back eigenvectors; leave it out."
            )
        largest = self.n_classes - 1
        if largest >= n_clusters:
            raise ValueError(
                f"y must hold classes from 0 to {n_clusters - 1} (n_clusters={n_clusters}), and -1 "
                f"where they are unknown. Got {largest}; number the classes from 0, or raise "
                "n_clusters."
            )


def _refuse_stream(y: Any, constraints: Constraints | None) -> None:
    """A stream has no numbers of rows, and its labels need not fit in memory."""
    n_given = np.shape(y)[0] if np.ndim(y) else 0
    is_known = known_classes_of_rows(y, n_given).are_some
    if constraints is not None or is_known:
        name = "y" if constraints is None else "constraints"
        raise TypeError(
            f"{name} must be of rows in memory, which have numbers. Got them with a stream, "
            "eigencut.Rows; fit on an array that holds the known rows and a sample of the others."
        )


def _with_identical_rows(must: Indices, X: Any) -> Indices:
    """The pairs, and those of identical rows among them: no function can tell these apart."""
    rows = np.unique(must)
    first: dict[bytes, int] = {}
    same = []
    for row, key in zip(rows.tolist(), row_keys(X[rows]), strict=True):
        if key in first:
            same.append((first[key], row))
        else:
            first[key] = row
    return np.concatenate([must, np.array(same, dtype=np.intp).reshape(-1, 2)])


def _first_of_identical(rows: Indices, X: Any, labels: Indices) -> Indices:
    """Of identical rows of one class the first, ordered by what is in them."""
    first: dict[tuple[bytes, int], int] = {}
    for row, key in zip(rows.tolist(), row_keys(X[rows]), strict=True):
        first.setdefault((key, int(labels[row])), row)
    return np.array([first[known] for known in sorted(first)], dtype=np.intp)


def _members(group: Indices, rows: Indices) -> tuple[Indices, ...]:
    """The rows of each group, of groups that hold one of these rows."""
    order = rows[np.argsort(group[rows], kind="stable")]
    if not len(order):
        return ()
    return tuple(np.split(order, np.flatnonzero(np.diff(group[order])) + 1))
