"""Which graph a fit can afford: by the number of rows, and by memory.

An affinity says itself what a fit with it takes (``Affinity.memory_bytes``). Here that is compared
with what it may take, before anything large is computed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.sparse import issparse

from eigencut._utils.memory import available_bytes, in_words, parse_bytes
from eigencut._utils.warn import warn_user
from eigencut.affinities import NAMES, Affinity, Landmarks
from eigencut.affinities.fit_memory import FitSizes
from eigencut.auto.candidates import is_number
from eigencut.exceptions import MemoryRefusal
from eigencut.io.rows import Rows
from eigencut.neighbors.distinct_rows import count_distinct_rows

# The graphs that "auto" takes, by name, and up to how many different rows. With contrast,
# neighbours took 29 and 96 CPU seconds on a million moons and circles, landmarks three, with the
# same ARI.
MOST_ROWS: dict[str, float] = {"neighbors": 500_000, "landmarks": math.inf}

_MOST_WORK = 3e8  # rows times squared clusters, for neighbours: half a minute on one core
_FAR_TOO_MUCH_WORK = 3e9  # the same: minutes, and soon hours
_ENOUGH_ROWS = 150  # per cluster, for landmarks to show it surely
_ROWS_PER_LANDMARK = 40
_LANDMARKS_PER_CLUSTER = (3, 5)  # least and most
_LANDMARKS = 1000  # where clusters are few

_TRIFLE = 1e8  # bytes that are there
_DOUBLE_BYTES = 8  # of a number in float64


@dataclass(frozen=True)
class Budget:
    """The sizes of a fit, and the memory it may add to that of the rows.

    Attributes
    ----------
    limit : None, number or str
        ``memory_limit`` as it was given.
    sizes : FitSizes
    rows : array, sparse array or Rows
    is_local : bool
        Whether the fit is done in this process.
    is_sparse : bool
        Whether rows are sparse, which not all affinities take.
    metric : str
        Of the affinities that "auto" takes.

    Examples
    --------
    >>> import numpy as np
    >>> budget = Budget.of(np.arange(40_000).reshape(-1, 2), n_clusters=2, limit="100MB")
    >>> budget.allows(NAMES["gaussian"]())
    False
    """

    limit: Any
    sizes: FitSizes
    rows: Any
    is_local: bool
    is_sparse: bool
    metric: str = "euclidean"

    @classmethod
    def of(cls, X: Any, n_clusters: int, limit: Any = None, metric: str = "euclidean") -> Budget:
        """Of a fit on X, rows in memory or a stream."""
        is_stream, is_sparse = isinstance(X, Rows), issparse(X)
        is_local = X.is_local if is_stream else True
        n_rows = None if is_stream else X.shape[0]
        n_features = X.n_features if is_stream else X.shape[1]
        if is_sparse:
            n_features = X.nnz / max(1, X.shape[0])
        sizes = FitSizes(n_rows, n_features, n_clusters, is_sparse)
        return cls(limit, sizes, X, is_local, is_sparse, metric)

    @cached_property
    def allowed(self) -> float:
        """The limit in bytes; what is available where none was given."""
        return (parse_bytes(self.limit) or available_bytes()) if self.is_local else math.inf

    @cached_property
    def n_distinct(self) -> int:
        """How many different rows there are: what time and memory depend on, and takes a moment."""
        return 0 if self.sizes.n_rows is None else count_distinct_rows(self.rows)

    def needed(self, affinity: Affinity) -> float:
        """Bytes, at most; 0 where that is not known, so that nothing is refused by mistake."""
        sizes = self.sizes
        if sizes.n_rows is not None and not affinity.pairwise:
            sizes = replace(sizes, n_distinct=self.n_distinct)
        return affinity.memory_bytes(sizes) or 0.0

    def allows(self, affinity: Affinity) -> bool:
        # Asking the system takes milliseconds, as long as a small fit, and so does counting rows.
        most = affinity.memory_bytes(self.sizes) or 0.0
        is_trifle = self.limit is None and most <= _TRIFLE
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
        """The affinity of that name, for so many clusters."""
        if name != "landmarks":
            return NAMES[name](metric=self.metric)
        n, K = self.sizes.n_rows, self.sizes.n_clusters
        is_counted = n is not None and are_many_clusters(n, K)
        p = landmarks_for(K, self.n_distinct if is_counted else n)
        return Landmarks(p, metric=self.metric)

    def report(self, taken: str) -> None:
        """Warn where it was the memory available just now that decided on what is taken."""
        first = self._possible_names()[0]
        if self.limit is None and taken != first:
            needed, available = self.needed(self.named(first)), self.allowed
            warn_user(
                f"affinity='auto' takes {taken!r}: {first!r} would take {in_words(needed)} of "
                f"memory, and {in_words(available)} are available. Set affinity or memory_limit "
                "for a choice that does not depend on it."
            )

    def refuse(self, affinity: Affinity, remedy: str | None = None) -> None:
        """Raise an error, if the fit would take more than it may."""
        if self.allows(affinity):
            return
        needed, remedy = in_words(self.needed(affinity)), remedy or self._remedy()
        rows = "a stream" if self.sizes.n_rows is None else f"{self.sizes.n_rows} rows"
        if self.limit is None:
            raise MemoryRefusal(
                f"A fit of {affinity!r} on {rows} would take {needed} of memory, and "
                f"{in_words(self.allowed)} are available; free some, or {remedy}."
            )
        raise MemoryRefusal(
            f"memory_limit must be at least {needed} to fit {affinity!r} on {rows}. "
            f"Got {self.limit!r}; raise it, or {remedy}."
        )

    def _possible_names(self) -> list[str]:
        """Names of affinities for this kind and number of rows; at least one."""
        kind = (
            "streams" if self.sizes.n_rows is None else "accepts_sparse" if self.is_sparse else None
        )
        names = [name for name in MOST_ROWS if kind is None or getattr(NAMES[name], kind)]
        return [name for name in names if self._is_in_time(name)] or names[-1:]

    def _is_in_time(self, name: str) -> bool:
        if _takes_moments(name, self.sizes.n_rows or 0, self.sizes.n_clusters):
            return True
        return _takes_moments(name, self.n_distinct, self.sizes.n_clusters)

    def _remedy(self) -> str:
        for name in self._possible_names():
            if self.allows(self.named(name)):
                return f"use affinity={name!r}"
        landmarks, is_stream = self.named("landmarks"), self.sizes.n_rows is None
        as_stream = landmarks.memory_bytes(replace(self.sizes, n_rows=None)) or 0.0
        if not is_stream and not self.is_sparse and as_stream <= self.allowed:
            return "fit a stream of the rows (eigencut.Rows)"
        return "use fewer landmarks" if is_stream else "fit on fewer rows"


def _takes_moments(name: str, n_rows: int, n_clusters: int) -> bool:
    """Whether a fit of the affinity of that name is a matter of seconds."""
    is_much = are_many_clusters(n_rows, n_clusters) and n_rows >= _ENOUGH_ROWS * n_clusters
    is_much = is_much or n_rows * n_clusters**2 > _FAR_TOO_MUCH_WORK
    return n_rows <= MOST_ROWS[name] and not (name == "neighbors" and is_much)


def are_many_clusters(n_rows: int, n_clusters: int) -> bool:
    """Whether there are too many to find them in a graph of neighbours within seconds.

    Its eigenvectors have an entry for each row and cluster, and each must be orthogonal to all
    others.
    """
    return n_rows * n_clusters**2 > _MOST_WORK


def landmarks_for(n_clusters: int, n_rows: int | None = None) -> int:
    """How many landmarks show so many clusters.

    Where clusters have few rows more landmarks show less: each must stand for many rows.
    """
    least, most = (per_cluster * n_clusters for per_cluster in _LANDMARKS_PER_CLUSTER)
    most = max(most, _LANDMARKS)
    if n_rows is None or not are_many_clusters(n_rows, n_clusters):
        return most
    return min(max(least, n_rows // _ROWS_PER_LANDMARK), most)


def reads_blocks(X: Any, n_clusters: Any, affinity: Any, memory_limit: Any) -> bool:
    """Whether a fit on an array reads no more than some of its rows at a time.

    Such an array, of the fits through landmarks, need not be turned into float64 as a whole.
    """
    if not (isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "fiu" and X.size):
        return False
    if not isinstance(affinity, str):
        return bool(getattr(affinity, "streams", False))
    if affinity != "auto" or not is_number(n_clusters) or X.dtype.itemsize >= _DOUBLE_BYTES:
        return affinity == "landmarks"
    return Budget.of(X, int(n_clusters), memory_limit).affinity_name() == "landmarks"
