"""Which graph a fit can afford: by the number of rows, and by memory.

An affinity says itself what a fit with it takes (``Affinity.memory_bytes``). Here that is compared
with what it may take, before anything large is computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.memory import FitSizes, available_bytes, in_words, parse_bytes
from eigencut._utils.running import warn_user
from eigencut.affinities import NAMES, Affinity, Landmarks, RankedNeighbors
from eigencut.auto.policy import POLICY
from eigencut.exceptions import MemoryRefusal, invalid
from eigencut.io.rows import Rows
from eigencut.neighbors.metrics import count_distinct_rows


@dataclass(frozen=True)
class Budget:
    """The sizes of a fit on some rows, and the memory it may add to that of the rows.

    ``limit`` is ``memory_limit`` as it was given, ``metric`` that of the affinities that "auto"
    takes.
    """

    rows: Any
    sizes: FitSizes
    limit: Any = None
    metric: str = "euclidean"

    @classmethod
    def from_rows(
        cls, X: Any, n_clusters: int, limit: Any = None, metric: str = "euclidean"
    ) -> Budget:
        """Return the budget of a fit on X, rows in memory or a stream."""
        if isinstance(X, Rows):
            sizes = FitSizes(None, X.n_features, n_clusters)
        else:
            n_rows, n_features = X.shape
            n_features = X.nnz / max(1, n_rows) if issparse(X) else n_features
            sizes = FitSizes(n_rows, n_features, n_clusters, is_sparse=issparse(X))
        return cls(X, sizes, limit=limit, metric=metric)

    @cached_property
    def allowed(self) -> float:
        """The limit in bytes; what is available where none was given."""
        if isinstance(self.rows, Rows) and not self.rows.is_local:
            return math.inf
        return parse_bytes(self.limit) or available_bytes()

    @cached_property
    def n_distinct(self) -> int:
        """How many different rows there are: what time and memory depend on, and takes a moment."""
        return 0 if self.sizes.n_rows is None else count_distinct_rows(self.rows, self.metric)

    def needed(self, affinity: Affinity) -> float:
        """Bytes, at most; 0 where that is not known, so that nothing is refused by mistake."""
        sizes = self.sizes
        if sizes.n_rows is not None and not affinity.pairwise:
            sizes = replace(sizes, n_distinct=self.n_distinct)
        return affinity.memory_bytes(sizes) or 0.0

    def allows(self, affinity: Affinity) -> bool:
        # Asking the system takes milliseconds, as long as a small fit, and so does counting rows.
        most = affinity.memory_bytes(self.sizes) or 0.0
        is_trifle = self.limit is None and most <= POLICY.trifling_bytes
        return is_trifle or most <= self.allowed or self.needed(affinity) <= self.allowed

    def affinity_name(self) -> str:
        """What "auto" takes: the first affinity that there is time and memory for.

        Where there is memory for none, it is the one that takes least.
        """
        possible = self._possible_names()
        for name in possible:
            if self.allows(self.named(name)):
                return name
        return min(possible, key=lambda name: self.needed(self.named(name)))

    def named(self, name: str) -> Affinity:
        """The affinity of that name; a graph of neighbours is the largest that is compared."""
        if name != "landmarks":
            n = self.sizes.n_rows or 0
            is_compared = n <= POLICY.whole_rows  # with graphs of more neighbours
            most = max(2, min(n, RankedNeighbors.most_neighbors + 1)) if is_compared else "auto"
            return NAMES[name](most, metric=self.metric)
        return Landmarks(landmarks_for(self.sizes.n_clusters), metric=self.metric)

    def report(self, taken: str) -> None:
        """Warn where it was the memory available just now that decided on what is taken."""
        first = self._possible_names()[0]
        if self.limit is None and taken != first:
            needed, available = self.needed(self.named(first)), self.allowed
            warn_user(
                f"affinity='auto' takes {taken!r}: {first!r} would take {in_words(needed)} of "
                f"memory, and {in_words(available)} are available. To get the same choice always, "
                "set affinity or memory_limit."
            )

    def refuse(self, affinity: Affinity, remedy: str | None = None) -> None:
        """Raise an error, if the fit would take more than it may."""
        if self.allows(affinity):
            return
        needed, remedy = in_words(self.needed(affinity), math.ceil), remedy or self._remedy()
        rows = "a stream" if self.sizes.n_rows is None else f"{self.sizes.n_rows} rows"
        if self.limit is None:
            raise MemoryRefusal(
                f"A fit of {affinity!r} on {rows} would take {needed} of memory, and "
                f"{in_words(self.allowed)} are available; free some, or {remedy}."
            )
        expected = f"be at least {needed} to fit {affinity!r} on {rows}"
        raise invalid(
            "memory_limit", expected, repr(self.limit), f"raise it, or {remedy}", MemoryRefusal
        )

    def _possible_names(self) -> list[str]:
        """Names of affinities for this kind and number of rows; at least one."""
        if self.sizes.n_rows is None:
            return ["landmarks"]
        names = ["neighbors", "landmarks"]
        return [name for name in names if self._is_in_time(name)] or names[-1:]

    def _is_in_time(self, name: str) -> bool:
        most, n = POLICY.most_rows_for_neighbors, self.sizes.n_rows or 0
        if name == "landmarks" or n <= most:
            return True
        some = self.rows[: 2 * most] if n > 4 * most else self.rows[:0]  # which may be too many
        return count_distinct_rows(some, self.metric) <= most and self.n_distinct <= most

    def _remedy(self) -> str:
        for name in self._possible_names():
            if self.allows(self.named(name)):
                return f"use affinity={name!r}"
        landmarks, is_stream = self.named("landmarks"), self.sizes.n_rows is None
        as_stream = landmarks.memory_bytes(replace(self.sizes, n_rows=None)) or 0.0
        if not is_stream and not self.sizes.is_sparse and as_stream <= self.allowed:
            return "fit a stream of the rows (eigencut.Rows)"
        return "use fewer landmarks" if is_stream else "fit on fewer rows"


def landmarks_for(n_clusters: int) -> int:
    """Return how many landmarks show so many clusters."""
    return max(POLICY.landmarks_per_cluster * n_clusters, POLICY.landmarks)


def reads_blocks(X: Any, n_clusters: Any, affinity: Any, memory_limit: Any) -> bool:
    """Whether a fit on an array reads no more than some of its rows at a time.

    Such an array, of the fits through landmarks, need not be turned into float64 as a whole.
    """
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiu" and X.size):
        return False
    if not isinstance(affinity, str):
        return bool(getattr(affinity, "streams", False))
    if affinity != "auto" or not isinstance(n_clusters, Integral) or X.dtype.itemsize >= 8:
        return affinity == "landmarks"
    return Budget.from_rows(X, int(n_clusters), memory_limit).affinity_name() == "landmarks"
