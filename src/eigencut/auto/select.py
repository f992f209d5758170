"""``select``: numbers of clusters and affinities compared without labels, the best one fitted."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike
from scipy.sparse import issparse
from sklearn.utils import get_tags

from eigencut._utils.json_ready import HtmlTable, Printed
from eigencut._utils.running import counted, threads, without_progress
from eigencut._utils.validation import check_n_jobs, check_sample_weight, needed
from eigencut.affinities import Affinity, named_affinity
from eigencut.auto.budget import Budget
from eigencut.auto.choose import Task
from eigencut.auto.n_clusters import Candidates, default_affinities, find_number, some_rows
from eigencut.auto.policy import POLICY
from eigencut.auto.spectrum import Choice
from eigencut.auto.units import scales_of_columns
from eigencut.cut import CUTS
from eigencut.exceptions import invalid
from eigencut.gpod import GPOD
from eigencut.io.refused_rows import naming_refused_rows
from eigencut.io.validation import check_rows, rows_that_count
from eigencut.neighbors.metrics import distinct_rows


@dataclass(frozen=True, repr=False)
class Selection(Printed):
    """What was compared, what won, and the model fitted with it.

    Attributes
    ----------
    choices : tuple of Choice
        Every number of clusters and affinity, the chosen one first, then by score.
    model : GPOD
        Fitted on all rows with the first of them.
    """

    choices: tuple[Choice, ...]
    model: GPOD

    @property
    def best(self) -> Choice:
        return self.choices[0]

    def to_dict(self) -> dict[str, Any]:
        """Return plain numbers and strings."""
        rows = [
            {"n_clusters": c.n_clusters, "affinity": repr(c.affinity), "score": c.score}
            for c in self.choices
        ]
        return {"choices": rows}

    def to_frame(self) -> Any:
        """The same as a pandas DataFrame, a row for each choice."""
        return needed("pandas", "pandas").DataFrame(self.to_dict()["choices"])

    def plot(self, ax: Any = None) -> Any:
        """Draw the scores against the number of clusters, a line for each graph.

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

    def _html_tables(self) -> Iterator[HtmlTable]:
        rows = [(c.n_clusters, f"{c.score:.3f}", repr(c.affinity)) for c in self.choices]
        yield "Compared choices, the best first", ("n_clusters", "score", "affinity"), rows

    def __str__(self) -> str:
        lines = [f"{'n_clusters':>10} {'score':>8}  affinity"]
        for c in self.choices:
            lines.append(f"{c.n_clusters:>10} {c.score:>8.3f}  {c.affinity!r}")
        return "\n".join(lines)


def select(
    X: ArrayLike,
    n_clusters: int | str | Iterable[int] = "auto",
    affinity: Any = "auto",
    cut: str = "ncut",
    *,
    n_jobs: int | None = None,
    sample_weight: ArrayLike | None = None,
    metric: str | None = None,
) -> Selection:
    """Choose the number of clusters, and the affinity if there are several, without labels.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        scipy.sparse arrays too, with "auto", "neighbors" and "precomputed".
    n_clusters : int, iterable of int or "auto", default="auto"
        The numbers to compare, from 2 on; each gets a score. "auto" looks at 2, 3, ... until the
        best is far below the largest, and scores those that are most promising.
    affinity : str, Affinity, callable or a list of them, default="auto"
        What ``GPOD`` takes; several are compared. "auto" is what ``GPOD("auto")`` decides by, on
        some 4000 of the rows; the model is then fitted with the default affinity. Others see all
        rows.
    cut : {"ncut", "ratiocut"}, default="ncut"
        Of the model that is fitted in the end. Scores are always those of NCut, whose eigenvalues
        have no unit.
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
    check_n_jobs(n_jobs)
    model = GPOD(cut=cut, n_jobs=n_jobs, metric=metric)
    given = rows = check_rows(model, X, reset=True)
    weight = check_sample_weight(sample_weight, rows.shape[0])
    entries = list(affinity) if isinstance(affinity, (list, tuple)) else [affinity]
    if not entries:
        raise invalid("affinity", "hold at least one", "none", "use affinity='auto'")
    affinities: list[Affinity] = [named_affinity(entry, metric) for entry in entries]
    if not any(one.pairwise for one in affinities):
        rows, weight = rows_that_count(rows, weight, pairwise=get_tags(model).input_tags.pairwise)
    candidates = Candidates.parse(n_clusters)
    numbers = candidates.among(distinct_rows(rows).rows.shape[0])
    candidates = replace(candidates, numbers=numbers, may_be_one=False)
    names = getattr(model, "feature_names_in_", None)
    is_auto = isinstance(affinity, str) and affinity == "auto"
    if is_auto:
        starts = {"n_init": model.n_init, "random_state": None}
        task = Task(candidates.numbers or "auto", "auto", CUTS["ncut"], starts, metric=metric)
        scales = scales_of_columns(rows, task, weight, names)
        rows = rows if scales is None else rows / scales
        rows, weight = some_rows(rows, POLICY.choice_rows, weight)
        affinities = default_affinities(rows, metric or "euclidean")
    budget = Budget.from_rows(rows, max(candidates.numbers or (2,)))
    for one in affinities:
        if issparse(rows) and not one.accepts_sparse:
            remedy = "use 'neighbors', or X.toarray()"
            raise invalid("affinity", "be one that takes sparse rows", repr(one), remedy)
        budget.refuse(one, "select on some of the rows")
    # The graphs of "auto" make one choice, each given one makes its own.
    groups = [affinities] if is_auto else [[one] for one in affinities]
    found = []
    with threads(n_jobs), naming_refused_rows(given, names, X):
        for group in counted(groups, "graphs compared"):
            with without_progress():
                compared = find_number(
                    rows,
                    group,
                    candidates,
                    sample_weight=weight,
                    every=numbers is not None,
                    metric=(metric or "euclidean") if is_auto else None,
                )
                if is_auto and numbers is None:
                    compared = compared.split_further(rows, weight, metric or "euclidean")
            found.append(compared)
        if is_auto:
            found[0].report(candidates, rows.shape[0], shows_scores=True)
    best = max((compared.best for compared in found), key=lambda choice: choice.score)
    choices = [choice for compared in found for choice in compared.choices]
    ranked = sorted(choices, key=lambda choice: (choice != best, -choice.score))
    model.set_params(n_clusters=best.n_clusters)
    if not is_auto:
        model.set_params(affinity=best.affinity)
    return Selection(tuple(ranked), model.fit(X, sample_weight=sample_weight))
