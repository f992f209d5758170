"""How many clusters a graph shows, as far as its spectrum goes.

One eigendecomposition serves all K. Gaps between eigenvalues say which numbers may have a good
score; only of these the clusters are looked at. ``benchmarks/studies/selection.md`` has the
measurements.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import stdtrit
from sklearn.base import clone

from eigencut._utils.arrays import Array
from eigencut._utils.progress import counted, without_progress
from eigencut._utils.warn import warn_user
from eigencut.affinities import Affinity, Neighbors
from eigencut.auto.candidates import Candidates
from eigencut.auto.graph import some_rows
from eigencut.auto.spectrum import CLEAR, Choice, Spectrum, conductance_of, least_rows
from eigencut.cut import CUTS
from eigencut.exceptions import GraphWarning
from eigencut.graphs.base import Graph
from eigencut.solvers.relaxed_cut import relaxed_cut

# Whether rows that show no clear clusters may be one: a quick form of ``risk.significance``.
#
# The relaxed cut of some of the rows is compared with that of samples of the same two nulls. The
# first sample that has a cut as small ends the test: of 19 samples of each, none may. Where the cut
# is far below all of the first samples, that ends it too.

# From these scores on, rows are not taken for one cluster. Noise was not seen to have one above 1.6
# with 200 rows, nor above 0.4 with 1000.
SURE, _SURE_OF_MANY = 2.0, 0.6
_FEW_FOR_ONE, _FALL = 200, 0.75  # from which the score falls, and the power of the number of rows
_CLEAR_SHARE = 0.55  # of such a score: less does not stand out. Noisy moons of 150 to 300 rows
# had .6 to .95 for numbers that were wrong, and mostly more than 1 for two
_ROWS = 1000  # that are compared, at most
_COLUMNS = 30  # principal components that are compared, at most
_SAMPLES = 19  # of each null: p = 0.05 if none has as small a cut
_ROUNDING = 1e-12  # cut values that differ by less are equal
_FIRST_SAMPLES = 4  # after which the cut may be far below
_FAR = 0.995  # what a normal cut value is above, given those of the samples


def _sure_score(n_rows: int) -> float:
    by_rows = SURE * (_FEW_FOR_ONE / n_rows) ** _FALL
    return min(max(by_rows, _SURE_OF_MANY), SURE)


def is_sure(score: float, n_rows: int) -> bool:
    """Whether a number of clusters is too clear for noise, so that no test is needed."""
    return score >= _sure_score(n_rows)


def clear_score(n_rows: int) -> float:
    """The score below which a number of clusters does not stand out, more of few rows."""
    return max(CLEAR, _CLEAR_SHARE * _sure_score(n_rows))


def may_be_one_cluster(X: Array, affinity: Affinity, n_clusters: int, seed: int = 0) -> bool:
    """Whether a sample of one cluster was cut as easily into K as the rows of X.

    Parameters
    ----------
    X : array of shape (n, n_features)
    affinity : Affinity
        Not fitted here, but copies of it.
    n_clusters : int
    seed : int

    Notes
    -----
    Principal axes are functions of the covariance, which samples share; so the test of the
    Gaussian null is as exact on some principal components as on all columns.
    """
    from eigencut.inspection.significance import SameCovariance, smoothed_cluster

    rows, _ = some_rows(X, _ROWS)
    rows = rows[np.lexsort(rows.T)]  # samples are drawn of rows by number
    if n_clusters >= len(rows):
        return False
    null = SameCovariance(rows, _COLUMNS)
    rng = np.random.RandomState(seed)
    with warnings.catch_warnings(), without_progress():
        warnings.simplefilter("ignore", GraphWarning)
        rows = null.sample(null.scores)
        own = Spectrum.of(rows, clone(affinity), CUTS["ncut"], n_clusters)
        own.partition(n_clusters, n_init=2)
        labels = own.predict(rows, n_clusters)
        most = _cut(rows, affinity, n_clusters) + _ROUNDING
        found: list[list[float]] = []
        while len(found) < _SAMPLES and not is_far_below(most, found):
            found.append([])
            for draw in (
                smoothed_cluster(null.scores, labels, rng),
                rng.standard_normal(null.scores.shape),
            ):
                found[-1].append(_cut(null.sample(draw), affinity, n_clusters))
                if found[-1][-1] <= most:
                    return True
    return False


def _cut(rows: Array, affinity: Affinity, n_clusters: int) -> float:
    """The relaxed cut, roughly: samples of the same null differ by more."""
    copy: Any = clone(affinity)
    graph = copy.fit_graph(rows)
    cut = relaxed_cut(graph, copy, CUTS["ncut"], n_clusters, n_rough=n_clusters)
    return float(cut.pairs.values.sum()) + n_clusters / len(rows)


def is_far_below(cut: float, samples: list[list[float]]) -> bool:
    """Whether a cut is below what the samples of each null make likely for a further one.

    Logarithms of cut values are nearly normal; the bound is that of their prediction interval.
    """
    m = len(samples)
    if m < _FIRST_SAMPLES:
        return False
    logs = np.log(samples)
    spread = logs.std(axis=0, ddof=1) * np.sqrt(1 + 1 / m)
    bounds = logs.mean(axis=0) - stdtrit(m - 1, _FAR) * spread
    return bool((np.log(cut) < bounds).all())


CHOICE_ROWS = 4000  # on which K is decided, at most
_CUT = CUTS["ncut"]  # eigenvalues of NCut have no unit, so they compare across graphs
_FIRST_PAIRS = 16  # twice as many where these are not enough
_SMALL = 0.02  # where the last eigenvalue is below, further clusters may follow; or, of many rows,
_SMALL_OF_SHEET = 2.0  # below so many times pairs over rows: half of what rows in a plane have
_ROWS_PER_CLUSTER = 10  # smaller ones are outliers; so many clusters are looked for at most,
_ALWAYS_LOOKED_FOR = 10  # or so many, where rows are few
_GAPS = 8  # numbers with the largest gaps, whose clusters are looked at
_DISCRETIZED_ROWS = 1000  # of which a rotation is found, for each of them
_NEIGHBORS = 15
_FEW_ROWS = 2 * _NEIGHBORS  # of an average cluster: where neighbours are half of it, chance makes
_CLEAR_OF_FEW = 1.0  # clusters, and only from this score on they are believed;
_NOT_BELIEVED = 1.0  # below, so much is taken off


@dataclass(frozen=True)
class Found:
    """Numbers of clusters that were compared, and the best.

    Attributes
    ----------
    choices : tuple of Choice
    best : Choice
    is_edge : bool
        Whether the best is the largest that was looked for.
    """

    choices: tuple[Choice, ...]
    best: Choice
    is_edge: bool

    def report(self, candidates: Candidates, n_rows: int) -> None:
        """Warn where nothing stands out of so many rows, or where larger numbers were left out."""
        K, clear = self.best.n_clusters, clear_score(n_rows)
        if self.best.score < clear:
            warn_user(
                f"No number of clusters stands out: the best is {K}, with a score of "
                f"{self.best.score:.2f} (clear ones are above {clear:.2g}). The rows may be one "
                "cluster; look at eigencut.select(X) before trusting it."
            )
        elif self.is_edge and candidates.numbers is not None and len(candidates.numbers) > 1:
            warn_user(
                f"The best number of clusters, {K}, is the largest candidate: there may be more. "
                f"Give larger ones, such as n_clusters=range(2, {2 * K + 1}), or 'auto'."
            )


def default_affinities(n_rows: int, metric: str = "euclidean") -> list[Affinity]:
    """The graph on which K is looked for, and one to turn to where it shows nothing clear.

    Both are symmetric: outliers make many small pieces of a mutual graph. With contrast, gaps show
    that are narrow and long, and clusters of different density less well.
    """
    k = int(np.clip(n_rows // 4, 5, _NEIGHBORS))
    return [Neighbors(k, metric=metric), Neighbors(k, density_contrast=1.0, metric=metric)]


def find_number(
    X: Any,
    affinities: Sequence[Affinity],
    candidates: Candidates,
    sample_weight: Array | None = None,
    every: bool = False,
) -> Found:
    """The best number of clusters on the first graph that shows one clearly, or on any.

    Parameters
    ----------
    X : array or sparse array
        Rows, or affinities among them.
    affinities : sequence of Affinity
    candidates : Candidates
    sample_weight : array, optional
    every : bool
        Whether all candidates get a score, not only those with the largest gaps.
    """
    compared: list[Choice] = []
    best: Found | None = None
    for affinity in counted(affinities, "graphs compared"):
        fitted = clone(affinity)
        with warnings.catch_warnings(), without_progress():
            warnings.simplefilter("ignore", GraphWarning)
            found = numbers_of_graph(fitted.fit_graph(X, sample_weight), fitted, candidates, every)
        compared += [replace(choice, affinity=affinity) for choice in found.choices]
        if best is None or found.best.score > best.best.score:
            best = found
        if found.best.score >= CLEAR:
            break
    assert best is not None
    chosen = max(compared, key=lambda choice: choice.score)
    return replace(best, choices=tuple(compared), best=chosen)


def numbers_of_graph(
    graph: Graph, affinity: Affinity, candidates: Candidates, every: bool = False
) -> Found:
    """Scores of the numbers of clusters of one graph."""
    given = candidates.among(graph.n_vertices)
    limit = max(_ALWAYS_LOOKED_FOR, int(graph.n_rows / graph.one_row) // _ROWS_PER_CLUSTER)
    limit = given[-1] if given else min(limit, graph.n_vertices - 1)
    n_pairs = limit if given else min(_FIRST_PAIRS, limit)
    while True:
        # Rough pairs are enough: they led to the same K on all sets that were compared.
        of_graph = (graph, affinity, _CUT, n_pairs + 1, n_pairs + 1)
        spectrum = Spectrum.of_graph(*of_graph, least_rows(graph))
        if not any(spectrum.reaches(K) for K in given or range(2, n_pairs + 1)):
            spectrum = Spectrum.of_graph(*of_graph)
        small = min(_SMALL, _SMALL_OF_SHEET * n_pairs / graph.n_vertices)
        if n_pairs == limit or spectrum.pairs.values[-1] >= small:
            scores = _scores(spectrum, given or range(2, n_pairs + 1), every)
            best = max(scores, key=lambda K: scores[K])
            if n_pairs == limit or best <= n_pairs // 2:
                break
        n_pairs = min(2 * n_pairs, limit)
    choices = {K: Choice(K, affinity, score) for K, score in scores.items()}
    return Found(tuple(choices.values()), choices[best], best == limit)


def _scores(spectrum: Spectrum, numbers: Sequence[int], every: bool) -> dict[int, float]:
    """Conductance scores by K, of all numbers or of those that may have the best one.

    The clusters' normalized cuts add up to no less than the eigenvalues (Ky Fan), so that the worst
    is not below their mean; with that in place of it a score is bounded before the clusters are
    known, and clusters are looked at as long as the bound is above the best score.
    """
    numbers = [number for number in numbers if spectrum.reaches(number)]
    # Where small components make K + j clusters clear, K is not all of them.
    K = np.array([K for K in numbers if not (K + 1 in numbers and spectrum.n_clear(K + 1))])
    floor = spectrum.graph.one_row / spectrum.graph.n_rows
    values = [np.maximum(spectrum.values_of(number), 0.0) + floor for number in K]
    last, following = np.transpose([found[-2:] for found in values])
    gaps = np.log(following / last)
    means = np.array([found[:-1].mean() for found in values])
    bounds = np.log(following / means) + gaps
    looked_at = np.argsort(-gaps, kind="stable")[: None if every else _GAPS]
    looked_at = looked_at[np.argsort(-bounds[looked_at], kind="stable")]
    found: dict[int, float] = {}
    for place in looked_at:
        if found and not every and bounds[place] <= max(found.values()):
            break
        number = int(K[place])
        spectrum.partition_roughly(number, _DISCRETIZED_ROWS)
        found[number] = _believed(float(conductance_of(spectrum, [number])[0]), spectrum, number)
    return found


def _believed(score: float, spectrum: Spectrum, number: int) -> float:
    """The score, and less where clusters are so small that neighbours alone make them."""
    graph = spectrum.graph
    are_few = graph.n_rows / graph.one_row < _FEW_ROWS * number
    return score - _NOT_BELIEVED if are_few and score < _CLEAR_OF_FEW else score
