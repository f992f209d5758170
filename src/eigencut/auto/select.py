"""Choosing the number of clusters and the affinity without labels."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.base import clone
from sklearn.utils import get_tags

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.progress import counted, without_progress
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_choice, check_n_jobs, check_sample_weight, needed
from eigencut.affinities import Affinity, named_affinity, refuse_metric_of_no_numbers
from eigencut.auto.budget import Budget
from eigencut.auto.choose import is_mixed, mixed_landmarks, unless_few
from eigencut.auto.n_clusters import Candidates, default_affinities, find_number, some_rows
from eigencut.auto.policy import POLICY
from eigencut.auto.spectrum import Choice, Spectrum
from eigencut.cut import CUTS
from eigencut.exceptions import GraphWarning, invalid
from eigencut.gpod import GPOD
from eigencut.io.refused_rows import naming_refused_rows
from eigencut.io.validation import check_rows, rows_that_count
from eigencut.neighbors.distinct_rows import distinct_rows

# Criteria: each gives every number of clusters K a score; larger is better.
# ``benchmarks/studies/selection.md`` has the measurements that made conductance the default.


@dataclass(frozen=True)
class Task:
    """What a criterion works on."""

    X: Array
    affinity: Affinity
    n_clusters: Sequence[int]
    seed: int
    sample_weight: Array | None = None

    def spectrum(self, X: Array, sample_weight: Array | None) -> Spectrum:
        """Solve the cut of some rows, with one pair more than the largest K."""
        n_pairs, cut = max(self.n_clusters) + 1, CUTS["ncut"]
        return Spectrum.from_rows(
            X, clone(self.affinity), cut=cut, n_pairs=n_pairs, sample_weight=sample_weight
        )


def eigengap(task: Task) -> Array:
    """The relative eigengap ``log((lambda_{K+1} + e) / (lambda_K + e))``, e = 1e-4."""
    values = task.spectrum(task.X, task.sample_weight).pairs.values + POLICY.gap_floor
    K = np.array(task.n_clusters)
    return np.log(values[K] / values[K - 1])


def stability(task: Task) -> Array:
    """Agreement of clusterings fitted on disjoint parts, on rows that neither has seen.

    Two models are fitted on two fifths of the rows each and predict the last fifth; their agreement
    is the adjusted Rand index, which is 0 on average for unrelated labels. Mean over 8 splits.
    """
    rng = np.random.default_rng(task.seed)
    distinct = distinct_rows(task.X, task.sample_weight)
    X, weight = distinct.rows, distinct.multiplicity
    agreement = np.zeros(len(task.n_clusters))
    for _ in range(POLICY.repeats):
        order = rng.permutation(len(weight))
        first, second, rest = np.split(order, [2 * len(order) // 5, 4 * len(order) // 5])
        spectra = [task.spectrum(X[part], weight[part]) for part in (first, second)]
        for i, K in enumerate(task.n_clusters):
            one, other = (s.predict(X[rest], K) for s in spectra)
            agreement[i] += weighted_rand_index(one, other, weight[rest]) / POLICY.repeats
    return agreement


def weighted_rand_index(first: Indices, second: Indices, weight: Array) -> float:
    """The adjusted Rand index of two labellings, pairs of rows counting the product of weights."""
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), weight)
    itself = float(weight @ weight)
    together = float((table**2).sum()) - itself
    in_first, in_second = (float((table.sum(axis=i) ** 2).sum()) - itself for i in (1, 0))
    by_chance = in_first * in_second / (float(table.sum()) ** 2 - itself)
    most = (in_first + in_second) / 2
    return 1.0 if most == by_chance else (together - by_chance) / (most - by_chance)


def risk(task: Task) -> Array:
    """The jump of the held-out error after the K-th eigenfunction, compared with no clusters.

    The error F_k of the k-th eigenfunction on held-out rows estimates its population error. The sum
    over k always rises with K, and the mean does too; so the score is the jump
    ``log((F_{K+1} + e) / (F_K + e))`` minus its mean on Gaussian samples of the same covariance,
    which hold one cluster.
    """
    rng = np.random.default_rng(task.seed)
    distinct = distinct_rows(task.X, task.sample_weight)
    X, weight = distinct.rows, distinct.multiplicity
    data = np.mean([_held_out_jumps(task, X, weight, rng) for _ in range(POLICY.repeats)], axis=0)
    mean, covariance = np.average(X, axis=0, weights=weight), np.cov(X.T, aweights=weight)
    null = np.zeros_like(data)
    for _ in range(POLICY.repeats):
        sample = rng.multivariate_normal(mean, np.atleast_2d(covariance), len(X))
        null += _held_out_jumps(task, sample, weight, rng) / POLICY.repeats
    return np.asarray(data - null)


def _held_out_jumps(task: Task, X: Array, weight: Array, rng: np.random.Generator) -> Array:
    """``log((F_{K+1} + e) / (F_K + e))`` on a random fifth of the rows, e = 1e-4."""
    from eigencut.theory.errors import dirichlet_error

    order = rng.permutation(len(X))
    training, rest = np.split(order, [4 * len(order) // 5])
    spectrum = task.spectrum(X[training], weight[training])
    functions = spectrum.functions(len(spectrum.pairs.values))
    values = functions.unit(functions(X[rest]))
    errors = dirichlet_error(spectrum.affinity, X[rest], values, weight[rest]) + POLICY.gap_floor
    K = np.array(task.n_clusters)
    return np.log(errors[K] / errors[K - 1])


def last_stable(scores: Array) -> int:
    """Return the largest K that is stable: every coarser cut of clear clusters is stable too."""
    stable = np.flatnonzero(scores >= POLICY.stable)
    return int(stable[-1]) if len(stable) else int(np.argmax(scores))


@dataclass(frozen=True)
class Criterion:
    """A score of every K, and which K to take given the scores."""

    scores: Callable[[Task], Array] | None = None  # None for conductance, which find_number has
    pick: Callable[[Array], Any] = np.argmax
    least_rows: int = 3  # rows that the criterion can work on, beyond the largest K
    splits_rows: bool = False  # whether it splits rows of features, so that a matrix will not do
    takes_sparse: bool = True  # whether rows may be a scipy.sparse array
    needs_numbers: bool = False  # whether it compares with normal rows


CRITERIA: dict[str, Criterion] = {
    "conductance": Criterion(),
    "stability": Criterion(stability, last_stable, least_rows=40, splits_rows=True),
    "risk": Criterion(
        risk, least_rows=40, splits_rows=True, takes_sparse=False, needs_numbers=True
    ),
    "eigengap": Criterion(eigengap),
}


@dataclass(frozen=True)
class Selection:
    """What was compared, what won, and the model fitted with it.

    Attributes
    ----------
    criterion : str
    choices : tuple of Choice
        Every number of clusters and affinity, the chosen one first, then by score.
    model : GPOD
        Fitted on all rows with the first of them.
    """

    criterion: str
    choices: tuple[Choice, ...]
    model: GPOD

    @property
    def best(self) -> Choice:
        return self.choices[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers and strings."""
        rows = [
            {"n_clusters": c.n_clusters, "affinity": repr(c.affinity), "score": c.score}
            for c in self.choices
        ]
        return {"criterion": self.criterion, "choices": rows}

    def to_frame(self) -> Any:
        """The same as a pandas DataFrame, a row for each choice."""
        return needed("pandas", "pandas").DataFrame(self.to_dict()["choices"])

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores: a heat map of graphs and numbers of clusters, or a line of one graph.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Default: a new figure's.

        Returns
        -------
        ax : matplotlib axes
        """
        from eigencut.plotting.curves import ChoiceDisplay

        return ChoiceDisplay.from_selection(self, ax=ax).ax_

    def __str__(self) -> str:
        lines = [f"{'n_clusters':>10} {self.criterion:>12}  affinity"]
        for c in self.choices:
            lines.append(f"{c.n_clusters:>10} {c.score:>12.3f}  {c.affinity!r}")
        return "\n".join(lines)


def select(
    X: ArrayLike,
    n_clusters: int | str | Iterable[int] = "auto",
    affinity: Any = "auto",
    cut: str = "ncut",
    criterion: str = "conductance",
    random_state: int | None = None,
    n_jobs: int | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    metric: str | None = None,
) -> Selection:
    """Choose the number of clusters, and the affinity if there are several, without labels.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        scipy.sparse arrays too, with "auto", "neighbors" and "precomputed"; not for "risk".
    n_clusters : int, iterable of int or "auto", default="auto"
        The candidates, each at least 2; all of them get a score. "auto" is as far as the spectrum
        goes, with scores of those numbers that have large gaps; of other criteria than
        conductance 2 to 10.
    affinity : str, Affinity, callable or a list of them, default="auto"
        What ``GPOD`` takes; several are compared. "auto" is a graph of nearest neighbours on some
        4000 of the rows, and with contrast where that shows no clear number of clusters; the model
        is then fitted with the default affinity. Others see all rows.
    cut : {"ncut", "ratiocut"}, default="ncut"
        Of the model that is fitted in the end. Criteria are always computed with NCut, whose
        eigenvalues have no unit.
    criterion : {"conductance", "stability", "risk", "eigengap"}, default="conductance"
        See ``benchmarks/studies/selection.md`` for what each of them found on data of known K.
    random_state : int or None, default=None
        Of the splits and null samples of "stability" and "risk". None means 0.
    n_jobs : int or None, default=None
        Threads. None means all cores.
    sample_weight : array-like of shape (n_samples,), optional
        What each row counts, as in ``GPOD.fit``.
    metric : str or None, default=None
        As of ``GPOD``: that of all affinities.

    Returns
    -------
    Selection

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import select
    >>> X, _ = make_blobs(200, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> found = select(X, n_clusters=range(2, 6))
    >>> found.best.n_clusters
    3
    >>> found.model.predict([[9.0, 0.5]]).shape
    (1,)
    """
    check_choice("criterion", criterion, tuple(CRITERIA))
    check_n_jobs(n_jobs)
    model = GPOD(cut=cut, n_jobs=n_jobs, metric=metric)
    given = rows = check_rows(model, X, reset=True)
    weight = check_sample_weight(sample_weight, rows.shape[0])
    if not any(one.pairwise for one in _affinities(affinity, criterion, metric)):
        rows, weight = rows_that_count(rows, weight, pairwise=get_tags(model).input_tags.pairwise)
    candidates = _candidates(n_clusters, criterion, rows)
    affinity = unless_few(affinity, rows)
    is_auto = isinstance(affinity, str) and affinity == "auto"
    if is_auto:
        rows, weight = some_rows(rows, POLICY.choice_rows, weight)
        affinities = default_affinities(rows.shape[0], metric or "euclidean")
    else:
        affinities = _affinities(affinity, criterion, metric)
    if issparse(rows):
        _refuse_sparse(affinities, criterion)
    budget = Budget.from_rows(rows, max(candidates.numbers or (2,)))
    for one in affinities:
        budget.refuse(one, "select on some of the rows")
    with threads(n_jobs), naming_refused_rows(given, getattr(model, "feature_names_in_", None)):
        if criterion == "conductance":
            choices, best = _by_conductance(
                rows, weight, affinities=affinities, candidates=candidates, is_auto=is_auto
            )
        else:
            seed = 0 if random_state is None else random_state
            compared, numbers = affinities[:1] if is_auto else affinities, candidates.numbers or ()
            tasks = [
                Task(rows, one, n_clusters=numbers, seed=seed, sample_weight=weight)
                for one in compared
            ]
            choices, best = _by_criterion(CRITERIA[criterion], tasks)
    ranked = sorted(choices, key=lambda choice: (choice is not best, -choice.score))
    model.set_params(n_clusters=best.n_clusters)
    if not is_auto:
        model.set_params(affinity=best.affinity)
    return Selection(criterion, tuple(ranked), model.fit(X, sample_weight=sample_weight))


def _candidates(n_clusters: Any, criterion: str, rows: Any) -> Candidates:
    """Return the candidates that the rows allow, or raise an error that says which they do."""
    candidates = Candidates.parse(n_clusters)
    is_auto = candidates.numbers is None
    if is_auto and criterion != "conductance":
        candidates = Candidates.parse(range(2, POLICY.most_compared + 1))
    n_distinct = distinct_rows(rows).rows.shape[0]
    numbers = candidates.among(n_distinct)
    least_more = CRITERIA[criterion].least_rows
    least, most = max(numbers or (2,)) + least_more, n_distinct - least_more
    if n_distinct < least and (is_auto or most < 2):
        which = f", which compares 2 to {POLICY.most_compared} clusters"
        raise invalid(
            "X",
            f"have at least {least} different rows for criterion={criterion!r}"
            f"{which if candidates.numbers else ''}",
            n_distinct,
            f"add data{f', or give n_clusters up to {most}' if most >= 2 else ''}",
        )
    if n_distinct < least:
        raise invalid(
            "n_clusters",
            f"be at most {most} for criterion={criterion!r} and {n_distinct} different rows",
            candidates.text,
            f"lower it (on the command line: -k 2-{most}), or add data",
        )
    return replace(candidates, numbers=numbers, may_be_one=False)


def _by_conductance(
    rows: Any,
    weight: Array | None,
    affinities: list[Affinity],
    candidates: Candidates,
    is_auto: bool,
) -> tuple[list[Choice], Choice]:
    """Scores of the graphs: of those of "auto" until one is clear, of given ones all."""
    every = candidates.numbers is not None
    if is_auto:
        found = find_number(rows, affinities, candidates, sample_weight=weight, every=every)
        found.report(candidates, rows.shape[0])
        return list(found.choices), found.best
    each = []
    for one in counted(affinities, "graphs compared"):
        with without_progress():
            each.append(find_number(rows, [one], candidates, sample_weight=weight, every=every))
    best = max((found.best for found in each), key=lambda choice: choice.score)
    return [choice for found in each for choice in found.choices], best


def _by_criterion(criterion: Criterion, tasks: list[Task]) -> tuple[list[Choice], Choice]:
    """Return the candidates of all tasks, and the best of those to take."""
    assert criterion.scores is not None
    choices, picked = [], []
    for task in counted(tasks, "graphs compared"):
        with warnings.catch_warnings(), without_progress():
            warnings.simplefilter("ignore", GraphWarning)
            scores = criterion.scores(task)
        of_task = [
            Choice(K, task.affinity, float(score))
            for K, score in zip(task.n_clusters, scores, strict=True)
        ]
        choices += of_task
        picked.append(of_task[criterion.pick(scores)])
    return choices, max(picked, key=lambda choice: choice.score)


def _affinities(given: Any, criterion: str, metric: str | None) -> list[Affinity]:
    entries = list(given) if isinstance(given, (list, tuple)) else [given]
    if not entries:
        raise invalid("affinity", "hold at least one", "none", "use affinity='auto'")
    affinities = [
        mixed_landmarks(1, metric or "euclidean")
        if is_mixed(entry)
        else named_affinity(entry, metric)
        for entry in entries
    ]
    if CRITERIA[criterion].splits_rows and any(affinity.pairwise for affinity in affinities):
        expected = f"be one of rows for criterion={criterion!r}, which splits them"
        remedy = "use criterion='conductance' or 'eigengap'"
        raise invalid("affinity", expected, "Precomputed()", remedy)
    if CRITERIA[criterion].needs_numbers:
        for one in affinities:
            refuse_metric_of_no_numbers(one, f"criterion={criterion!r}", "criterion='conductance'")
    return affinities


def _refuse_sparse(affinities: list[Affinity], criterion: str) -> None:
    """An error where an affinity or the criterion needs all numbers of a row."""
    if not CRITERIA[criterion].takes_sparse:
        remedy = "use criterion='conductance', or X.toarray()"
        raise invalid("X", f"be dense for criterion={criterion!r}", "a sparse array", remedy)
    for affinity in affinities:
        if not affinity.accepts_sparse:
            remedy = "use 'neighbors', or X.toarray()"
            raise invalid("affinity", "be one that takes sparse rows", repr(affinity), remedy)
