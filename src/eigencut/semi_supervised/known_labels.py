"""What a user knows of the rows: classes of some of them, pairs, and what follows from both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse

from eigencut._utils.arrays import Array, Indices
from eigencut.exceptions import invalid
from eigencut.io.column_kinds import shown_word, word_of
from eigencut.io.rows import Rows
from eigencut.neighbors.metrics import row_keys
from eigencut.semi_supervised.constraints import (
    Constraints,
    check_kind,
    least_apart,
    linked_groups,
    refuse_contradictions,
)

UNKNOWN = -1


@dataclass(frozen=True)
class KnownClasses:
    """The class of each row, and the names of the classes."""

    labels: Indices  # -1 where the class is unknown
    names: tuple[str, ...] = ()  # in alphabetical order; none where classes are numbers


def read_known_labels(
    known_labels: ArrayLike, n_rows: int, *, words: bool = True, name: str = "known_labels"
) -> KnownClasses:
    """Read classes as people write them: numbers or words, and -1 or nothing where unknown.

    ``words`` says whether classes may be words, and ``name`` what an error calls them.
    """
    values = np.asarray(known_labels)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.shape != (n_rows,):
        expected = f"have a class, or -1 or nothing if unknown, for each of the {n_rows} rows"
        raise invalid(name, expected, f"shape {values.shape}", "pass one for each row of X")
    cells = values.tolist()
    word = {cell: word_of(cell) for cell in dict.fromkeys(cells)}
    names = tuple(sorted({text for text in word.values() if text} - {str(UNKNOWN)}))
    are_numbers = all(map(_is_number, names))
    numbers = {text: number for number, text in enumerate(names)}
    if are_numbers or not words:
        for text in names:
            if not text.isdecimal():
                remedy = "correct it, or number the classes"
                if not are_numbers:
                    text = shown_word(text)
                    remedy = "number the classes, or use TableModel, which takes words"
                expected = "whole numbers from 0 on, and -1 or nothing where the class is unknown"
                raise invalid(name, f"hold {expected}", text, remedy)
        numbers, names = {text: int(text) for text in names}, ()
    label = {cell: numbers.get(text or "", UNKNOWN) for cell, text in word.items()}
    return KnownClasses(np.array([label[cell] for cell in cells], dtype=np.intp), names)


def named(labels: Indices, names: Sequence[str]) -> list[str]:
    """Return what clusters are called; an empty text where no name is known."""
    return [names[label] if 0 <= label < len(names) else "" for label in labels.tolist()]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Known:
    """Labels and pairs of some rows, which do not contradict each other.

    ``labelled`` are rows of known class and positive weight: of identical ones of one class the
    first, in an order that does not depend on that of the rows. So rows count once, however often
    they are repeated, or whatever their weight.
    """

    X: Any  # the rows, those without weight too
    labels: Indices  # of each row, -1 if unknown; rows of one group have one class
    labelled: Indices
    groups: tuple[Indices, ...]  # rows that must get one label, two or more in each
    apart: Indices  # pairs of rows that should get different labels

    @classmethod
    def from_rows(
        cls,
        X: Any,
        known_labels: ArrayLike | None,
        constraints: Constraints | None,
        sample_weight: Array | None = None,
    ) -> Known | None:
        """Return what is known of the rows of X; None where that is nothing."""
        if known_labels is None and constraints is None:
            return None
        pairs = Constraints() if constraints is None else check_kind(constraints)
        if isinstance(X, Rows):  # which has no numbers of rows, and whose labels may not fit
            name = "known_labels" if constraints is None else "constraints"
            got = "them with a stream, eigencut.Rows"
            remedy = "fit on an array that holds the known rows and a sample of the others"
            expected = "be of rows in memory, which have numbers"
            raise invalid(name, expected, got, remedy, TypeError)
        n = X.shape[0]
        labels = np.full(n, UNKNOWN, dtype=np.intp)
        if known_labels is not None:
            labels = read_known_labels(known_labels, n, words=False).labels
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
        known = cls(X, labels, labelled, groups, pairs.cannot_link)
        return known if known.n_facts else None

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
            expected = "be 'keep' with must_link, whose rows get equal labels"
            got = f"{outliers!r}, which marks each row on its own"
            raise invalid("outliers", expected, got, "ask score_samples instead")
        if extension != "consistent":
            expected = "be 'consistent' with known labels or pairs"
            got = f"{extension!r}, which does not give back eigenvectors"
            raise invalid("extension", expected, got, "leave it out")
        largest = self.n_classes - 1
        if largest >= n_clusters:
            expected = f"hold classes from 0 to {n_clusters - 1} (n_clusters={n_clusters}), and -1"
            remedy = "number the classes from 0, or raise n_clusters"
            raise invalid("known_labels", f"{expected} where they are unknown", largest, remedy)


def _with_identical_rows(must: Indices, X: Any) -> Indices:
    """Return the pairs, and those of identical rows: no function can tell these apart."""
    rows = np.unique(must)
    first: dict[bytes, int] = {}
    pairs = zip(rows.tolist(), row_keys(X[rows]), strict=True)
    same = [(first.setdefault(key, row), row) for row, key in pairs]
    repeated = np.array([pair for pair in same if pair[0] != pair[1]], dtype=np.intp)
    return np.concatenate([must, repeated.reshape(-1, 2)])


def _first_of_identical(rows: Indices, X: Any, labels: Indices) -> Indices:
    """Of identical rows of one class the first, ordered by what is in them."""
    first: dict[tuple[bytes, int], int] = {}
    for row, key in zip(rows.tolist(), row_keys(X[rows]), strict=True):
        first.setdefault((key, int(labels[row])), row)
    return np.array([first[known] for known in sorted(first)], dtype=np.intp)


def _members(group: Indices, rows: Indices) -> tuple[Indices, ...]:
    """The rows of each group, of groups that hold one of these rows."""
    order = rows[np.argsort(group[rows], kind="stable")]
    groups = np.split(order, np.flatnonzero(np.diff(group[order])) + 1)
    return tuple(groups) if len(rows) else ()
