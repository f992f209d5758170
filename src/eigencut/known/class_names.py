"""Known classes as people write them: numbers or words, and cells without either."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from eigencut.data.words import word_of
from eigencut.known.information import UNKNOWN
from eigencut.runtime.arrays import Indices


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
    def are_some(self) -> bool:
        """Whether there are known rows and unknown ones."""
        return bool((self.labels >= 0).any() and (self.labels < 0).any())


def known_classes_of_rows(y: Any, n_rows: int) -> KnownClasses:
    """What y says of the rows of a table: nothing where it has a class for every row.

    scikit-learn hands y to clusterers, which ignore it: see ``partial_labels``.
    """
    nothing = KnownClasses(np.full(n_rows, UNKNOWN, dtype=np.intp), ())
    if y is None:
        return nothing
    values = np.asarray(y)
    if values.ndim == 2 and values.shape[1] == 1:
        values = values[:, 0]
    is_full = values.dtype.kind in "iuf" and values.size > 0 and values.min() > UNKNOWN
    found = KnownClasses.of(values.tolist()) if values.ndim == 1 and not is_full else None
    if found is None or not found.are_some:
        return nothing
    if len(values) != n_rows:
        raise ValueError(
            f"y must have a class for each of the {n_rows} rows, or -1 or nothing. Got "
            f"{len(values)} of them; pass one for each row of X."
        )
    return found


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
