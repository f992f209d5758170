"""Which graph the default cuts, given K: graphs of neighbours, compared by conductance.

``benchmarks/growth`` has the families of data on which this was chosen, and others.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from eigencut._utils.arrays import Array
from eigencut._utils.progress import advance, note, without_progress
from eigencut.affinities import Affinity, Landmarks, Neighbors, SharedNeighbors
from eigencut.auto.chosen import Chosen
from eigencut.auto.spectrum import NO_CLUSTER, Choice, Spectrum, conductance_of
from eigencut.cut import CUTS
from eigencut.exceptions import GraphWarning
from eigencut.graphs.base import Graph
from eigencut.io.rows import as_rows
from eigencut.io.sample import RowSample
from eigencut.neighbors.build import SearchedRows
from eigencut.neighbors.distinct_rows import count_distinct_rows, distinct_rows

if TYPE_CHECKING:
    from eigencut.fitted import CutGraph

# Some of the rows, to decide on: the same ones whatever their order.

_SORTED_ROWS = 100_000  # of which some are chosen by their order; more take long to sort


def some_rows(X: Any, n_rows: int, sample_weight: Array | None = None) -> tuple[Any, Array]:
    """At most ``n_rows`` of the different rows, and what each counts; their order does not matter.

    They are evenly spaced in lexicographic order, or, where sorting all rows would take long, those
    of the smallest random keys.
    """
    if not issparse(X) and count_distinct_rows(X) > _SORTED_ROWS:
        draw = partial(RowSample.of, size=n_rows, seed=0)
        sample: RowSample = as_rows(X, sample_weight).reduce(draw, RowSample.merged)
        return sample.rows, sample.counts
    distinct = distinct_rows(X, sample_weight)
    some = slice(None, None, -(-len(distinct.multiplicity) // n_rows))
    return distinct.rows[some], distinct.multiplicity[some]


_NEIGHBORS = (5, 15)  # least and most; half the rows of an average cluster in between
_WIDE_NEIGHBORS = 100  # at most, where distances hardly differ; else as above
_MANY_DIMENSIONS = 9.0  # around rows, from which more neighbours are hardly farther
_ASKED_ROWS = 500  # by which it is told how far neighbours are
_MUTUAL_CONTRAST, _SYMMETRIC_CONTRAST = 1.5, 1.0
_CLEAR_ENOUGH = 0.0  # score from which no other graph is much better;
_CLEAR_IN_MANY_DIMENSIONS = 1.0  # there, where few neighbours may show topics instead of clusters
_WIDER_BETTER = 0.4  # by which more neighbours must show more than few, of the same graph;
_NEARLY_CLEAR = -0.5  # from this score on, a little
_A_LITTLE_BETTER = 0.25
_MUCH_BETTER = 0.5  # by which a graph must beat one that is preferred to it; half of it
_LESS_BETTER = 0.25  # in many dimensions, where few mutual neighbours are often wrong
_LEAST_SHARE = 0.1  # of the rows of an average cluster; a graph with smaller ones is not believed
_WHOLE_ROWS = 30_000  # up to which it is decided on all of them
_SOME_ROWS = 2000  # on which it is decided otherwise,
_SOME_ROWS_PER_CLUSTER = 50  # or so many for each
_IN_PIECES = -2.0  # score, at most, in more than K pieces, which show no K clusters
_NO_CUT = 1e-12  # an eigenvalue of one piece more
_MANY_FOR_LANDMARKS = 1000  # rows from which landmarks are a last resort


class _Look(NamedTuple):
    """A graph that was cut: how clearly it shows the clusters, and how much we would rather not."""

    affinity: Affinity
    spectrum: Spectrum
    score: float
    handicap: float

    @property
    def has_slivers(self) -> bool:
        return self.score <= NO_CLUSTER


def choose_graph(
    X: Any,
    n_clusters: int,
    starts: Mapping[str, Any],
    sample_weight: Array | None = None,
    n_distinct: int | None = None,
    allows: Callable[[Affinity], bool] = lambda affinity: True,
    metric: str = "euclidean",
) -> Chosen:
    """The mutual graph with contrast, unless it shows nothing clear and another one does.

    The mutual graph does not bridge gaps, and leaves outliers aside; but of overlapping clusters in
    many dimensions it cuts off handfuls of rows, where the symmetric graph is right; and where
    distances hardly differ, as between embeddings of texts, one with more neighbours shows more:
    then those that rows share of them are what is cut. It is decided
    on all rows if they are not very many, so that nothing is done twice, and else on some of them;
    ``starts`` are options of POD, ``n_distinct`` is the number of different rows, if known, and
    ``allows`` says whether there is memory for an affinity.
    """
    if n_distinct is None:
        n_distinct = count_distinct_rows(X)
    symmetric = symmetric_graph(n_distinct, n_clusters, metric)
    if n_clusters == 1:  # nothing to cut: the graph with fewer pieces
        return Chosen(1, (symmetric,))
    n_some = max(_SOME_ROWS, _SOME_ROWS_PER_CLUSTER * n_clusters)
    is_whole = n_distinct <= _WHOLE_ROWS
    rows, weight = (X, sample_weight) if is_whole else some_rows(X, n_some, sample_weight)
    k = n_neighbors(n_distinct, n_clusters)
    contrast = _MUTUAL_CONTRAST
    mutual = Neighbors(k, graph="mutual", density_contrast=contrast, metric=metric)
    searched = mutual.search(rows, weight)
    if n_clusters >= len(searched.distinct.multiplicity):
        return Chosen(n_clusters, (mutual, symmetric))

    looks: list[_Look] = []
    compared: list[Choice] = []
    wide: Neighbors | None = None

    def look(affinity: Affinity, handicap: float) -> _Look:
        if isinstance(affinity, Neighbors):
            graph = affinity.graph_of(searched)
        else:
            graph = affinity.fit_graph(rows, weight)
        looks.append(
            _Look(affinity, *spectrum_and_score(affinity, graph, n_clusters, starts), handicap)
        )
        compared.append(Choice(n_clusters, affinity, looks[-1].score))
        advance(len(looks), None, "graph(s) compared")
        return looks[-1]

    first = look(mutual, 0.0)
    if first.score < _CLEAR_IN_MANY_DIMENSIONS:
        wide = _wide_graph(searched, k, n_clusters, metric)
    clear = _CLEAR_ENOUGH if wide is None else _CLEAR_IN_MANY_DIMENSIONS
    better = _MUCH_BETTER if wide is None else _LESS_BETTER
    if first.score < clear:
        second = look(symmetric, 2 * better)
        if second.score < clear:
            if first.has_slivers and second.score < _CLEAR_ENOUGH:  # perhaps by the contrast
                look(Neighbors(k, graph="mutual", metric=metric), better)
            if wide is not None and allows(wide):
                score = look(wide, better).score
                margin = _A_LITTLE_BETTER if score >= _NEARLY_CLEAR else _WIDER_BETTER
                if score < second.score + margin:
                    looks[-1] = looks[-1]._replace(handicap=math.inf)
        if n_distinct >= _MANY_FOR_LANDMARKS and all(one.has_slivers for one in looks):
            look(Landmarks(metric=metric), 0.0)
    looks.sort(key=lambda one: one.handicap - one.score)
    if wide is not None and looks[0].affinity is wide:
        shared = SharedNeighbors(wide.n_neighbors, metric=metric)
        if allows(shared) and not look(shared, 0.0).has_slivers:
            looks.insert(0, looks.pop())
    affinities = [one.affinity for one in looks]
    if symmetric not in affinities:
        affinities.append(symmetric)
    if not is_whole:
        return Chosen(n_clusters, tuple(clone(one) for one in affinities), tuple(compared))
    spectra = {place: one.spectrum for place, one in enumerate(looks)}
    return Chosen(n_clusters, tuple(affinities), tuple(compared), spectra)


def n_neighbors(n_rows: int, n_clusters: int) -> int:
    """Of each row, in the graphs that are compared."""
    return int(np.clip(n_rows // (2 * n_clusters), *_NEIGHBORS))


def symmetric_graph(n_rows: int, n_clusters: int, metric: str = "euclidean") -> Neighbors:
    """The graph that is right where clusters overlap."""
    k = n_neighbors(n_rows, n_clusters)
    contrast = _SYMMETRIC_CONTRAST
    return Neighbors(k, graph="symmetric", density_contrast=contrast, metric=metric)


def _wide_graph(searched: SearchedRows, k: int, n_clusters: int, metric: str) -> Neighbors | None:
    """One with half the rows of an average cluster as neighbours, if these are hardly farther.

    In m dimensions the w-th neighbour is (w / k)^(1/m) times as far as the k-th. Where m is large,
    as it is of embeddings, more neighbours make a graph no less local; and few of them show only
    the smallest topics that clusters consist of.
    """
    points = searched.points
    n_points, n_dimensions = points.points.shape
    if n_dimensions < _MANY_DIMENSIONS:
        return None
    wide = min(n_points // (2 * n_clusters), _WIDE_NEIGHBORS)
    if wide <= k:
        return None
    asked = points.points[:: max(1, n_points // _ASKED_ROWS)]
    distances, _ = points.index.query(asked, wide)
    near, far = np.median(distances[:, [k - 1, wide - 1]], axis=0)
    if far > near * (wide / k) ** (1 / _MANY_DIMENSIONS):
        return None
    contrast = _SYMMETRIC_CONTRAST
    return Neighbors(wide, graph="symmetric", density_contrast=contrast, metric=metric)


def spectrum_and_score(
    affinity: Affinity, graph: Graph, n_clusters: int, starts: Mapping[str, Any]
) -> tuple[Spectrum, float]:
    """The spectrum of a graph, and how clearly it shows K clusters."""
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)
        spectrum = Spectrum.of_graph(graph, affinity, CUTS["ncut"], n_clusters + 1, n_rough=1)
        partition = spectrum.partition(n_clusters, **starts)
        score = float(conductance_of(spectrum, [n_clusters])[0])
    sizes = np.sort(np.bincount(partition.labels, graph.multiplicity, n_clusters))
    sizes = sizes[spectrum.n_clear(n_clusters) :]  # those are small, and clusters all the same
    if spectrum.values_of(n_clusters)[n_clusters] <= _NO_CUT:
        score = min(score, _IN_PIECES)
    is_sliver = sizes.min() < _LEAST_SHARE * graph.n_rows / n_clusters
    return spectrum, NO_CLUSTER if is_sliver else score


# Which graph is cut where columns take few values, such as words that became points.
#
# Among many rows the nearest of a row all have its words, whatever these weigh: a graph of
# neighbours falls into cells of equal words, and which of them belong together is left to chance.
# A hundred landmarks stand for cells and the ways between them, however many rows there are.
# ``benchmarks/studies/mixed_tables.md`` has the measurements.

_LEAST_ROWS = 200  # different ones; of fewer, the graph of neighbours shows as much
_LANDMARKS, _PER_CLUSTER = 100, 4
_LEAST_LANDMARKS, _LEAST_PER_CLUSTER = 25, 3
_NEARLY_IN_PIECES = 0.001  # eigenvalue K + 1 below which there are more than K pieces, or nearly
_SOME_MIXED_ROWS = 4000  # and on so many otherwise


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
    rows, weight = (X, sample_weight) if is_whole else some_rows(X, _SOME_MIXED_ROWS, sample_weight)
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


# Which graph the default cuts when labels are known that its clusters do not explain.
#
# ``benchmarks/studies/known_labels.md`` has the data on which this was chosen, and others.

_WIDE_LABELLED_NEIGHBORS = 50  # at most half the rows of an average cluster


def graphs_for_labels(
    chosen: Chosen, taken: Affinity, allows: Callable[[Affinity], bool]
) -> Chosen:
    """Graphs that known labels may prefer to the one that was taken without them.

    Without labels a graph is good that shows a clear cut: classes that overlap in a few columns are
    then lost to a column that falls in two. Labels can tell: the symmetric graph, which is in fewer
    pieces, and one of more neighbours are looked at too. Nothing is where the affinity was given,
    or where rows are so many that it was chosen on some of them.

    Parameters
    ----------
    chosen : Chosen
    taken : Affinity
        The one of its affinities that was taken.
    allows : callable
        Whether there is memory for an affinity.
    """
    if not chosen.spectra or not isinstance(taken, Neighbors):
        return Chosen(chosen.n_clusters, ())
    n, K = chosen.spectra[0].graph.n_vertices, chosen.n_clusters
    symmetric = symmetric_graph(n, K, taken.metric)
    wide = clone(symmetric).set_params(n_neighbors=min(_WIDE_LABELLED_NEIGHBORS, n // (2 * K)))
    wanted = [symmetric]
    if wide.n_neighbors > symmetric.n_neighbors and allows(wide):
        wanted.append(wide)
    there = {repr(affinity): place for place, affinity in enumerate(chosen.affinities)}
    others = [affinity for affinity in wanted if repr(affinity) != repr(taken)]
    places = [there.get(repr(affinity)) for affinity in others]
    return Chosen(
        K,
        tuple(
            affinity if place is None else chosen.affinities[place]
            for affinity, place in zip(others, places, strict=True)
        ),
        chosen.compared,
        {i: chosen.spectra[place] for i, place in enumerate(places) if place in chosen.spectra},
    )


def most_agreeing(taken: CutGraph, others: Iterable[CutGraph]) -> CutGraph:
    """The cut that errs least at known rows that were left out."""
    best = taken
    for one in others:
        assert one.agreement is not None and best.agreement is not None
        note(f"error {one.agreement.error:.3f} of known labels by {one.fitted.affinity!r}")
        if one.agreement.error < best.agreement.error:
            best = one
    return best
