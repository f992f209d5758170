"""The numbers that users know clusters by.

A fit numbers its K clusters from 0 to K-1. When a model is brought up to date, clusters that go on
keep their numbers, those that have gone leave theirs to nobody, and new ones take numbers that were
never given. So numbers can have gaps, while rotations and eigenfunctions have none.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigencut._utils.arrays import Array, Indices
from eigencut.exceptions import invalid
from eigencut.io.state_reader import StateReader


@dataclass(frozen=True)
class ClusterNumbers:
    """The number of each cluster.

    Examples
    --------
    >>> after = ClusterNumbers(np.array([0, 2]), n_given=3)  # cluster 1 has gone
    >>> after.of_labels(np.array([0, 1, -1]))
    array([ 0,  2, -1])
    >>> after.of_columns(np.array([[0.25, 0.75]]))
    array([[0.25, 0.  , 0.75]])
    """

    numbers: Indices  # (K,): ascending: that of the first column of a rotation comes first
    # How many numbers were given so far, to these clusters or to others that have gone.
    n_given: int

    @classmethod
    def of_fit(cls, n_clusters: int) -> ClusterNumbers:
        """Those of a fit: 0, 1, ..., K-1."""
        return cls(np.arange(n_clusters), n_clusters)

    @property
    def is_plain(self) -> bool:
        """Whether column k is cluster k, and there is no other."""
        return self.n_given == len(self.numbers)

    def of_labels(self, labels: Indices) -> Indices:
        """Columns as the numbers of their clusters; what is below 0 stays."""
        if self.is_plain:
            return labels
        return np.where(labels < 0, labels, self.numbers[labels])

    def of_columns(self, values: Array) -> Array:
        """A column for each number ever given, those of clusters that have gone being 0."""
        if self.is_plain:
            return values
        spread = np.zeros((len(values), self.n_given), dtype=values.dtype)
        spread[:, self.numbers] = values
        return spread

    def refuse_gaps(self, what: str) -> None:
        """An error for what speaks of clusters 0 to K-1, if they have other numbers."""
        if not self.is_plain:
            listed = ", ".join(map(str, self.numbers))
            got = f"clusters {listed}, since others have gone in updates"
            expected = f"have the clusters 0 to K-1 for {what}"
            raise invalid("model", expected, got, "fit it anew on all rows")

    def _state(self) -> dict[str, object]:
        return {"numbers": self.numbers.astype(np.int64), "n_given": self.n_given}

    @classmethod
    def _restored(cls, state: StateReader, n_clusters: int) -> ClusterNumbers:
        n_given = state.integer("n_given", n_clusters, 1 << 16)  # columns of probabilities
        numbers = state.indices("numbers", (n_clusters,), below=n_given)
        if (np.diff(numbers) <= 0).any():
            raise ValueError("numbers of clusters must be ascending.")
        return cls(numbers, n_given)
