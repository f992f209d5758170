"""Choosing the number of clusters and the affinity without labels."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike
from scipy.sparse import issparse

from eigencut.affinity import Affinity, named_affinity
from eigencut.data.validation import check_rows, rows_that_count
from eigencut.estimator import GPOD
from eigencut.runtime.progress import counted
from eigencut.runtime.threads import threads
from eigencut.runtime.validation import check_choice, check_n_jobs, check_sample_weight
from eigencut.search.distinct_rows import distinct_rows
from eigencut.selection.automatic import choose_number_of_clusters
from eigencut.selection.budget import Budget
from eigencut.selection.criteria import CRITERIA, Choice, Task, check_candidates, evaluate


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

    def __str__(self) -> str:
        lines = [f"{'n_clusters':>10} {self.criterion:>12}  affinity"]
        for c in self.choices:
            lines.append(f"{c.n_clusters:>10} {c.score:>12.3f}  {c.affinity!r}")
        return "\n".join(lines)


def select(
    X: ArrayLike,
    n_clusters: int | Iterable[int] = range(2, 11),
    affinity: Any = "auto",
    cut: str = "ncut",
    criterion: str = "conductance",
    random_state: int | None = None,
    n_jobs: int | None = None,
    *,
    sample_weight: ArrayLike | None = None,
) -> Selection:
    """Choose the number of clusters, and the affinity if there are several, without labels.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        scipy.sparse arrays too, with "auto", "neighbors" and "precomputed"; not for "risk".
    n_clusters : int or iterable of int, default=range(2, 11)
        The candidates, each at least 2.
    affinity : str, Affinity, callable or a list of them, default="auto"
        What ``GPOD`` takes; several are compared. "auto" is a Gaussian with local bandwidths; with
        the conductance criterion, two global bandwidths are tried where that shows no clear number
        of clusters. Of sparse rows it is ``Neighbors()``.
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
    model = GPOD(cut=cut, n_jobs=n_jobs)
    rows = check_rows(model, X, reset=True)
    weight = check_sample_weight(sample_weight, rows.shape[0])
    if not any(one.pairwise for one in _affinities(affinity, criterion)):
        rows, weight = rows_that_count(model, rows, weight)
    n_distinct = distinct_rows(rows).rows.shape[0]
    candidates = check_candidates(n_clusters, n_distinct)
    needed = max(candidates) + CRITERIA[criterion].least_rows
    if n_distinct < needed:
        raise ValueError(
            f"X must have at least {needed} different rows for criterion={criterion!r} and "
            f"n_clusters up to {max(candidates)}. Got {n_distinct}; lower n_clusters or add data."
        )
    budget = Budget.of(rows, max(candidates))
    is_auto = isinstance(affinity, str) and affinity == "auto"
    if issparse(rows):
        affinity = "neighbors" if is_auto else affinity
        is_auto = False
    affinities = _affinities(affinity, criterion)
    if issparse(rows):
        _refuse_sparse(affinities, criterion)
    for one in affinities:
        budget.refuse(one, "select on some of the rows")
    seed = 0 if random_state is None else random_state
    with threads(n_jobs):
        if is_auto and criterion == "conductance":
            choices, best = choose_number_of_clusters(rows, candidates, seed, weight)
        else:
            tasks = [Task(rows, one, candidates, seed, weight) for one in affinities]
            choices, best = _compared(criterion, tasks)
    ranked = sorted(choices, key=lambda choice: (choice is not best, -choice.score))
    model.set_params(n_clusters=best.n_clusters, affinity=best.affinity)
    return Selection(criterion, tuple(ranked), model.fit(X, sample_weight=sample_weight))


def _compared(criterion: str, tasks: list[Task]) -> tuple[list[Choice], Choice]:
    """The candidates of all tasks, and the best of those to take."""
    found = [evaluate(criterion, task) for task in counted(tasks, "graphs compared")]
    choices = [choice for group, _ in found for choice in group]
    return choices, max((chosen for _, chosen in found), key=lambda choice: choice.score)


def _affinities(given: Any, criterion: str) -> list[Affinity]:
    entries = list(given) if isinstance(given, (list, tuple)) else [given]
    if not entries:
        raise ValueError("affinity must hold at least one. Got none; use affinity='auto'.")
    affinities = [named_affinity(entry) for entry in entries]
    if CRITERIA[criterion].needs_rows and any(affinity.pairwise for affinity in affinities):
        raise ValueError(
            f"affinity must be one of rows for criterion={criterion!r}, which splits them. "
            "Got Precomputed(); use criterion='conductance' or 'eigengap'."
        )
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
