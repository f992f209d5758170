"""What a user knows of the rows, checked and completed by what follows from it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.warn import is_asked_by_scikit_learn, warn_user
from eigencut.io.column_kinds import shown_word, word_of
from eigencut.io.rows import Rows
from eigencut.neighbors.distinct_rows import row_keys
from eigencut.semi_supervised.constraints import (
    Constraints,
    check_kind,
    least_apart,
    linked_groups,
    refuse_contradictions,
)

# Known classes as people write them: numbers or words, and cells without either.

UNKNOWN = -1

_EXPECTED = "whole numbers from 0 on, and -1 or a missing value where the class is unknown"


@dataclass(frozen=True)
class KnownClasses:
    """The class of each row, and what classes are called.

    Attributes
    ----------
    labels : array of shape (n_rows,)
        -1 where the class is unknown.
    names : tuple of str
        Of the classes 0, 1, ..., in alphabetical order; none where classes are numbers.

    Examples
    --------
    >>> KnownClasses.of(["spam", None, "ham", "spam", "-1"])
    KnownClasses(labels=array([ 1, -1,  0,  1, -1]), names=('ham', 'spam'))
    >>> KnownClasses.of([2, "", 0.0, float("nan")])
    KnownClasses(labels=array([ 2, -1,  0, -1]), names=())
    """

    labels: Indices
    names: tuple[str, ...]

    @classmethod
    def of(cls, cells: Iterable[Any]) -> KnownClasses | None:
        """What cells say; an empty one and -1 are unknown. None if they are other numbers."""
        cells = list(cells)
        word = {cell: word_of(cell) for cell in dict.fromkeys(cells)}
        different = {found for found in word.values() if found not in (None, str(UNKNOWN))}
        names = tuple(sorted(found for found in different if found))
        numbers: dict[str, int] = {name: number for number, name in enumerate(names)}
        if all(map(_is_number, names)):
            if not all(name.isdecimal() for name in names):
                return None
            numbers, names = {name: int(name) for name in names}, ()
        label = {cell: numbers.get(found or "", UNKNOWN) for cell, found in word.items()}
        return cls(np.array([label[cell] for cell in cells], dtype=np.intp), names)

    @property
    def as_y(self) -> Array:
        """The labels for ``GPOD.fit``, NaN where they are unknown: so -1 and 1 are no signs."""
        return np.where(self.labels < 0, np.nan, self.labels)

    @property
    def are_some(self) -> bool:
        """Whether there are known rows and unknown ones."""
        return bool((self.labels >= 0).any() and (self.labels < 0).any())


def known_classes_of_rows(y: Any, n_rows: int, *, words: bool = True) -> KnownClasses:
    """What y says of the rows: nothing where it has a class for every row.

    scikit-learn hands y to clusterers, which ignore it. So y counts only if it can mean nothing
    else: whole numbers from 0 on, or words, some of them -1 or missing. What is ignored although it
    may have been meant as classes is warned of; numbers with fractions are the target of a
    regression, and are ignored in silence.

    Parameters
    ----------
    y : array-like of shape (n_rows,), or None
    n_rows : int
    words : bool
        Whether classes may be words.

    Examples
    --------
    >>> known_classes_of_rows([0, None, 1, -1], n_rows=4)
    KnownClasses(labels=array([ 0, -1,  1, -1]), names=())
    """
    found = _classes(np.asarray(y), words) if y is not None else None
    if found is None or not found.are_some:
        return KnownClasses(np.full(n_rows, UNKNOWN, dtype=np.intp), ())
    if len(found.labels) != n_rows:
        raise ValueError(
            f"y must have a class, -1 or nothing for each of the {n_rows} rows. Got "
            f"{len(found.labels)} of them; pass one for each row of X."
        )
    return found


def warn_of_labels(y: Any) -> None:
    """Warn where y says classes of rows, and whoever is given it cannot take them."""
    if y is not None and known_classes_of_rows(y, np.shape(y)[0] if np.ndim(y) else 0).are_some:
        warn_user(
            "y was ignored: partial_fit takes no known classes, for models do not keep them. Use "
            "fit(X, y) on all rows, with -1 where the class is unknown."
        )


def _classes(values: NDArray[Any], words: bool) -> KnownClasses | None:
    """The classes in y, whether they are of some rows or of none; None where it is ignored."""
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    if values.ndim != 1 or not values.size:
        return None
    if values.dtype.kind in "iuf":
        return _of_numbers(values.astype(np.float64))
    if values.dtype.kind not in "bOUS":
        return None
    cells = [word_of(cell) for cell in values.tolist()]
    if all(cell is None or _is_number(cell) for cell in cells):
        return _of_numbers(np.array([np.nan if cell is None else float(cell) for cell in cells]))
    found = KnownClasses.of(cells)
    if found is not None and (found.labels >= 0).all():
        _warn_of_full()
    elif found is not None and not words:
        raise ValueError(
            f"y must hold {_EXPECTED}. Got {shown_word(found.names[0])}; number the classes, or "
            "use TableModel(GPOD(...)).fit(X, y), which takes words."
        )
    return found


def _of_numbers(values: Array) -> KnownClasses | None:
    is_missing = np.isnan(values)
    given = values[~is_missing]
    if not given.size:
        return None
    is_other = (given != np.rint(given)) | (given < UNKNOWN) | np.isinf(given)
    if is_missing.any():  # which no target of another kind has
        if is_other.any():
            raise ValueError(
                f"y must hold {_EXPECTED}. Got {given[is_other][0]:g}; correct it, or number the "
                "classes."
            )
    elif is_other.any():
        is_whole = np.isfinite(given).all() and (given == np.rint(given)).all()
        if is_whole and (given == UNKNOWN).any():
            warn_user(
                f"y was ignored, for it holds {given.min():g}: known classes are numbered from 0 "
                "on, and -1 is unknown. If these are known classes, write -1 or a missing value "
                f"instead of {given.min():g}."
            )
        return None
    elif given.min() > UNKNOWN:
        _warn_of_full()
        return None
    elif set(np.unique(given)) == {UNKNOWN, 1}:
        warn_user(
            "y holds only -1 and 1: it was ignored, as two classes that a clustering must not see. "
            "If -1 means unknown, write NaN instead, or number the known classes from 0."
        )
        return None
    return KnownClasses(np.where(is_missing, UNKNOWN, values).astype(np.intp), ())


def _warn_of_full() -> None:
    """Of a y that leaves nothing open, unless a tool of scikit-learn has just handed it on."""
    if not is_asked_by_scikit_learn():
        warn_user(
            "y has a class for every row and was ignored, as by other clusterers: cluster k need "
            "not be class k. If these are known classes, write -1 where one is unknown, in at "
            "least one row; if not, leave y out."
        )


def named(labels: Indices, names: Sequence[str]) -> list[str]:
    """What clusters are called; nothing where no name is known.

    Examples
    --------
    >>> named(np.array([1, 0, 2, -1]), ["ham", "spam"])
    ['spam', 'ham', '', '']
    """
    return [names[label] if 0 <= label < len(names) else "" for label in labels.tolist()]


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


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
