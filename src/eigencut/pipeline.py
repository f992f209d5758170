"""What a fit does, in order.

rows ──► candidate graphs ──► relaxed cuts (Eqs. 6, 7) ──► the choice among them
     ──► extension to eigenfunctions ──► rotation to indicators (POD) ──► labels of the rows
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.progress import stage
from eigencut.affinities.neighbors import warn_about_many_neighbors
from eigencut.auto.budget import Budget
from eigencut.auto.choose import Chosen, choose, graphs_for_labels, most_agreeing
from eigencut.auto.spectrum import Choice
from eigencut.cut import Cut
from eigencut.extension.eigenfunctions import extend
from eigencut.fitted import CutGraph, FittedCut, first_without_tiny_clusters
from eigencut.graphs.base import Graph
from eigencut.io.validation import rows_that_count
from eigencut.semi_supervised.guided_cut import UnguidedCut, guided_cut
from eigencut.semi_supervised.known_labels import Known


@dataclass(frozen=True)
class Settings:
    """The parameters of GPOD that a fit depends on; ``pairwise`` says that rows are affinities."""

    n_clusters: Any
    cut: Cut
    affinity: Any
    metric: str | None
    extension: str
    n_init: int
    random_state: Any
    outliers: str
    outlier_quantile: float
    memory_limit: Any
    pairwise: bool

    @property
    def starts(self) -> dict[str, Any]:
        """Return the options of POD."""
        return {"n_init": self.n_init, "random_state": self.random_state}


@dataclass(frozen=True)
class Fit:
    """The result of a fit.

    ``labels``, ``embedding`` and ``is_outlier`` are those of the training rows, None for a stream.
    """

    graph: Graph
    fitted: FittedCut
    compared: tuple[Choice, ...]
    labels: Indices | None = None
    embedding: Array | None = None
    is_outlier: NDArray[np.bool_] | None = None


def fit_rows(
    X: Any, settings: Settings, sample_weight: Array | None = None, known: Known | None = None
) -> Fit:
    """Cut the graph of the rows, and label them."""
    counted, weight = rows_that_count(X, sample_weight, pairwise=settings.pairwise)
    chosen = choose_graphs(counted, settings, weight, known)
    if known is not None:
        known.check_model(chosen.n_clusters, settings.outliers, settings.extension)
    fit = cut_chosen(counted, chosen, settings, weight, known)
    warn_about_many_neighbors(settings.affinity, len(fit.fitted.affinity.multiplicity_))
    return _with_labels(fit, X, counted, sample_weight, mark_outliers=settings.outliers == "label")


def choose_graphs(
    X: Any, settings: Settings, sample_weight: Array | None = None, known: Known | None = None
) -> Chosen:
    """Return K and the candidate graphs, as given or chosen; refuse what memory cannot hold."""
    with stage("choices"):
        return choose(
            X,
            settings.n_clusters,
            affinity=settings.affinity,
            memory_limit=settings.memory_limit,
            starts=settings.starts,
            sample_weight=sample_weight,
            metric=settings.metric,
            least=1 if known is None else known.least_clusters,
        )


def cut_chosen(
    X: Any,
    chosen: Chosen,
    settings: Settings,
    sample_weight: Array | None = None,
    known: Known | None = None,
) -> Fit:
    """Cut the candidate graphs until a cut has no tiny clusters."""
    chosen.report()
    best = first_without_tiny_clusters(_cuts(X, chosen, settings, sample_weight, known))
    if best.agreement is not None and best.agreement.is_corrected:
        budget = Budget.from_rows(X, chosen.n_clusters, settings.memory_limit)
        others = graphs_for_labels(chosen, best.fitted.affinity, budget.allows)
        best = most_agreeing(best, _cuts(X, others, settings, sample_weight, known))
    compared = tuple(replace(one, affinity=repr(one.affinity)) for one in chosen.compared)
    return Fit(best.graph, best.fitted, compared)


def _cuts(
    X: Any, chosen: Chosen, settings: Settings, sample_weight: Array | None, known: Known | None
) -> Iterator[CutGraph]:
    """Yield the fitted cut of each candidate graph."""
    cut = settings.cut
    for affinity, graph, relaxed, partition in chosen.relaxed_cuts(X, cut, sample_weight):
        if chosen.compared:  # the choice has seen and judged the components
            relaxed.report_apart(graph)
        else:
            relaxed.report(graph, affinity)
        with stage("extension"):
            functions = extend(settings.extension, affinity, cut, relaxed.pairs, graph.degrees)
        functions.report_lost_components()
        agreement = None
        if known is not None:
            with stage("known labels and pairs"):
                unguided = UnguidedCut(functions, graph, relaxed, partition, settings.starts)
                functions, partition, agreement = guided_cut(unguided, known)
        with stage("discretization"):
            fitted = FittedCut.of(
                functions,
                graph,
                relaxed.n_components,
                settings.outlier_quantile,
                partition,
                **settings.starts,
            )
        yield CutGraph(graph, fitted, agreement, relaxed.n_clear)


def _with_labels(
    fit: Fit, X: Any, counted: Any, sample_weight: Array | None, *, mark_outliers: bool
) -> Fit:
    """Return the fit with the labels and the embedding of the rows X; a stream has none."""
    graph, fitted, is_outlier = fit.graph, fit.fitted, None
    with stage(f"labels of {graph.n_labels} rows"):
        labels, embedding = fitted.at_training_rows(graph, counted)
        if labels is not None and sample_weight is not None:
            positive = np.flatnonzero(sample_weight)
            labels, embedding = fitted.at_all_rows(X, positive, labels, embedding)
        if labels is not None and mark_outliers:
            is_outlier = fitted.is_outlier(X)
    return Fit(graph, fitted, fit.compared, labels, embedding, is_outlier)
