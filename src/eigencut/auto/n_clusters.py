"""How many clusters rows have.

The spectrum of a graph decides where it shows a number clearly: one eigendecomposition serves all
K, and only where eigenvalues have gaps the clusters are looked at (``conductance``). In many
dimensions, where clusters have parts that are nearly as clear, the information decides that K
clusters keep of a step on the graph, compared with one cluster of the same covariance. The clusters
that are found are looked into in the same way, as long as they surely hold several.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from numbers import Integral
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import clone

from eigencut._utils.arrays import TINY, Array
from eigencut._utils.running import counted, warn_user, without_progress
from eigencut._utils.validation import check_count, parse_numbers
from eigencut.affinities import Affinity, Landmarks, Neighbors, RankedNeighbors
from eigencut.affinities.neighbors import local_dimension
from eigencut.auto.gaps import clusters_with_gaps, has_steps
from eigencut.auto.policy import POLICY
from eigencut.auto.spectrum import Choice, Spectrum, conductance, least_rows, n_whole
from eigencut.cut import CUTS
from eigencut.exceptions import GraphWarning, invalid
from eigencut.graphs.base import Graph
from eigencut.io.rows import as_rows
from eigencut.io.sample import RowSample
from eigencut.neighbors.metrics import METRICS, count_distinct_rows, distinct_rows
from eigencut.neighbors.search import SearchedRows
from eigencut.solvers.relaxed_cut import pieces_of, relaxed_cut


@dataclass(frozen=True)
class Candidates:
    """Numbers of clusters to choose from.

    ``Candidates.parse("1-3,8")`` has the numbers 2, 3 and 8, and may be one.
    """

    numbers: tuple[int, ...] | None  # of at least 2, ascending; None: as many as the spectrum shows
    may_be_one: bool  # whether one cluster is an answer, too
    text: str  # the numbers as they were given, for messages

    @classmethod
    def parse(cls, n_clusters: Any) -> Candidates:
        """Read what was given, and check it as far as possible without the rows."""
        text = repr(n_clusters)
        text = text if len(text) <= 60 else f"{text[:57]}..."
        if isinstance(n_clusters, str) and n_clusters == "auto":
            return cls(None, True, text)
        is_text = isinstance(n_clusters, str)
        if isinstance(n_clusters, np.ndarray) and n_clusters.ndim == 0:
            n_clusters = n_clusters.item()
        are_numbers = is_text and re.fullmatch(r"[\d\s,-]+", n_clusters)  # "2-30" or "2,4,8"
        if not are_numbers and (is_text or not isinstance(n_clusters, Iterable)):
            remedy = "use a number, 'auto', or candidates such as range(2, 11) or '2-10'"
            check_count("n_clusters", n_clusters, remedy)
        if is_text:
            try:
                n_clusters = parse_numbers(n_clusters)
            except ValueError as error:
                raise ValueError(f"n_clusters {error}") from None
        numbers: list[Any] = [n_clusters] if isinstance(n_clusters, Integral) else []
        if isinstance(n_clusters, Iterable):
            numbers = list(islice(n_clusters, 1001))
            if len(numbers) > 1000:
                raise invalid("n_clusters", "hold at most 1000 candidates", text, "give fewer")
        for K in numbers:
            check_count("n_clusters", K, "give candidates such as range(2, 11)")
        return cls(tuple(sorted({int(K) for K in numbers if K >= 2})), 1 in numbers, text)

    def from_on(self, least: int) -> Candidates:
        """Return the candidates of at least so many; none where all that were given are below."""
        if self.numbers is None or least <= 1:
            return self
        return replace(self, numbers=tuple(K for K in self.numbers if least <= K))

    def allow(self, n_clusters: int) -> bool:
        """Return whether the number is one of them."""
        return self.numbers is None or n_clusters in self.numbers

    def among(self, n_distinct: int) -> tuple[int, ...] | None:
        """Return the candidates that n_distinct different rows allow."""
        possible = None
        if self.numbers is not None:
            possible = tuple(K for K in self.numbers if n_distinct > K)
        if n_distinct <= 2:
            expected = "have at least 3 different rows for the number of clusters to be chosen"
            raise invalid("X", expected, n_distinct, "add data, or give n_clusters as a number")
        if possible == ():
            expected = f"at least 2 and below the number of different rows, {n_distinct}"
            remedy = "add data, or give smaller candidates"
            raise invalid("n_clusters", f"hold a candidate of {expected}", self.text, remedy)
        return possible


def some_rows(X: Any, n_rows: int, sample_weight: Array | None = None) -> tuple[Any, Array]:
    """Return at most ``n_rows`` of the different rows, and what each counts, in whatever order.

    They are evenly spaced in lexicographic order, or, where sorting all rows would take long, those
    of the smallest random keys.
    """
    if not issparse(X) and count_distinct_rows(X) > POLICY.whole_rows:
        draw = partial(RowSample.draw, size=n_rows, seed=0)
        sample: RowSample = as_rows(X, sample_weight).reduce(draw, RowSample.merged)
        return sample.rows, sample.counts
    distinct = distinct_rows(X, sample_weight)
    some = slice(None, None, -(-len(distinct.multiplicity) // n_rows))
    return distinct.rows[some], distinct.multiplicity[some]


def number_with_gaps(rows: Any, sample_weight: Array, metric: str) -> int:
    """Return how many clusters there are at least, because wide gaps are between them."""
    if issparse(rows):
        return 1
    with without_progress():
        searched = RankedNeighbors(metric=metric).search(rows, sample_weight)
        count = np.asarray(searched.distinct.multiplicity, dtype=np.float64)
        if len(count) < 2 * POLICY.least_cluster:
            return 1
        labels = clusters_with_gaps(searched, count / max(float(count.min()), TINY))
    return 1 if labels is None else int(labels.max()) + 1


def sure_score(n_rows: int) -> float:
    """Return the score from which clusters are too clear for noise, so that no test is needed."""
    by_rows = POLICY.sure * (POLICY.sure_rows / n_rows) ** POLICY.sure_power
    return min(max(by_rows, POLICY.sure_of_many), POLICY.sure)


def clear_score(n_rows: int) -> float:
    """The score below which a number of clusters does not stand out, more of few rows."""
    return max(POLICY.clear_number, POLICY.clear_share * sure_score(n_rows))


def may_be_one_cluster(X: Array, affinity: Affinity, n_clusters: int, seed: int = 0) -> bool:
    """Return whether a sample of one cluster is cut as easily into K as some of the rows of X.

    This is ``significance`` with few samples, up to the first one with as small a relaxed cut.
    Copies of the affinity are fitted. Principal axes are functions of the covariance, which samples
    share; so the test of the Gaussian null is as exact on some principal components as on all
    columns.
    """
    from eigencut.inspection.refits import SameCovariance, smoothed_cluster

    rows, _ = some_rows(X, POLICY.few_rows)
    rows = rows[np.lexsort(rows.T)]  # samples are drawn of rows by number
    if n_clusters >= len(rows):
        return False
    null = SameCovariance(rows, POLICY.tested_columns)
    rng = np.random.RandomState(seed)
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)
        rows = null.sample(null.scores)
        own = Spectrum.from_rows(rows, clone(affinity), CUTS["ncut"], n_clusters)
        labels = own.predict(rows, n_clusters)
        most = _cut(rows, affinity, n_clusters) + 1e-12  # values that differ by less are equal
        for _ in range(POLICY.null_samples):
            for draw in (
                smoothed_cluster(null.scores, labels, rng),
                rng.standard_normal(null.scores.shape),
            ):
                if _cut(null.sample(draw), affinity, n_clusters) <= most:
                    return True
    return False


def _cut(rows: Array, affinity: Affinity, n_clusters: int) -> float:
    """The relaxed cut, roughly: samples of the same null differ by more."""
    copy: Any = clone(affinity)
    graph = copy.fit_graph(rows)
    if graph.n_vertices <= n_clusters:  # rows of a sample may coincide: nothing is cut then
        return n_clusters / len(rows)
    cut = relaxed_cut(graph, copy, CUTS["ncut"], n_clusters, n_rough=n_clusters)
    return float(cut.pairs.values.sum()) + n_clusters / len(rows)


@dataclass(frozen=True)
class ComparedNumbers:
    """Numbers of clusters that were compared, and the best."""

    choices: tuple[Choice, ...]
    best: Choice
    is_edge: bool  # whether the best is the largest that was looked for
    by: str = "conductance"  # what the scores are; or "information"
    spectrum: Spectrum | None = None  # of the graph on which the best number was found

    def is_sure(self, n_rows: int) -> bool:
        """Whether there are several clusters without doubt, so that no test is needed."""
        return self.by == "information" or self.best.score >= sure_score(n_rows)

    def is_clear(self, n_rows: int) -> bool:
        """Whether the best number stands out."""
        return self.by == "information" or self.best.score >= clear_score(n_rows)

    def split_further(
        self, X: Any, sample_weight: Array | None, metric: str | None
    ) -> ComparedNumbers:
        """Split each of the best number's clusters that surely holds several, and count the parts.

        The metric is that of the default affinity. The best number's score becomes that of the
        least clear split.
        """
        if self.spectrum is None or metric is None or issparse(X):
            return self
        weight = np.ones(len(X)) if sample_weight is None else sample_weight
        splits = list(_splits(self, X, weight, metric))
        if not splits:
            return self
        K = 1 + sum(one.best.n_clusters - 1 for one in (self, *splits))
        score = min(one.best.score for one in (self, *splits) if one.by == self.by)
        best = Choice(K, self.best.affinity, score)
        others = (choice for choice in self.choices if choice.n_clusters != K)
        return replace(self, best=best, choices=(best, *others), is_edge=False)

    def report(self, candidates: Candidates, n_rows: int, shows_scores: bool = False) -> None:
        """Warn where nothing stands out, several K score alike, or larger K were left out.

        The warning names ``eigencut.select``, unless the user sees its scores anyway.
        """
        K = self.best.n_clusters
        alike = [
            choice
            for choice in sorted(self.choices, key=lambda choice: -choice.score)
            if choice.score > self.best.score - POLICY.better_number
            or (choice.n_clusters > K and choice.score >= clear_score(n_rows))
        ]
        others = list(dict.fromkeys(str(c.n_clusters) for c in alike if c.n_clusters != K))[:3]
        if not self.is_clear(n_rows):
            warn_user(
                f"No number of clusters stands out: the best is {K}, but its score of "
                f"{self.best.score:.2f} is not above {clear_score(n_rows):.2g}. "
                "The rows may be one cluster: eigencut.inspection.significance(model, X) tests it."
                + ("" if shows_scores else " eigencut.select(X) shows all scores.")
            )
        elif others:
            warn_user(
                f"Several numbers of clusters are clear, or nearly: {K} (chosen), "
                f"{', '.join(others)}. If another is more useful to you, give it as n_clusters."
                + ("" if shows_scores else " eigencut.select(X) shows all scores.")
            )
        elif self.is_edge and candidates.numbers is not None and len(candidates.numbers) > 1:
            warn_user(
                f"The best number of clusters, {K}, is the largest candidate: there may be more. "
                f"Give larger ones, such as n_clusters=range(2, {2 * K + 1}), or 'auto'."
            )


def _splits(
    whole: ComparedNumbers, X: Array, sample_weight: Array, metric: str
) -> Iterator[ComparedNumbers]:
    """Yield the split of each cluster that surely holds several, and those of its parts."""
    assert whole.spectrum is not None
    labels = whole.spectrum.predict(X, whole.best.n_clusters)
    for cluster in range(whole.best.n_clusters):
        rows, weight = X[labels == cluster], sample_weight[labels == cluster]
        part = _sure_split(rows, weight, metric)
        if part is not None:
            yield part
            if part.spectrum is not None:
                yield from _splits(part, rows, weight, metric)


def _sure_split(X: Array, sample_weight: Array, metric: str) -> ComparedNumbers | None:
    """Return the numbers of clusters of the rows of a cluster, if these surely have several.

    In many dimensions the information says so. Otherwise each graph shows as many, one without
    doubt, and samples of one cluster do not. In a column of few values each would be a cluster.
    """
    n, any_number = len(X), Candidates.parse("auto")
    if n < POLICY.split_rows or X.shape[1] == 1:
        return None
    by_information = numbers_by_information(X, any_number, sample_weight, metric)
    if by_information is not None:
        is_sure = by_information.best.score > POLICY.better_number
        return by_information if is_sure else None
    if METRICS[metric].to_points is not None or has_steps(X):
        return None
    found: list[ComparedNumbers] = []
    for affinity in default_affinities(X, metric):
        found.append(_numbers_of_rows(X, affinity, any_number, sample_weight, least=clear_score(n)))
        if not found[-1].is_clear(n):
            return None
    part = max(found, key=lambda one: one.best.score)
    K = part.best.n_clusters
    is_shown = part.is_sure(n) and all(one.best.n_clusters == K for one in found)
    if not is_shown or n < 2 * POLICY.most_neighbors * K:
        return None
    return None if may_be_one_cluster(X, part.best.affinity, K) else part


def default_affinities(rows: Any, metric: str = "euclidean") -> list[Affinity]:
    """Return the graphs on which K is looked for.

    Both are symmetric: outliers make many small pieces of a mutual graph. With contrast, gaps show
    that are narrow and long, and clusters of different density less well. Neighbours that have the
    same words make a piece of each cell of words: then few landmarks show what belongs together.
    """
    n = rows.shape[0]
    if not issparse(rows) and METRICS[metric].has_means and has_steps(rows):
        return [Landmarks(int(np.clip(n // 10, 10, POLICY.wide_landmarks)), metric=metric)]
    k = int(np.clip(n // 4, POLICY.least_neighbors, POLICY.most_neighbors))
    return [Neighbors(k, metric=metric), Neighbors(k, density_contrast=1.0, metric=metric)]


def find_number(
    X: Any,
    affinities: Sequence[Affinity],
    candidates: Candidates,
    sample_weight: Array | None = None,
    every: bool = False,
    metric: str | None = None,
) -> ComparedNumbers:
    """The best number of clusters on any of the graphs.

    X holds rows, or affinities among them. With ``every`` all candidates get a score, not only
    those with the largest gaps. With a metric the information decides where no graph is sure.
    """
    compared: list[ComparedNumbers] = []
    for affinity in counted(affinities, "graphs compared"):
        with without_progress():
            compared.append(_numbers_of_rows(X, affinity, candidates, sample_weight, every))
    best = max(compared, key=lambda one: _rank(one.best))
    if metric is not None and best.best.score < POLICY.sure:
        with without_progress():
            by_information = numbers_by_information(X, candidates, sample_weight, metric)
        if by_information is not None and by_information.best.score > 0:
            return by_information
    return replace(best, choices=tuple(choice for one in compared for choice in one.choices))


def _rank(choice: Choice) -> tuple[float, ...]:
    """The key that is largest for the best choice: the largest number that is believed.

    Groups of clusters, as chance places clusters, often have better scores than the clusters. Where
    none is believed the score decides, and so it does through landmarks, which serve words: parts
    of a cluster with the same words have good scores, too.
    """
    if choice.score >= POLICY.believed and isinstance(choice.affinity, Neighbors):
        return (np.inf, choice.n_clusters, choice.score)
    return (choice.score, choice.n_clusters)


def _numbers_of_rows(
    X: Any,
    affinity: Affinity,
    candidates: Candidates,
    sample_weight: Array | None,
    every: bool = False,
    least: float = -np.inf,
) -> ComparedNumbers:
    """Scores of the numbers of clusters of the graph of a copy of an affinity on some rows."""
    fitted = clone(affinity)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        graph = fitted.fit_graph(X, sample_weight)
        found = numbers_of_graph(graph, fitted, candidates, every, least)
    choices = tuple(replace(choice, affinity=affinity) for choice in found.choices)
    return replace(found, choices=choices, best=replace(found.best, affinity=affinity))


def numbers_by_information(
    rows: Any, candidates: Candidates, sample_weight: Array | None, metric: str
) -> ComparedNumbers | None:
    """Score numbers of clusters by the information that their clusters keep of a step.

        score(K) = (I(K) - I_0(K)) / c - log K,

    with I(K) that of a discrete cut, and I_0(K) that of a normal sample of the same covariance,
    which is one cluster. A score above 0 says that there are several. None in few dimensions: there
    long clusters can be cut again and again.
    """
    from eigencut.inspection.refits import SameCovariance

    searched = RankedNeighbors(metric=metric).search(rows, sample_weight)
    n, points = len(searched.distinct.multiplicity), searched.points.points
    given = candidates.among(n)
    if issparse(points) or not METRICS[metric].has_means:
        return None
    k = min(2 * POLICY.most_neighbors, n)
    if local_dimension(searched.points.nearest(k)[0], k // 2) < POLICY.many_dimensions:
        return None
    null = SameCovariance(points, POLICY.tested_columns)
    draw = np.random.RandomState(0).standard_normal(null.scores.shape)
    sample = RankedNeighbors().search(null.sample(draw), None)
    limit = given[-1] if given else max(POLICY.least_looked_for, n // POLICY.rows_per_cluster)
    most = min(max(POLICY.first_merged, limit if given else 0), n // POLICY.least_cluster)
    while True:
        kept, of_null = (_information(one, most) for one in (searched, sample))
        scores = {
            K: (kept[K] - of_null[K]) / POLICY.cluster_cost - np.log(K)
            for K in kept.keys() & of_null.keys()
            if (K in given if given else limit >= K)
        }
        best = max(scores, key=lambda K: scores[K], default=0)
        if given or most >= limit or best <= most // 2:
            break
        most = min(2 * most, limit)
    if not scores:
        return None
    affinity = RankedNeighbors(metric=metric)
    choices = {K: Choice(K, affinity, float(score)) for K, score in sorted(scores.items())}
    return ComparedNumbers(tuple(choices.values()), choices[best], best == limit, by="information")


def _information(searched: SearchedRows, most: int) -> dict[int, float]:
    """Return the information that discrete cuts into up to so many clusters keep."""
    from eigencut.solvers.discrete_cut import information_by_number

    n = len(searched.distinct.multiplicity)
    k = int(np.clip(n // 6, RankedNeighbors.few_neighbors, RankedNeighbors.most_neighbors)) + 1
    affinity = RankedNeighbors(RankedNeighbors().local_neighbors(searched, min(k, n)))
    graph = affinity.graph_of(searched)
    few = affinity.with_few_neighbors(graph)
    return information_by_number(graph, CUTS["ncut"], most, few)


def numbers_of_graph(
    graph: Graph,
    affinity: Affinity,
    candidates: Candidates,
    every: bool = False,
    least: float = -np.inf,
) -> ComparedNumbers:
    """Scores of the numbers of clusters of one graph; those below the least may be left out."""
    given = candidates.among(graph.n_vertices)
    pieces = pieces_of(graph, affinity)
    if len(pieces.n_rows) == graph.n_vertices:
        raise ValueError(
            "affinity must connect the rows, or K cannot be chosen. Got a graph of rows apart. "
            f"{affinity.connection_hint()}"
        )
    n_pieces, n_rows = n_whole(pieces), int(graph.n_rows / graph.one_row)
    limit = max(POLICY.least_looked_for, n_rows // POLICY.rows_per_cluster, n_pieces)
    limit = given[-1] if given else min(limit, graph.n_vertices - 1)
    n_pairs = limit if given else min(max(POLICY.first_pairs, 2 * n_pieces), limit)
    fewest = least_rows(graph)
    while True:
        # Rough pairs are enough: they led to the same K on all sets that were compared. NCut's
        # eigenvalues have no unit, so they compare across graphs.
        spectrum = Spectrum.from_pieces(
            pieces, affinity, CUTS["ncut"], n_pairs + 1, n_rough=n_pairs + 1, least=fewest
        )
        values = spectrum.pairs.values
        numbers = [K for K in given or range(2, n_pairs + 1) if len(values) > K]
        are_small = values.max(initial=0.0) < POLICY.small_eigenvalue
        if numbers and (n_pairs == limit or not are_small):
            scores = _scores(spectrum, numbers, every, least)
            choices = tuple(Choice(K, affinity, score) for K, score in scores.items())
            best = max(choices, key=_rank)
            if n_pairs == limit or best.n_clusters <= n_pairs // 2:
                break
        if n_pairs == limit:  # all pairs are those of outliers
            fewest = 0.0
        n_pairs = min(2 * n_pairs, limit)
    return ComparedNumbers(choices, best, best.n_clusters == limit, spectrum=spectrum)


def _scores(
    spectrum: Spectrum, numbers: Sequence[int], every: bool, least: float
) -> dict[int, float]:
    """Conductance scores by K, of all numbers or of those that may have the best one.

    The clusters' normalized cuts add up to no less than the eigenvalues (Ky Fan), so that the worst
    is not below their mean; with that in place of it a score is bounded before the clusters are
    known, and clusters are looked at as long as the bound is above the best score.
    """
    K, graph = np.array(numbers), spectrum.graph
    values = np.maximum(spectrum.pairs.values, 0.0) + graph.one_row / graph.n_rows
    gaps = np.log(values[K] / values[K - 1])
    bounds = np.log(values[K] * K / np.cumsum(values)[K - 1]) + gaps
    looked_at = np.argsort(-gaps, kind="stable")[: None if every else POLICY.n_gaps]
    looked_at = looked_at[np.argsort(-bounds[looked_at], kind="stable")]
    scores: dict[int, float] = {}
    for place in looked_at:
        enough = max(least, min(max(scores.values(), default=-np.inf), POLICY.believed))
        if scores and not every and bounds[place] <= enough:
            break
        number = int(K[place])
        # Where clusters are so small that neighbours are half of them, chance makes clusters.
        are_few = graph.n_rows / graph.one_row < 2 * POLICY.most_neighbors * number
        scores[number] = conductance(spectrum, number) - POLICY.taken_off_few * are_few
    return scores
