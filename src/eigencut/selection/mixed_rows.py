"""Which graph is cut where columns take few values, such as words that became points.

Among many rows the nearest of a row all have its words, whatever these weigh: a graph of neighbours
falls into cells of equal words, and which of them belong together is left to chance. A hundred
landmarks stand for cells and the ways between them, however many rows there are.
``benchmarks/studies/mixed_tables.md`` has the measurements.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

from eigencut.affinity import Landmarks
from eigencut.runtime.arrays import Array
from eigencut.runtime.progress import advance
from eigencut.search.distinct_rows import count_distinct_rows
from eigencut.selection.chosen import Chosen
from eigencut.selection.criteria import Choice
from eigencut.selection.default_graph import spectrum_and_score
from eigencut.selection.some_rows import some_rows
from eigencut.selection.spectrum import Spectrum

_LEAST_ROWS = 200  # different ones; of fewer, the graph of neighbours shows as much
_LANDMARKS, _PER_CLUSTER = 100, 4
_LEAST_LANDMARKS, _LEAST_PER_CLUSTER = 25, 3
_NEARLY_IN_PIECES = 0.001  # eigenvalue K + 1 below which there are more than K pieces, or nearly
_WHOLE_ROWS = 30_000  # up to which it is decided on all of them,
_SOME_ROWS = 4000  # and on so many otherwise


def is_mixed(affinity: object) -> bool:
    """Whether rows of this kind are what is asked for."""
    return isinstance(affinity, str) and affinity == "mixed"


def unless_few(affinity: Any, X: Any) -> Any:
    """The affinity that is asked for, or "auto" where "mixed" is, of few different rows."""
    return "auto" if is_mixed(affinity) and count_distinct_rows(X) < _LEAST_ROWS else affinity


def mixed_landmarks(n_clusters: int, metric: str = "euclidean") -> Landmarks:
    """The landmarks that are looked at first."""
    return Landmarks(max(_LANDMARKS, _PER_CLUSTER * n_clusters), metric=metric)


def choose_landmarks(
    X: Any,
    n_clusters: int,
    starts: Mapping[str, Any],
    sample_weight: Array | None = None,
    metric: str = "euclidean",
) -> Chosen:
    """A hundred landmarks, or half as many as long as their graph is in more than K pieces.

    ``starts`` are options of POD.
    """
    is_whole = X.shape[0] <= _WHOLE_ROWS
    rows, weight = (X, sample_weight) if is_whole else some_rows(X, _SOME_ROWS, sample_weight)
    least = max(_LEAST_LANDMARKS, _LEAST_PER_CLUSTER * n_clusters)
    compared: list[Choice] = []
    looks: list[tuple[Landmarks, Spectrum]] = []
    affinity = mixed_landmarks(n_clusters, metric)
    while True:
        graph = affinity.fit_graph(rows, weight)
        if graph.n_vertices <= n_clusters:
            break
        spectrum, score = spectrum_and_score(affinity, graph, n_clusters, starts)
        looks.append((affinity, spectrum))
        compared.append(Choice(n_clusters, affinity, score))
        advance(len(looks), None, "graph(s) compared")
        half = affinity.n_landmarks // 2
        if spectrum.pairs.values[n_clusters] >= _NEARLY_IN_PIECES or half < least:
            break
        affinity = Landmarks(half, metric=metric)
    if not looks:
        return Chosen(n_clusters, (affinity,))
    found = [one for one, _ in reversed(looks)]
    if not is_whole:
        return Chosen(n_clusters, tuple(map(clone, found)), tuple(compared))
    spectra = {place: spectrum for place, (_, spectrum) in enumerate(reversed(looks))}
    return Chosen(n_clusters, tuple(found), tuple(compared), spectra)
