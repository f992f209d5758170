"""What "auto" decides: the number of clusters and the graph, without labels.

``benchmarks/growth`` has the families of data on which this was chosen, and others.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from eigencut._utils.arrays import Array
from eigencut._utils.progress import advance, note, stage, without_progress
from eigencut._utils.validation import check_n_clusters
from eigencut._utils.warn import warn_user
from eigencut.affinities import Affinity, Landmarks, Neighbors, SharedNeighbors, named_affinity
from eigencut.auto.budget import Budget, are_many_clusters, landmarks_for
from eigencut.auto.n_clusters import (
    Candidates,
    default_affinities,
    find_number,
    is_number,
    is_sure,
    may_be_one_cluster,
    numbers_of_graph,
    some_rows,
)
from eigencut.auto.policy import POLICY
from eigencut.auto.spectrum import Choice, Spectrum, conductance
from eigencut.cut import CUTS, Cut
from eigencut.discretization import Partition
from eigencut.exceptions import GraphWarning, invalid
from eigencut.graphs.base import Graph
from eigencut.io.rows import Rows, refuse_all_zero
from eigencut.io.sample import RowSample
from eigencut.neighbors.build import SearchedRows
from eigencut.neighbors.distinct_rows import count_distinct_rows
from eigencut.neighbors.metrics import METRICS, are_unit_vectors
from eigencut.solvers.relaxed_cut import RelaxedCut, relaxed_cut

if TYPE_CHECKING:
    from eigencut.fitted import CutGraph


class RelaxedGraph(NamedTuple):
    """A graph, its relaxed cut, and the clusters of its vertices where they are known."""

    affinity: Affinity
    graph: Graph
    relaxed: RelaxedCut
    partition: Partition | None = None


@dataclass(frozen=True)
class Chosen:
    """What a fit begins with.

    Attributes
    ----------
    n_clusters : int
    affinities : tuple of Affinity
        The one to take, and what to take instead if its cut has tiny clusters.
    compared : tuple of Choice
        What was compared, with scores; nothing where nothing was to be chosen.
    spectra : dict of int to Spectrum
        Graphs of all rows that were cut in order to choose, by the place of their affinity.
    graph : Graph or None
        That of the first affinity, where it is there already.
    """

    n_clusters: int
    affinities: tuple[Affinity, ...]
    compared: tuple[Choice, ...] = ()
    spectra: dict[int, Spectrum] = field(default_factory=dict)
    graph: Graph | None = None

    def report(self) -> None:
        """Say what was compared, and what is taken first."""
        for one in self.compared:
            note(f"score {one.score:.2f} of {one.affinity!r}, {one.n_clusters} clusters")
        if self.compared:
            note(f"takes {self.affinities[0]!r}")

    def relaxed_cuts(
        self, X: Any, cut: Cut, sample_weight: Array | None = None
    ) -> Iterator[RelaxedGraph]:
        """Each affinity, fitted on X, its graph and the relaxed cut; what is known is reused."""
        K = self.n_clusters
        for place, affinity in enumerate(self.affinities):
            known = self.spectra.get(place)
            with stage("graph"):
                there = known.graph if known else self.graph if place == 0 else None
                graph = there or affinity.fit_graph(X, sample_weight)
                check_n_clusters(K, graph.n_vertices, graph.vertices_are)
            if known is not None and known.cut is cut:
                relaxed, partition = known.relaxed_of(K), known.partition(K)
                yield RelaxedGraph(affinity, graph, relaxed, partition=partition)
            else:
                yield RelaxedGraph(affinity, graph, relaxed_cut(graph, affinity, cut, K))


def choose(
    X: Any,
    n_clusters: Any,
    affinity: Any,
    memory_limit: Any,
    starts: Mapping[str, Any],
    sample_weight: Array | None = None,
    metric: str | None = None,
    least: int = 1,
) -> Chosen:
    """Return the number of clusters and the affinity: as given, or chosen where they are "auto".

    Parameters are those of ``GPOD``, ``starts`` are options of POD, and a number that is chosen is
    not below the ``least``. An affinity that takes more memory than it may is refused. What is
    decided depends on the different rows and what each counts.
    """
    K = int(n_clusters) if is_number(n_clusters) else None
    if isinstance(X, Rows):
        streamed = _affinity_of_stream(affinity, K or 1, metric)
        K = K or _number_of_stream(X, Candidates.parse(n_clusters), streamed)
        Budget.from_rows(X, K, memory_limit).refuse(streamed)
        return Chosen(K, (streamed,))
    affinity = unless_few(affinity, X)
    is_auto = isinstance(affinity, str) and affinity == "auto"
    used = metric or "euclidean"
    given: Affinity = clone(named_affinity(affinity, metric))
    if is_mixed(affinity):
        given = mixed_landmarks(K or 1, used)
    if metric is None and not given.pairwise and are_unit_vectors(X):
        note("all rows have length 1: metric='cosine' would see the same neighbours")
    if K is None:
        candidates = Candidates.parse(n_clusters).from_on(least)
        if least > 1 and candidates.numbers == ():
            K = least
        elif given.pairwise:
            # All of the matrix: a part of it would be another graph, and depend on its order.
            compared = find_number(X, [given], candidates, sample_weight=sample_weight)
            K = max(least, compared.best.n_clusters)
            if compared.best.n_clusters >= least:
                compared.report(candidates, X.shape[0])
        else:
            rows, weight = some_rows(X, POLICY.choice_rows, sample_weight)
            affinities = default_affinities(rows.shape[0], used) if is_auto else [given]
            K = choose_number(rows, affinities, candidates, sample_weight=weight, least=least)
    if is_auto:
        return choose_affinity(
            X,
            K,
            memory_limit=memory_limit,
            starts=starts,
            sample_weight=sample_weight,
            metric=used,
        )
    Budget.from_rows(X, K, memory_limit).refuse(given)
    if is_mixed(affinity):
        return choose_landmarks(X, K, starts, sample_weight=sample_weight, metric=used)
    return Chosen(K, (given,))


def _affinity_of_stream(affinity: Any, n_clusters: int, metric: str | None) -> Affinity:
    """Return what a stream is fitted with: landmarks, unless another affinity is given."""
    if is_mixed(affinity):
        return mixed_landmarks(n_clusters, metric or "euclidean")
    if isinstance(affinity, str) and affinity == "auto":
        return Landmarks(landmarks_for(n_clusters), metric=metric or "euclidean")
    given: Affinity = clone(named_affinity(affinity, metric))
    if not given.streams:
        expected = "be one that can be fitted on a stream of rows"
        raise invalid("affinity", expected, repr(given), "use affinity='landmarks'")
    return given


def _number_of_stream(X: Rows, candidates: Candidates, affinity: Affinity) -> int:
    draw = partial(RowSample.of, size=POLICY.choice_rows, seed=0)
    number = partial(_number_of_sample, affinity=affinity, candidates=candidates)
    return int(X.reduce(draw, RowSample.merged, number))


def _number_of_sample(sample: RowSample, affinity: Affinity, candidates: Candidates) -> int:
    refuse_all_zero(len(sample.counts))
    return choose_number(sample.rows, [affinity], candidates, sample_weight=sample.counts)


def choose_number(
    rows: Any,
    affinities: list[Affinity],
    candidates: Candidates,
    sample_weight: Array,
    least: int = 1,
) -> int:
    """Return K for these different rows by the graphs of affinities, not below the least."""
    compared = find_number(rows, affinities, candidates, sample_weight=sample_weight)
    best = compared.best
    if best.n_clusters < least:
        return least
    # What rows are compared with has no directions, codes, sets or places of their kind.
    is_mapped = METRICS[getattr(best.affinity, "metric", "euclidean")].to_points is not None
    untested = is_sure(best.score, rows.shape[0]) or issparse(rows) or is_mapped
    if untested or not may_be_one_cluster(rows, best.affinity, best.n_clusters):
        compared.report(candidates, rows.shape[0])
        return best.n_clusters
    if candidates.may_be_one and least > 1:  # it is known that they are several
        return least if candidates.numbers is None else candidates.numbers[0]
    answer = "are taken for" if candidates.may_be_one else "may be"
    warn_user(
        f"The rows {answer} one cluster: {best.n_clusters} would be the best number of several, "
        "but a sample of one cluster is cut as easily (p > 0.05). If you know better, give "
        "n_clusters; eigencut.select(X) shows the scores."
    )
    return 1 if candidates.may_be_one else best.n_clusters


def choose_for_graph(graph: Graph, affinity: Affinity, n_clusters: Any, present: int) -> Chosen:
    """Return what a graph of the affinity that is there already is cut into.

    K so far, ``present``, stays unless another is clearly better.
    """
    K = int(n_clusters) if is_number(n_clusters) else present
    if not is_number(n_clusters):
        candidates = Candidates.parse(n_clusters)
        with warnings.catch_warnings(), without_progress():
            warnings.simplefilter("ignore", GraphWarning)
            compared = numbers_of_graph(graph, affinity, candidates)
        scores = {choice.n_clusters: choice.score for choice in compared.choices}
        better = POLICY.better_number
        if present == 1 and candidates.may_be_one:  # rows to compare with are gone
            scores[1] = POLICY.sure - better
        if compared.best.score >= scores.get(present, -np.inf) + better:
            K = compared.best.n_clusters
    return Chosen(K, (affinity,), graph=graph)


def choose_affinity(
    X: Any,
    n_clusters: int,
    memory_limit: Any = None,
    starts: Mapping[str, Any] = MappingProxyType({}),
    sample_weight: Array | None = None,
    metric: str = "euclidean",
) -> Chosen:
    """What ``affinity="auto"`` is for a given K.

    The number of rows and the memory decide between the graph of neighbours and that through
    landmarks (``eigencut.auto.budget``); what the rows show, on its variant.
    """
    check_n_clusters(n_clusters, X.shape[0], "different rows")
    budget = Budget.from_rows(X, n_clusters, memory_limit, metric=metric)
    name = budget.affinity_name()
    budget.report(name)
    budget.refuse(budget.named(name))
    if name == "landmarks":
        return Chosen(n_clusters, (budget.named(name),))
    n_distinct = budget.n_distinct
    if are_many_clusters(n_distinct, n_clusters):  # with too few rows each for landmarks
        chosen = Chosen(n_clusters, (symmetric_graph(n_distinct, n_clusters, metric),))
    else:
        chosen = choose_graph(
            X,
            n_clusters,
            starts,
            sample_weight=sample_weight,
            n_distinct=n_distinct,
            allows=budget.allows,
            metric=metric,
        )
    budget.refuse(chosen.affinities[0])
    return chosen


class _Look(NamedTuple):
    """A graph that was cut; its score less the handicap decides against other graphs."""

    affinity: Affinity
    score: float
    spectrum: Spectrum
    handicap: float = 0.0

    @property
    def has_tiny_clusters(self) -> bool:
        return self.score <= POLICY.no_cluster


def _chosen(
    ordered: Sequence[_Look], compared: Iterable[_Look], n_clusters: int, is_whole: bool
) -> Chosen:
    """Return the graphs in their order, with their spectra if they are of all rows."""
    affinities = (look.affinity for look in ordered)
    return Chosen(
        n_clusters,
        tuple(affinities if is_whole else map(clone, affinities)),
        compared=tuple(Choice(n_clusters, look.affinity, look.score) for look in compared),
        spectra={i: look.spectrum for i, look in enumerate(ordered)} if is_whole else {},
    )


def choose_graph(
    X: Any,
    n_clusters: int,
    starts: Mapping[str, Any],
    sample_weight: Array | None = None,
    n_distinct: int | None = None,
    allows: Callable[[Affinity], bool] = lambda affinity: True,
    metric: str = "euclidean",
) -> Chosen:
    """Return the mutual graph with contrast, unless it shows nothing clear and another one does.

    The mutual graph does not bridge gaps, and leaves outliers aside. But it cuts handfuls of rows
    off overlapping clusters in many dimensions, where the symmetric graph is right; and where
    distances hardly differ, as between embeddings of texts, a graph with more neighbours shows
    more: then the neighbours that rows share are what is cut. Not very many rows decide all, so
    that nothing is done twice, and of more a sample decides. ``starts`` are options of POD,
    ``n_distinct`` is the number of different rows, if known, and ``allows`` says whether there is
    memory for an affinity.
    """
    if n_distinct is None:
        n_distinct = count_distinct_rows(X)
    symmetric = symmetric_graph(n_distinct, n_clusters, metric)
    if n_clusters == 1:  # nothing to cut: the graph with fewer pieces
        return Chosen(1, (symmetric,))
    n_some = max(POLICY.some_rows, POLICY.some_rows_per_cluster * n_clusters)
    is_whole = n_distinct <= POLICY.whole_rows
    rows, weight = (X, sample_weight) if is_whole else some_rows(X, n_some, sample_weight)
    k = n_neighbors(n_distinct, n_clusters)
    contrast = POLICY.mutual_contrast
    mutual = Neighbors(k, graph="mutual", density_contrast=contrast, metric=metric)
    searched = mutual.search(rows, weight)
    if n_clusters >= len(searched.distinct.multiplicity):
        return Chosen(n_clusters, (mutual, symmetric))
    looks: list[_Look] = []

    def look(affinity: Affinity, handicap: float) -> _Look:
        if isinstance(affinity, Neighbors):
            graph = affinity.graph_of(searched)
        else:
            graph = affinity.fit_graph(rows, weight)
        spectrum, score = spectrum_and_score(affinity, graph, n_clusters, starts)
        looks.append(_Look(affinity, score, spectrum=spectrum, handicap=handicap))
        advance(len(looks), None, "graph(s) compared")
        return looks[-1]

    first = look(mutual, 0.0)
    wide: Neighbors | None = None
    if first.score < POLICY.clear_in_many_dimensions:
        wide = _wide_graph(searched, k, n_clusters, metric)
    clear, better = POLICY.clear_enough, POLICY.much_better
    if wide is not None:
        clear, better = POLICY.clear_in_many_dimensions, POLICY.better_in_many_dimensions
    if first.score < clear:
        second = look(symmetric, 2 * better)
        if second.score < clear:
            if first.has_tiny_clusters and second.score < POLICY.clear_enough:
                look(Neighbors(k, graph="mutual", metric=metric), better)  # it may be the contrast
            if wide is not None and allows(wide):
                score = look(wide, better).score
                is_near = score >= POLICY.nearly_clear
                margin = POLICY.wider_slightly_better if is_near else POLICY.wider_better
                if score < second.score + margin:
                    looks[-1] = looks[-1]._replace(handicap=math.inf)
        if n_distinct >= POLICY.rows_for_landmarks and all(one.has_tiny_clusters for one in looks):
            look(Landmarks(metric=metric), 0.0)
    ordered = sorted(looks, key=lambda one: one.handicap - one.score)
    if wide is not None and ordered[0].affinity is wide:
        shared = SharedNeighbors(wide.n_neighbors, metric=metric)
        if allows(shared):
            of_shared = look(shared, 0.0)
            ordered.insert(len(ordered) if of_shared.has_tiny_clusters else 0, of_shared)
    chosen = _chosen(ordered, looks, n_clusters=n_clusters, is_whole=is_whole)
    if any(one.affinity is symmetric for one in ordered):
        return chosen
    return replace(chosen, affinities=(*chosen.affinities, symmetric))


def n_neighbors(n_rows: int, n_clusters: int) -> int:
    """Of each row, in the graphs that are compared."""
    return int(np.clip(n_rows // (2 * n_clusters), POLICY.least_neighbors, POLICY.most_neighbors))


def symmetric_graph(n_rows: int, n_clusters: int, metric: str = "euclidean") -> Neighbors:
    """The graph that is right where clusters overlap."""
    k, contrast = n_neighbors(n_rows, n_clusters), POLICY.symmetric_contrast
    return Neighbors(k, graph="symmetric", density_contrast=contrast, metric=metric)


def _wide_graph(searched: SearchedRows, k: int, n_clusters: int, metric: str) -> Neighbors | None:
    """One with half the rows of an average cluster as neighbours, if these are hardly farther.

    In m dimensions the w-th neighbour is (w / k)^(1/m) times as far as the k-th. Where m is large,
    as it is of embeddings, more neighbours make a graph no less local; and few of them show only
    the smallest topics that clusters consist of.
    """
    points = searched.points
    n_points, n_dimensions = points.points.shape
    if n_dimensions < POLICY.many_dimensions:
        return None
    wide = min(n_points // (2 * n_clusters), POLICY.wide_neighbors)
    if wide <= k:
        return None
    some = points.points[:: max(1, n_points // POLICY.rows_for_dimension)]
    distances, _ = points.index.query(some, wide)
    near, far = np.median(distances[:, [k - 1, wide - 1]], axis=0)
    if far > near * (wide / k) ** (1 / POLICY.many_dimensions):
        return None
    contrast = POLICY.symmetric_contrast
    return Neighbors(wide, graph="symmetric", density_contrast=contrast, metric=metric)


def spectrum_and_score(
    affinity: Affinity, graph: Graph, n_clusters: int, starts: Mapping[str, Any]
) -> tuple[Spectrum, float]:
    """The spectrum of a graph, and how clearly it shows K clusters."""
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)
        spectrum = Spectrum.from_graph(
            graph, affinity=affinity, cut=CUTS["ncut"], n_pairs=n_clusters + 1, n_rough=1
        )
        partition = spectrum.partition(n_clusters, **starts)
        score = conductance(spectrum, n_clusters)
    sizes = np.sort(np.bincount(partition.labels, graph.multiplicity, n_clusters))
    sizes = sizes[spectrum.n_clear(n_clusters) :]  # those are small, and clusters all the same
    if spectrum.values_of(n_clusters)[n_clusters] <= POLICY.no_cut:
        score = min(score, POLICY.score_in_pieces)
    is_tiny = sizes.min() < POLICY.least_share_of_cluster * graph.n_rows / n_clusters
    return spectrum, POLICY.no_cluster if is_tiny else score


# Rows with columns of few values, such as words that became points. Among many such rows the
# nearest of a row all have its words, whatever these weigh: a graph of neighbours falls into cells
# of equal words, and which of them belong together is left to chance. A hundred landmarks stand for
# cells and the ways between them, however many rows there are
# (``benchmarks/studies/mixed_tables.md``).


def is_mixed(affinity: object) -> bool:
    """Whether the affinity is the one for rows with columns of few values."""
    return isinstance(affinity, str) and affinity == "mixed"


def unless_few(affinity: Any, X: Any) -> Any:
    """Return the affinity, or "auto" instead of "mixed" where different rows are few."""
    are_few = is_mixed(affinity) and count_distinct_rows(X) < POLICY.least_mixed_rows
    return "auto" if are_few else affinity


def mixed_landmarks(n_clusters: int, metric: str = "euclidean") -> Landmarks:
    """The landmarks that are looked at first."""
    per_cluster = POLICY.mixed_landmarks_per_cluster * n_clusters
    return Landmarks(max(POLICY.mixed_landmarks, per_cluster), metric=metric)


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
    is_whole = X.shape[0] <= POLICY.whole_rows
    rows, weight = X, sample_weight
    if not is_whole:
        rows, weight = some_rows(X, POLICY.choice_rows, sample_weight)
    per_cluster = POLICY.least_mixed_landmarks_per_cluster * n_clusters
    least = max(POLICY.least_mixed_landmarks, per_cluster)
    looks: list[_Look] = []
    affinity = mixed_landmarks(n_clusters, metric)
    while True:
        graph = affinity.fit_graph(rows, weight)
        if graph.n_vertices <= n_clusters:
            break
        spectrum, score = spectrum_and_score(affinity, graph, n_clusters, starts)
        looks.append(_Look(affinity, score, spectrum=spectrum))
        advance(len(looks), None, "graph(s) compared")
        half = affinity.n_landmarks // 2
        if spectrum.pairs.values[n_clusters] >= POLICY.nearly_in_pieces or half < least:
            break
        affinity = Landmarks(half, metric=metric)
    if not looks:
        return Chosen(n_clusters, (affinity,))
    return _chosen(looks[::-1], looks, n_clusters=n_clusters, is_whole=is_whole)


def graphs_for_labels(
    chosen: Chosen, taken: Affinity, allows: Callable[[Affinity], bool]
) -> Chosen:
    """Graphs that known labels may prefer to the one that was taken without them.

    Without labels a graph is good that shows a clear cut: classes that overlap in a few columns are
    then lost to a column that falls in two. Labels can tell: the symmetric graph, which is in fewer
    pieces, and one of more neighbours are looked at too; none where the affinity was given, or
    where rows are so many that it was chosen on some of them.

    ``allows`` says whether there is memory for an affinity. ``benchmarks/studies/known_labels.md``
    has the data on which this was chosen.
    """
    if not chosen.spectra or not isinstance(taken, Neighbors):
        return Chosen(chosen.n_clusters, ())
    n, K = chosen.spectra[0].graph.n_vertices, chosen.n_clusters
    symmetric = symmetric_graph(n, K, taken.metric)
    wide = clone(symmetric).set_params(n_neighbors=min(POLICY.labelled_neighbors, n // (2 * K)))
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
        compared=chosen.compared,
        spectra={
            i: chosen.spectra[place] for i, place in enumerate(places) if place in chosen.spectra
        },
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
