"""Known labels and pairs (``Constraints``) of rows, read, checked and combined (``Known``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import coo_array, issparse
from scipy.sparse.csgraph import connected_components

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import shown
from eigencut.exceptions import invalid
from eigencut.io.column_kinds import shown_word, word_of
from eigencut.io.rows import Rows
from eigencut.neighbors.metrics import row_keys

UNKNOWN = -1


@dataclass(frozen=True)
class KnownClasses:
    """The class of each row, and the names of the classes."""

    labels: Indices  # -1 where the class is unknown
    names: tuple[str, ...] = ()  # in alphabetical order; empty if classes are numbers


def read_known_labels(
    known_labels: ArrayLike, n_rows: int, *, words: bool = True, name: str = "known_labels"
) -> KnownClasses:
    """Read classes, which are numbers or words, and -1 or nothing where they are unknown."""
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
    """Return the name of each label, or an empty text if it has none."""
    return [names[label] if 0 <= label < len(names) else "" for label in labels.tolist()]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


class Constraints:
    """Pairs of rows that belong together, and pairs that do not.

    ``GPOD.fit(X, constraints=...)`` always gives the rows of a must-link pair the same label. The
    rows of a cannot-link pair get different labels where the data allow it, and a warning counts
    the other pairs.

    Parameters
    ----------
    must_link, cannot_link : array-like of shape (n_pairs, 2)
        Pairs of row numbers, from 0 on.

    Examples
    --------
    >>> Constraints(must_link=[(0, 3), (3, 7)], cannot_link=[(0, 5)])
    Constraints(2 must-link pairs, 1 cannot-link pair)
    """

    def __init__(
        self, must_link: ArrayLike | Sequence[Any] = (), cannot_link: ArrayLike | Sequence[Any] = ()
    ) -> None:
        self.must_link = _checked_pairs("must_link", must_link)
        self.cannot_link = _checked_pairs("cannot_link", cannot_link)

    def __repr__(self) -> str:
        counts = (len(self.must_link), "must-link"), (len(self.cannot_link), "cannot-link")
        listed = (f"{n} {kind} pair{'' if n == 1 else 's'}" for n, kind in counts)
        return f"{type(self).__name__}({', '.join(listed)})"

    def _check_rows(self, n_rows: int) -> None:
        """Raise an error for numbers of rows that do not exist."""
        for name, pairs in vars(self).items():
            if len(pairs) and pairs.max() >= n_rows:
                expected = f"hold numbers of rows, from 0 to {n_rows - 1}"
                raise invalid(name, expected, pairs.max(), "rows are counted from 0")

    def _among(self, is_there: NDArray[np.bool_]) -> Constraints:
        """Return the pairs, renumbered for the rows that are there; refuse pairs of others."""
        self._check_rows(len(is_there))
        for name, pairs in vars(self).items():
            absent = np.unique(pairs[~is_there[pairs]])
            if len(absent):
                got = f"row {absent[0]}, which has missing values"
                remedy = "fill them in with missing='median', or drop its pairs"
                raise invalid(name, "hold rows that take part", got, remedy)
        number = np.cumsum(is_there) - 1
        return Constraints(number[self.must_link], number[self.cannot_link])


def check_kind(constraints: Any) -> Constraints:
    """Return ``constraints``; raise an error if it is not ``Constraints``."""
    if not isinstance(constraints, Constraints):
        remedy = "use eigencut.Constraints(must_link=pairs, cannot_link=pairs)"
        expected = "be eigencut.Constraints"
        raise invalid("constraints", expected, shown(constraints), remedy, TypeError)
    return constraints


def _checked_pairs(name: str, pairs: Any) -> Indices:
    """Return must-link or cannot-link pairs: two different, non-negative numbers of rows."""
    array = np.asarray(pairs)
    if array.size == 0:
        return np.empty((0, 2), dtype=np.intp)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        expected = "be pairs of row numbers, integers of shape (n_pairs, 2)"
        got = f"shape {array.shape} of {array.dtype}"
        raise invalid(name, expected, got, "pass pairs like [(0, 3), (2, 5)]")
    if array.min() < 0:
        remedy = "negative numbers do not count from the end"
        raise invalid(name, "hold numbers of rows, from 0 on", array.min(), remedy)
    itself = array[array[:, 0] == array[:, 1]]
    if len(itself):
        got = f"row {itself[0, 0]} with itself"
        raise invalid(name, "hold pairs of different rows", got, "drop it")
    return array.astype(np.intp)


@dataclass(frozen=True)
class Known:
    """Labels and pairs of some rows, which do not contradict each other."""

    X: Any  # all rows, also those of weight 0
    labels: Indices  # of each row, -1 if unknown; rows of one group have one class
    labelled: Indices  # rows of known class and positive weight; of identical ones only the first
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
        """Combine and check labels and pairs of the rows of X; return None without any."""
        if known_labels is None and constraints is None:
            return None
        pairs = Constraints() if constraints is None else check_kind(constraints)
        if isinstance(X, Rows):  # a stream: rows have no numbers, and labels may not fit
            name = "known_labels" if constraints is None else "constraints"
            remedy = "fit on an array that holds the known rows and a sample of the others"
            expected = "be of rows in memory, which have numbers"
            raise invalid(name, expected, "them with a stream, eigencut.Rows", remedy, TypeError)
        n = X.shape[0]
        labels = np.full(n, UNKNOWN, dtype=np.intp)
        if known_labels is not None:
            labels = read_known_labels(known_labels, n, words=False).labels
        pairs._check_rows(n)
        must = _with_identical_rows(pairs.must_link, X)
        group, linked = linked_groups(n, must), np.unique(must)
        refuse_contradictions(group, pairs.cannot_link, labels)
        order = linked[np.argsort(group[linked], kind="stable")]
        starts = np.flatnonzero(np.diff(group[order])) + 1
        groups = tuple(np.split(order, starts)) if len(linked) else ()
        for rows in groups:
            labels[rows] = labels[rows].max()
        is_labelled = labels >= 0
        if sample_weight is not None:
            is_labelled &= sample_weight > 0
        labelled = _first_of_identical(np.flatnonzero(is_labelled), X, labels)
        known = cls(X, labels, labelled, groups, pairs.cannot_link)
        return known if known.n_facts else None

    def rows_at(self, numbers: Indices) -> Any:
        """Return some of the rows as float64, as ``predict`` takes them."""
        rows = self.X[numbers]
        return rows if issparse(rows) else np.asarray(rows, dtype=np.float64)

    @property
    def rows(self) -> Indices:
        """The numbers of all rows with a label or in a pair, ascending."""
        return np.unique(np.concatenate([self.labelled, *self.groups, self.apart.ravel()]))

    @property
    def n_facts(self) -> int:
        """The number of labels, and of pairs that do not follow from others."""
        return len(self.labelled) + sum(len(g) - 1 for g in self.groups) + len(self.apart)

    @property
    def n_classes(self) -> int:
        """The number of classes: 0, 1, ... up to the largest label."""
        return int(self.labels.max()) + 1

    @property
    def least_clusters(self) -> int:
        """The number of clusters that classes and pairs need at least; pairs may need more."""
        return max(self.n_classes, 2 if len(self.apart) else 1)

    def check_model(self, n_clusters: int, outliers: str, extension: str) -> None:
        """Raise an error for parameters of a model that do not work with labels or pairs."""
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
    """Return the pairs and those of identical rows, which always have the same label."""
    rows = np.unique(must)
    first: dict[bytes, int] = {}
    pairs = zip(rows.tolist(), row_keys(X[rows]), strict=True)
    same = [(first.setdefault(key, row), row) for row, key in pairs]
    repeated = np.array([pair for pair in same if pair[0] != pair[1]], dtype=np.intp)
    return np.concatenate([must, repeated.reshape(-1, 2)])


def _first_of_identical(rows: Indices, X: Any, labels: Indices) -> Indices:
    """Return the first of identical rows of one class, in order of their bytes."""
    first: dict[tuple[bytes, int], int] = {}
    for row, key in zip(rows.tolist(), row_keys(X[rows]), strict=True):
        first.setdefault((key, int(labels[row])), row)
    return np.array([first[known] for known in sorted(first)], dtype=np.intp)


def linked_groups(n_rows: int, pairs: Indices) -> Indices:
    """Return the group of every row: pairs, and chains of them, put rows in one group."""
    links = coo_array((np.ones(len(pairs)), tuple(pairs.T)), shape=(n_rows, n_rows))
    return np.asarray(connected_components(links, directed=False)[1], dtype=np.intp)


def refuse_contradictions(groups: Indices, cannot: Indices, labels: Indices) -> None:
    """Raise an error for cannot-link pairs or labels that contradict the must-link groups."""
    known = np.flatnonzero(labels >= 0)[::-1]
    class_of = np.full(int(groups.max(initial=-1)) + 1, UNKNOWN)  # that of its first known row
    class_of[groups[known]] = labels[known]
    first, second = groups[cannot].T
    against = known[labels[known] != class_of[groups[known]]]
    is_same = (class_of[first] >= 0) & (class_of[first] == class_of[second])
    if (first == second).any():
        a, b = cannot[first == second][0]
        got = f"rows {a} and {b} cannot-link, but pairs of must_link put them together"
    elif len(against):
        row = against[-1]
        got = f"must_link puts row {row}, which is known to be of class {labels[row]}, together "
        got += f"with a row of class {class_of[groups[row]]}"
    elif is_same.any():
        a, b = cannot[is_same][0]
        got = f"rows {a} and {b} cannot-link, but both are of class {class_of[groups[a]]}"
    else:
        return
    expected, remedy = "not contradict each other or known_labels", "drop one of them"
    raise invalid("constraints", expected, f"a contradiction: {got}", remedy)
