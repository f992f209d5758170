"""What a report says, as plain data: HTML, text and JSON are three ways to show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eigencut._utils.json_ready import JsonReady
from eigencut.inspection.assessment import RiskSummary
from eigencut.inspection.contrasts import Contrast, Word
from eigencut.inspection.describe import TypicalRow
from eigencut.inspection.rules import Rule
from eigencut.report.terminal import summary_text


@dataclass(frozen=True)
class ClusterSummary(JsonReady):
    """One cluster.

    Attributes
    ----------
    cluster : int
    name : str
        As it was given, or "cluster 0".
    size : float
        Rows: all of X, or what the model knows of its own.
    share : float
        Of the rows that belong to a cluster.
    n_new : int or None
        New rows in it.
    margin : float or None
        The mean margin of its rows, from 0 (torn) to 1 (certain).
    unsure : float or None
        The share of its rows that are unsure, of the new rows where there are any; see
        ``PairDoubt``.
    stability : float or None
        The share of labels that stay in refits.
    cut_training, cut_new : float or None
        What of its weight leaves it, on the rows of the fit and on new rows.
    contrasts, rule, words, typical
        As in ``ClusterDescription``; rows are counted in all of X.
    """

    cluster: int
    name: str
    size: float
    share: float
    n_new: int | None
    margin: float | None
    unsure: float | None
    stability: float | None
    cut_training: float | None
    cut_new: float | None
    contrasts: tuple[Contrast, ...]
    rule: Rule | None
    words: tuple[Word, ...]
    typical: tuple[TypicalRow, ...]


@dataclass(frozen=True)
class PairDoubt(JsonReady):
    """Rows that nearly belong to the other of two clusters.

    A row is unsure if its margin is below 0.1 and it lies inside what the model knows (rows outside
    are counted as such); the other cluster is the second most probable.

    Attributes
    ----------
    first, second : int
        The clusters, the smaller number first.
    n_unsure : int
    n_rows : int
        Of both clusters together, among the rows that were looked at.
    share : float
        ``n_unsure / n_rows``.
    """

    first: int
    second: int
    n_unsure: int
    n_rows: int
    share: float


@dataclass(frozen=True)
class Picture(JsonReady):
    """Some rows in the plane.

    Attributes
    ----------
    projection : str
        How rows became points, in words.
    axes : tuple of two str
    x, y : tuple of float
    labels : tuple of int
        -1 is no cluster.
    margins : tuple of float
    rows : tuple of int
        The place of each among its rows, from 0.
    is_new : tuple of bool
    n_rows, n_new : int
        Rows, and new rows, that these points were drawn from.
    """

    projection: str
    axes: tuple[str, str]
    x: tuple[float, ...]
    y: tuple[float, ...]
    labels: tuple[int, ...]
    margins: tuple[float, ...]
    rows: tuple[int, ...]
    is_new: tuple[bool, ...]
    n_rows: int
    n_new: int


@dataclass(frozen=True)
class SupportSummary(JsonReady):
    """How well the model knows the places where rows lie.

    Attributes
    ----------
    least : float
        Rows with less support lie outside what the model knows.
    outside, new_outside : float or None
        Their share among the rows, and among the new rows.
    edges : tuple of float
        Of the bins of support; the first and the last hold what lies beyond, too.
    counts, new_counts : tuple of int
        Rows in each bin, and new rows.
    """

    least: float
    outside: float | None
    new_outside: float | None
    edges: tuple[float, ...]
    counts: tuple[int, ...]
    new_counts: tuple[int, ...]


@dataclass(frozen=True)
class SpectrumSummary(JsonReady):
    """Eigenvalues: those of the model, and the next ones.

    Attributes
    ----------
    values : tuple of float
        One for each cluster, ascending.
    measured : tuple of float
        Of the same graph on ``n_rows`` of the rows, more of them; empty where there are no rows.
    n_rows : int
    """

    values: tuple[float, ...]
    measured: tuple[float, ...]
    n_rows: int


@dataclass(frozen=True)
class ComparedGraph(JsonReady):
    """A graph that was compared with others, and how clearly it shows the clusters."""

    affinity: str
    score: float


@dataclass(frozen=True)
class ChoiceSummary(JsonReady):
    """How the graph and the number of clusters came about.

    Attributes
    ----------
    asked_clusters : str
        What ``n_clusters`` was.
    n_clusters : int
    chosen_clusters : bool
        Whether the number was chosen.
    asked_graph, graph : str
        What ``affinity`` was, and what was taken.
    compared : tuple of ComparedGraph
    """

    asked_clusters: str
    n_clusters: int
    chosen_clusters: bool
    asked_graph: str
    graph: str
    compared: tuple[ComparedGraph, ...]


@dataclass(frozen=True)
class QuickStability(JsonReady):
    """Agreement of a few refits with the labels; see ``eigencut.inspection.stability``.

    Attributes
    ----------
    mean : float
        The share of rows that keep their label.
    per_cluster : dict of int to float
    n_refits, n_rows : int
    """

    mean: float
    per_cluster: dict[int, float]
    n_refits: int
    n_rows: int


@dataclass(frozen=True)
class ModelSummary(JsonReady):
    """What there is to say of a fitted model, on some rows. ``print`` it to read it.

    Attributes
    ----------
    title : str
    sentences : tuple of str
        All of it in plain words, the most important first.
    n_fitted : float
        Rows of the fit, or what they count together.
    n_rows, n_looked_at : int
        Rows of X, and how many of them more than their label was asked of.
    n_unlabelled : int
        Rows of X in no cluster.
    n_new, n_new_looked_at : int
        The same of new rows.
    clusters : tuple of ClusterSummary
        By number.
    pairs : tuple of PairDoubt
        Clusters that share unsure rows, the most of them first.
    unsure : float or None
        The share of all rows that are unsure, of the new rows where there are any.
    picture : Picture or None
    support : SupportSummary
    spectrum : SpectrumSummary
    choice : ChoiceSummary
    risk : RiskSummary or None
    stability : QuickStability or None
    settings, versions : dict
    warnings : tuple of str
        Raised at the fit.
    notes : tuple of str
        What was left out or looked at in part, and why.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from eigencut import GPOD
    >>> from eigencut.report import summarize
    >>> X, _ = make_blobs(90, centers=3, cluster_std=0.4, random_state=0)
    >>> summary = summarize(GPOD(3).fit(X), X, stability=False)
    >>> [(cluster.name, cluster.size) for cluster in summary.clusters]
    [('cluster 0', 30.0), ('cluster 1', 30.0), ('cluster 2', 30.0)]
    >>> sorted(summary.to_dict())[:3]
    ['choice', 'clusters', 'n_fitted']
    """

    title: str
    sentences: tuple[str, ...]
    n_fitted: float
    n_rows: int
    n_looked_at: int
    n_unlabelled: int
    n_new: int
    n_new_looked_at: int
    clusters: tuple[ClusterSummary, ...]
    pairs: tuple[PairDoubt, ...]
    unsure: float | None
    picture: Picture | None
    support: SupportSummary
    spectrum: SpectrumSummary
    choice: ChoiceSummary
    risk: RiskSummary | None
    stability: QuickStability | None
    settings: dict[str, Any]
    versions: dict[str, str]
    warnings: tuple[str, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return summary_text(self)
