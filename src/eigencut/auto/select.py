"""Choosing the number of clusters and the affinity without labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import get_tags

from eigencut._utils.arrays import Array
from eigencut._utils.progress import counted, without_progress
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_choice, check_n_jobs, check_sample_weight, needed
from eigencut.affinities import Affinity, named_affinity, refuse_metric_of_no_numbers
from eigencut.auto.budget import Budget
from eigencut.auto.candidates import Candidates
from eigencut.auto.graph import is_mixed, mixed_landmarks, some_rows, unless_few
from eigencut.auto.n_clusters import CHOICE_ROWS, default_affinities, find_number
from eigencut.auto.spectrum import CRITERIA, Choice, Task, evaluate
from eigencut.gpod import GPOD
from eigencut.io.refused_rows import naming_refused_rows
from eigencut.io.validation import check_rows, rows_that_count
from eigencut.neighbors.distinct_rows import distinct_rows

_FEW = range(2, 11)  # what "auto" is for criteria that fit every candidate again


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
        from eigencut.plotting.choices import ChoiceDisplay

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
        rows, weight = some_rows(rows, CHOICE_ROWS, weight)
        affinities = default_affinities(rows.shape[0], metric or "euclidean")
    else:
        affinities = _affinities(affinity, criterion, metric)
    if issparse(rows):
        _refuse_sparse(affinities, criterion)
    budget = Budget.of(rows, max(candidates.numbers or (2,)))
    for one in affinities:
        budget.refuse(one, "select on some of the rows")
    with threads(n_jobs), naming_refused_rows(given, getattr(model, "feature_names_in_", None)):
        if criterion == "conductance":
            choices, best = _by_conductance(rows, weight, affinities, candidates, is_auto)
        else:
            seed = 0 if random_state is None else random_state
            compared = affinities[:1] if is_auto else affinities
            tasks = [Task(rows, one, candidates.numbers or (), seed, weight) for one in compared]
            choices, best = _compared(criterion, tasks)
    ranked = sorted(choices, key=lambda choice: (choice is not best, -choice.score))
    model.set_params(n_clusters=best.n_clusters)
    if not is_auto:
        model.set_params(affinity=best.affinity)
    return Selection(criterion, tuple(ranked), model.fit(X, sample_weight=sample_weight))


def _candidates(n_clusters: Any, criterion: str, rows: Any) -> Candidates:
    """The candidates that the rows allow, or an error that says which they do."""
    asked = Candidates.of(n_clusters)
    is_auto = asked.numbers is None
    if is_auto and criterion != "conductance":
        asked = Candidates.of(_FEW)
    n_distinct = distinct_rows(rows).rows.shape[0]
    numbers = asked.among(n_distinct)
    least_more = CRITERIA[criterion].least_rows
    least, most = max(numbers or (2,)) + least_more, n_distinct - least_more
    if n_distinct < least and (is_auto or most < 2):
        raise ValueError(
            f"X must have at least {least} different rows for criterion={criterion!r}"
            f"{f', which compares 2 to {max(_FEW)} clusters' if asked.numbers else ''}. Got "
            f"{n_distinct}; add data{f', or give n_clusters up to {most}' if most >= 2 else ''}."
        )
    if n_distinct < least:
        raise ValueError(
            f"n_clusters must be at most {most} for criterion={criterion!r} and {n_distinct} "
            f"different rows. Got {asked.asked}; lower it (on the command line: -k 2-{most}), or "
            "add data."
        )
    return replace(asked, numbers=numbers, may_be_one=False)


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
        found = find_number(rows, affinities, candidates, weight, every)
        found.report(candidates, rows.shape[0])
        return list(found.choices), found.best
    each = []
    for one in counted(affinities, "graphs compared"):
        with without_progress():
            each.append(find_number(rows, [one], candidates, weight, every))
    best = max((found.best for found in each), key=lambda choice: choice.score)
    return [choice for found in each for choice in found.choices], best


def _compared(criterion: str, tasks: list[Task]) -> tuple[list[Choice], Choice]:
    """The candidates of all tasks, and the best of those to take."""
    found = [evaluate(criterion, task) for task in counted(tasks, "graphs compared")]
    choices = [choice for group, _ in found for choice in group]
    return choices, max((chosen for _, chosen in found), key=lambda choice: choice.score)


def _affinities(given: Any, criterion: str, metric: str | None) -> list[Affinity]:
    entries = list(given) if isinstance(given, (list, tuple)) else [given]
    if not entries:
        raise ValueError("affinity must hold at least one. Got none; use affinity='auto'.")
    affinities = [
        mixed_landmarks(1, metric or "euclidean")
        if is_mixed(entry)
        else named_affinity(entry, metric)
        for entry in entries
    ]
    if CRITERIA[criterion].needs_rows and any(affinity.pairwise for affinity in affinities):
        raise ValueError(
            f"affinity must be one of rows for criterion={criterion!r}, which splits them. "
            "Got Precomputed(); use criterion='conductance' or 'eigengap'."
        )
    if CRITERIA[criterion].needs_numbers:
        for one in affinities:
            refuse_metric_of_no_numbers(one, f"criterion={criterion!r}", "criterion='conductance'")
    return affinities


def _refuse_sparse(affinities: list[Affinity], criterion: str) -> None:
    """An error where an affinity or the criterion needs all numbers of a row."""
    if not CRITERIA[criterion].takes_sparse:
        raise ValueError(
            f"X must be dense for criterion={criterion!r}. Got a sparse array; use "
            "criterion='conductance', or X.toarray()."
        )
    for affinity in affinities:
        if not affinity.accepts_sparse:
            raise ValueError(
                f"affinity must be one that takes sparse rows. Got {affinity!r}; use 'neighbors', "
                "or X.toarray()."
            )
