"""What "auto" decides: the number of clusters and the affinity, without labels."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from eigencut.affinity import Affinity, Gaussian, Landmarks, Neighbors, named_affinity
from eigencut.cut import CUTS, Cut
from eigencut.data.rows import Rows, as_rows
from eigencut.data.sample import RowSample
from eigencut.exceptions import GraphWarning
from eigencut.graph.base import Graph
from eigencut.runtime.arrays import Array
from eigencut.runtime.progress import counted, stage, without_progress
from eigencut.runtime.validation import check_n_clusters
from eigencut.runtime.warn import warn_user
from eigencut.search.distinct_rows import distinct_rows
from eigencut.selection.budget import Budget
from eigencut.selection.criteria import (
    CLEAR,
    Choice,
    Task,
    check_candidates,
    conductance_of,
    evaluate,
)
from eigencut.selection.spectrum import Spectrum
from eigencut.solvers.relaxed_cut import RelaxedCut, relaxed_cut

_MUCH_BETTER = 0.5  # by which another graph must beat the first
# Graphs of neighbours and their contrast, in the order in which they are tried; benchmarks/growth.
_GRAPHS = (("mutual", 1.0), ("symmetric", 1.0))
_NEIGHBORS = (5, 15)  # least and most; half the rows of an average cluster in between
_WHOLE_ROWS = 30_000  # up to which it is decided on all of them
_STARTS = 2  # of POD, to look at a cut; more when it is taken
_AFFINITY_ROWS = 2000  # rows on which that is decided, at most
_CHOICE_ROWS = 4000  # rows on which n_clusters="auto" is decided, at most
_SORTED_ROWS = 100_000  # of which some are chosen by their order; more take long to sort
_CANDIDATES = range(2, 11)


class Compared(NamedTuple):
    """An affinity that was looked at, in words, and how clearly it shows the clusters."""

    affinity: str
    score: float


@dataclass(frozen=True)
class Chosen:
    """What a fit begins with.

    Attributes
    ----------
    n_clusters : int
    affinities : tuple of Affinity
        The one to take, and what to take instead if its cut is not sound.
    compared : tuple of Choice
        What was compared, with scores; nothing where nothing was to be chosen.
    spectra : dict of int to Spectrum
        Graphs of all rows that were cut in order to choose, by the place of their affinity.
    """

    n_clusters: int
    affinities: tuple[Affinity, ...]
    compared: tuple[Choice, ...] = ()
    spectra: dict[int, Spectrum] = field(default_factory=dict)

    def relaxed_cuts(self, X: Any, cut: Cut) -> Iterator[tuple[Affinity, Graph, RelaxedCut]]:
        """Each affinity, fitted on X, its graph and the relaxed cut; what is known is reused."""
        K = self.n_clusters
        for place, affinity in enumerate(self.affinities):
            known = self.spectra.get(place)
            with stage("graph"):
                graph = affinity.fit_graph(X) if known is None else known.graph
                check_n_clusters(K, graph.n_vertices, graph.vertices_are)
            if known is not None and known.cut is cut:
                yield affinity, graph, known.relaxed_of(K)
            else:
                yield affinity, graph, relaxed_cut(graph, affinity, cut, K)


def choose(X: Any, n_clusters: Any, affinity: Any, memory_limit: Any) -> Chosen:
    """The number of clusters and the affinity: as given, or chosen where "auto" is asked.

    Parameters
    ----------
    X : array, sparse array or Rows
    n_clusters : int or "auto"
    affinity : str, Affinity or callable
        As of ``GPOD``.
    memory_limit : None, number or str
    """
    is_auto = isinstance(affinity, str) and affinity == "auto"
    if isinstance(X, Rows):
        return _choose_for_stream(X, n_clusters, "landmarks" if is_auto else affinity)
    given: Affinity = clone(named_affinity(affinity))
    if n_clusters != "auto":
        K = int(n_clusters)
        return choose_affinity(X, K, memory_limit) if is_auto else Chosen(K, (given,))
    if given.pairwise:
        rows = X[:_CHOICE_ROWS, :_CHOICE_ROWS]
    else:
        rows = some_rows(X, _CHOICE_ROWS)
    candidates = check_candidates(_CANDIDATES, distinct_rows(rows).rows.shape[0])
    if is_auto and not issparse(rows):
        _, best = choose_number_of_clusters(rows, candidates)
    else:
        compared = Neighbors() if is_auto else given
        _, best = evaluate("conductance", Task(rows, compared, candidates, seed=0))
    K = best.n_clusters
    return choose_affinity(X, K, memory_limit) if is_auto else Chosen(K, (clone(best.affinity),))


def _choose_for_stream(X: Rows, n_clusters: Any, affinity: Any) -> Chosen:
    given: Affinity = clone(named_affinity(affinity))
    if not given.streams:
        raise ValueError(
            f"affinity must be one that can be fitted on a stream of rows. Got {affinity!r}; use "
            "affinity='landmarks'."
        )
    if n_clusters != "auto":
        return Chosen(int(n_clusters), (given,))
    draw = partial(RowSample.of, size=_CHOICE_ROWS, seed=0)
    K = X.reduce(draw, RowSample.merged, partial(_number_of_clusters, affinity=given))
    return Chosen(K, (given,))


def _number_of_clusters(sample: RowSample, affinity: Affinity) -> int:
    """K of a stream, by a sample of its rows."""
    candidates = check_candidates(_CANDIDATES, len(sample.rows))
    _, best = evaluate("conductance", Task(sample.rows, affinity, candidates, seed=0))
    return best.n_clusters


def default_affinities() -> list[Affinity]:
    """The default, and two with one sigma for all rows to turn to where it finds nothing clear."""
    return [
        Gaussian(),
        Gaussian(sigma="neighbors", scale=0.5),
        Gaussian(sigma="neighbors", scale=0.7),
    ]


def some_rows(X: Array, n_rows: int) -> Array:
    """At most ``n_rows`` of the different rows; the order of the rows of X does not matter.

    They are evenly spaced in lexicographic order, or, where sorting all rows would take long, those
    of the smallest random keys.
    """
    if X.shape[0] > _SORTED_ROWS and not issparse(X):
        draw = partial(RowSample.of, size=n_rows, seed=0)
        sample: RowSample = as_rows(X).reduce(draw, RowSample.merged)
        return sample.rows
    rows = distinct_rows(X).rows
    return rows[:: -(-rows.shape[0] // n_rows)]


def choose_affinity(X: Any, n_clusters: int, memory_limit: Any = None) -> Chosen:
    """What ``affinity="auto"`` is for a given K.

    The number of rows and the memory decide between the graph of neighbours and that through
    landmarks (``eigencut.selection.budget``); what the rows show, on its variant.
    """
    budget = Budget.of(X, n_clusters, memory_limit)
    name = budget.affinity_name()
    budget.report(name)
    if name == "landmarks":
        return Chosen(n_clusters, (Landmarks(),))
    return _choose_neighbors(X, n_clusters)


def _choose_neighbors(X: Any, n_clusters: int) -> Chosen:
    """The mutual graph with contrast, unless it shows nothing clear and another one does.

    The mutual graph does not bridge gaps, and leaves outliers aside; but of overlapping clusters in
    many dimensions it cuts off handfuls of rows, where the symmetric graph is right. Decided by
    conductance: on all rows if they are not very many, so that nothing is done twice, and else on
    some of them.
    """
    is_whole = X.shape[0] <= _WHOLE_ROWS
    rows = X if is_whole else some_rows(X, _AFFINITY_ROWS)
    k = int(np.clip(X.shape[0] // (2 * n_clusters), *_NEIGHBORS))
    graphs = [Neighbors(k, graph=graph, density_contrast=beta) for graph, beta in _GRAPHS]
    if not 2 <= n_clusters < distinct_rows(rows).rows.shape[0]:
        return Chosen(n_clusters, tuple(graphs))
    compared: list[Choice] = []
    spectra: list[Spectrum] = []
    for affinity in counted(graphs, "graphs compared"):
        spectrum, score = _cut_by(rows, affinity, n_clusters)
        spectra.append(spectrum)
        compared.append(Choice(n_clusters, affinity, score))
        if compared[0].score >= CLEAR:
            break
    merits = [c.score - _MUCH_BETTER * (place > 0) for place, c in enumerate(compared)]
    order = np.argsort([-merit for merit in merits], kind="stable").tolist()
    order += range(len(order), len(graphs))  # those that were not looked at come last
    if not is_whole:
        return Chosen(n_clusters, tuple(clone(graphs[i]) for i in order), tuple(compared))
    cut = {new: spectra[old] for new, old in enumerate(order) if old < len(spectra)}
    return Chosen(n_clusters, tuple(graphs[i] for i in order), tuple(compared), cut)


def _cut_by(rows: Any, affinity: Affinity, n_clusters: int) -> tuple[Spectrum, float]:
    """The spectrum of a graph, and how clearly it shows K clusters."""
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)
        spectrum = Spectrum.of(rows, affinity, CUTS["ncut"], n_clusters + 1, n_rough=1)
        spectrum.partition(n_clusters, n_init=_STARTS)
        return spectrum, float(conductance_of(spectrum, [n_clusters])[0])


def choose_number_of_clusters(
    X: Array, n_clusters: Sequence[int], seed: int = 0
) -> tuple[list[Choice], Choice]:
    """K and the affinity by conductance: the default affinity, unless it shows nothing clear."""
    everything: list[Choice] = []
    best: Choice | None = None
    for affinity in counted(default_affinities(), "graphs compared"):
        choices, chosen = evaluate("conductance", Task(X, affinity, n_clusters, seed))
        everything += choices
        if best is None or chosen.score > best.score:
            best = chosen
        if everything[0].affinity is affinity and chosen.score >= CLEAR:
            break
    assert best is not None
    if best.score < CLEAR:
        warn_user(
            f"No number of clusters stands out: the best is {best.n_clusters}, with a score of "
            f"{best.score:.2f} (clear ones are above {CLEAR:g}). The rows may be one cluster; "
            "look at eigencut.select(X) before trusting it."
        )
    return everything, best
