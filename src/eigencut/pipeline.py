"""The steps of ``GPOD.fit``, in order; ``fit_rows`` runs them.

rows ──► candidate graphs ──► cuts, relaxed (Eqs. 6, 7; POD) or discrete ──► choice of a cut
     ──► extension to any row ──► labels of the training rows
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import note, stage
from eigencut.auto.choose import Chosen, Task, choose, graphs_for_labels
from eigencut.auto.graph import CutOfGraph
from eigencut.auto.spectrum import Choice
from eigencut.auto.units import scales_of_columns
from eigencut.cut import Cut
from eigencut.exceptions import invalid
from eigencut.extension.eigenfunctions import extend
from eigencut.fitted import (
    FittedCut,
    FittedDiscreteCut,
    FittedRelaxedCut,
    warn_about_tiny_clusters,
    with_size_limits,
)
from eigencut.graphs.base import Graph
from eigencut.io.rows import Rows
from eigencut.io.validation import rows_that_count
from eigencut.semi_supervised.known_labels import Known


@dataclass(frozen=True)
class Settings:
    """The parameters of GPOD that a fit depends on; with ``pairwise``, rows are affinities."""

    n_clusters: Any
    cut: Cut
    affinity: Any
    metric: str | None
    solver: str
    extension: str
    n_init: int
    random_state: Any
    outliers: str
    outlier_quantile: float
    memory_limit: Any
    pairwise: bool
    names: Any = None  # of the columns; None if they have no names
    min_cluster_size: Any = None
    max_cluster_size: Any = None

    @property
    def starts(self) -> dict[str, Any]:
        """Return the parameters of ``pod``."""
        return {"n_init": self.n_init, "random_state": self.random_state}


@dataclass(frozen=True)
class Fit:
    """The result of a fit.

    ``labels``, ``embedding`` and ``is_outlier`` belong to the training rows; None for a stream.
    ``scales`` has the number that each column was divided by; None if columns were not scaled.
    """

    graph: Graph
    fitted: FittedCut
    compared: tuple[Choice, ...]
    labels: Indices | None = None
    embedding: Array | None = None
    is_outlier: NDArray[np.bool_] | None = None
    scales: Array | None = None


def fit_rows(
    X: Any, settings: Settings, sample_weight: Array | None = None, known: Known | None = None
) -> Fit:
    """Fit a cut on the rows: choose a graph and its cut, extend it, and label the rows."""
    counted, weight = rows_that_count(X, sample_weight, pairwise=settings.pairwise)
    scales = None
    if not isinstance(X, Rows):
        scales = scales_of_columns(counted, task_of(settings, known), weight, settings.names)
    if scales is not None:
        X, counted = X / scales, counted / scales
    chosen = choose(counted, task_of(settings, known), weight)
    if known is not None:
        known.check_model(chosen.n_clusters, settings.outliers, settings.extension)
    fit = extend_cut(counted, chosen, settings, weight, known)
    graph, fitted, is_outlier = fit.graph, fit.fitted, None
    n_rows = X.shape[0] if chosen.is_sample else graph.n_labels
    with stage(f"labels of {n_rows} rows"):
        if not chosen.is_sample:
            labels, embedding = fitted.at_training_rows(graph, counted)
            if labels is not None and sample_weight is not None:
                positive = np.flatnonzero(sample_weight)
                labels, embedding = fitted.at_all_rows(X, positive, labels, embedding)
        else:
            labels, embedding = fitted.labels(X), None
        if labels is not None and settings.outliers == "label":
            is_outlier = fitted.is_outlier(X)
    return replace(fit, labels=labels, embedding=embedding, is_outlier=is_outlier, scales=scales)


def task_of(settings: Settings, known: Known | None = None) -> Task:
    """Return the task for ``eigencut.auto`` that the settings describe; check the solver."""
    solver = settings.solver
    needs_functions = known is not None or settings.extension == "paper"
    if solver == "auto" and (needs_functions or not settings.cut.mass_is_degree):
        solver = "relaxed"
    if solver == "discrete" and needs_functions:
        expected = "be 'relaxed' with known labels, pairs, or extension='paper'"
        raise invalid("solver", expected, "'discrete'", "leave it at 'auto'")
    is_discrete = getattr(settings.affinity, "solver", None) == "discrete"
    if is_discrete and (needs_functions or settings.solver == "relaxed"):
        expected = "have relaxed cuts (solver, known labels, pairs or extension need them)"
        raise invalid("affinity", expected, repr(settings.affinity), "use 'auto' or 'neighbors'")
    return Task(
        n_clusters=settings.n_clusters,
        affinity=settings.affinity,
        cut=settings.cut,
        starts=settings.starts,
        solver=solver,
        metric=settings.metric,
        memory_limit=settings.memory_limit,
        least=1 if known is None else known.least_clusters,
    )


def extend_cut(
    X: Any,
    chosen: Chosen,
    settings: Settings,
    sample_weight: Array | None = None,
    known: Known | None = None,
) -> Fit:
    """Extend the chosen cut to any row, and apply known labels and limits of cluster sizes."""
    cut = chosen.cut
    fitted, agreement = _extended(cut, chosen, settings, known)
    if agreement is not None and agreement.is_corrected:
        task = task_of(settings, known)
        for other in graphs_for_labels(X, chosen, task, sample_weight):
            tried, of_tried = _extended(other, chosen, settings, known)
            note(f"error {of_tried.error:.3f} of known labels by {other.affinity!r}")
            if of_tried.error < agreement.error:
                cut, fitted, agreement = other, tried, of_tried
    fitted = replace(fitted, is_guided=known is not None)
    if settings.min_cluster_size is not None or settings.max_cluster_size is not None:
        with stage("limits of sizes"):
            fitted = with_size_limits(
                fitted,
                cut.graph,
                X,
                low=settings.min_cluster_size,
                high=settings.max_cluster_size,
                sample_weight=sample_weight,
                is_sample=chosen.is_sample,
            )
    elif not cut.has_wide_gaps:
        warn_about_tiny_clusters(fitted, cut.graph)
    return Fit(cut.graph, fitted, chosen.compared)


def _extended(
    found: CutOfGraph, chosen: Chosen, settings: Settings, known: Known | None
) -> tuple[FittedCut, Any]:
    """Return the fitted cut, and its agreement with known labels and pairs (None without any)."""
    affinity, graph = found.affinity, found.graph
    relaxed, partition = found.relaxed, found.partition
    if relaxed is None:
        with stage("extension"):
            discrete = FittedDiscreteCut.from_labels(
                found.labels,
                graph=graph,
                affinity=affinity,
                cut=settings.cut,
                n_clusters=chosen.n_clusters,
                outlier_quantile=settings.outlier_quantile,
            )
        return discrete, None
    if chosen.compared:  # the choice has taken components into account
        relaxed.report_apart(graph)
    else:
        relaxed.report(graph, affinity)
    with stage("extension"):
        functions = extend(settings.extension, affinity, settings.cut, relaxed.pairs, graph.degrees)
    functions.report_lost_components()
    agreement = None
    if known is not None:
        from eigencut.semi_supervised.guided_cut import UnguidedCut, guided_cut

        with stage("known labels and pairs"):
            unguided = UnguidedCut(functions, graph, relaxed, partition, settings.starts)
            functions, partition, agreement = guided_cut(unguided, known)
    with stage("rotation"):
        fitted = FittedRelaxedCut.from_functions(
            functions,
            graph,
            relaxed.n_components,
            settings.outlier_quantile,
            partition,
            **settings.starts,
        )
    return fitted, agreement
