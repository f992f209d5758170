"""From a fitted model and rows to a summary: asks every room what it knows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from eigencut._utils.progress import stage
from eigencut.inspection.assessment import RiskSummary
from eigencut.inspection.describe import ClusterDescription
from eigencut.plotting.asked_model import AskedModel
from eigencut.report import sentences
from eigencut.report.arguments import check_arguments, checked_names
from eigencut.report.doubt import doubt_of_pairs, support_of, unsure_share
from eigencut.report.measured import risk_of, spectrum_of, stability_of
from eigencut.report.picture import picture_of
from eigencut.report.seen_rows import SeenRows
from eigencut.report.settings import choice_of, settings_of, versions
from eigencut.report.summary import ClusterSummary, ModelSummary, QuickStability
from eigencut.theory import CutValue

_COLUMNS = 6  # that distinguish a cluster, at most
_TYPICAL = 2


def summarize(
    model: Any,
    X: Any = None,
    *,
    X_new: Any = None,
    documents: Sequence[str] | None = None,
    names: Mapping[int, str] | None = None,
    title: str | None = None,
    stability: bool = True,
    n_refits: int = 10,
    random_state: int = 0,
) -> ModelSummary:
    """Say what there is to know of a fitted model, as plain data: ``print(summarize(model, X))``.

    Sentences first; then clusters with profiles and rules, doubt, the choice of graph and K, risk,
    stability, settings and versions. See ``docs/report.md``.

    Parameters
    ----------
    model : fitted GPOD, TableModel or Reclustered
    X : array-like of shape (n_samples, n_features), optional
        The rows of the fit, or others like them, as ``predict`` takes them. Default: the rows that
        the model has kept. All are labelled; more is asked of 50 000 at most.
    X_new : array-like of shape (n_new, n_features), optional
        Rows that the model was not fitted on: what of them it knows, and whether it holds there.
    documents : sequence of str, optional
        The text of each row of X, for the words of clusters.
    names : mapping of int to str, optional
        What clusters are called.
    title : str, optional
    stability : bool, default=True
        Whether to fit again on samples of at most 2000 rows. No refit begins after 8 seconds.
    n_refits : int, default=10
        How often, at most.
    random_state : int, default=0
        Of rows that are drawn.

    Returns
    -------
    ModelSummary

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> summary = summarize(GPOD(2).fit(X), X, stability=False)
    >>> for sentence in summary.sentences:
    ...     print(sentence)
    2 clusters of 300 rows: 50 % and 50 %.
    The clusters are told apart clearly: 0 % of the rows are unsure.
    The number of clusters was given; the graph is the default.
    """
    asked = AskedModel.of(model)
    check_arguments(title, stability, n_refits, random_state)
    numbers, notes = asked.numbers, list[str]()
    called = checked_names(names, numbers)
    with stage("labels"):
        seen = _seen(asked, X, random_state, notes)
        new = None if X_new is None else SeenRows.of(asked, "X_new", X_new, random_state)
    _note_parts(seen, new, notes)
    with stage("descriptions"):
        described = _described(model, seen, documents, notes)
    risk = risk_of(asked, new, random_state, notes)
    firm = None
    if stability and len(numbers) > 1:
        firm = stability_of(asked, seen, n_refits, random_state, notes)
    sizes = _sizes(asked, seen)
    judged = seen if new is None else new
    found = ModelSummary(
        title=title or "Clusters",
        sentences=(),
        n_fitted=float(asked.fitted.n_rows),
        n_rows=0 if seen is None else seen.n_rows,
        n_looked_at=0 if seen is None else len(seen.places),
        n_unlabelled=0 if seen is None else int((seen.labels < 0).sum()),
        n_new=0 if new is None else new.n_rows,
        n_new_looked_at=0 if new is None else len(new.places),
        clusters=_clusters(called, sizes, seen, new, described, risk, firm),
        pairs=() if judged is None else doubt_of_pairs(judged, numbers),
        unsure=None if judged is None else unsure_share(judged),
        picture=picture_of(asked, seen, new, random_state),
        support=support_of(float(asked.fitted.least_support), seen, new),
        spectrum=spectrum_of(asked, seen, random_state),
        choice=choice_of(asked.gpod, len(numbers)),
        risk=risk,
        stability=firm,
        settings=settings_of(asked),
        versions=versions(),
        warnings=tuple(getattr(asked.gpod, "warnings_", ())),
        notes=tuple(notes),
    )
    return replace(found, sentences=_sentences(found))


def _sentences(found: ModelSummary) -> tuple[str, ...]:
    names = {cluster.cluster: cluster.name for cluster in found.clusters}
    n_rows = found.n_rows or found.n_fitted
    said = (
        sentences.on_clusters(found.clusters, n_rows, found.n_unlabelled),
        sentences.on_support(found.support, found.n_new),
        sentences.on_shares(found.clusters, n_rows),
        sentences.on_doubt(
            found.pairs, found.unsure, names, "new rows" if found.n_new else "the rows"
        ),
        sentences.on_choice(found.choice),
        sentences.on_risk(found.risk),
        sentences.on_stability(found.stability, names),
        sentences.on_warnings(found.warnings),
    )
    return tuple(sentence for sentence in said if sentence is not None)


def _seen(asked: AskedModel, X: Any, random_state: int, notes: list[str]) -> SeenRows | None:
    """X, or the rows that the model has kept; None, and a note, if there are none."""
    if X is not None:
        return SeenRows.of(asked, "X", X, random_state)
    found = SeenRows.kept(asked, random_state)
    if found is None:
        notes.append(
            "The model has not kept its rows: pass X, the rows of the fit or others like them, for "
            "profiles, rules, margins and stability."
        )
    elif found.table is None:
        notes.append(
            "The model has not kept its rows as they were given, words and dates among them: pass "
            "X, the rows of the fit or others like them, for profiles and rules."
        )
    return found


def _note_parts(seen: SeenRows | None, new: SeenRows | None, notes: list[str]) -> None:
    for rows, which in ((seen, "rows"), (new, "new rows")):
        if rows is not None and rows.is_part:
            notes.append(
                f"Sizes are of all {rows.n_rows} {which}; everything else is of "
                f"{len(rows.places)} of them, drawn at random."
            )


def _described(
    model: Any, seen: SeenRows | None, documents: Any, notes: list[str]
) -> dict[int, ClusterDescription]:
    """The description of each cluster on the rows that were looked at, by its number."""
    if seen is None or seen.table is None:
        return {}
    texts = documents
    if documents is not None and not isinstance(documents, (str, bytes)):
        every = list(documents)
        texts = [every[i] for i in seen.places] if len(every) == seen.n_rows else every
    try:
        found = model.describe(
            seen.looked_at, documents=texts, n_columns=_COLUMNS, n_typical=_TYPICAL
        )
    except ValueError as error:
        if documents is not None:
            raise
        notes.append(f"Clusters were not described. {error}")
        return {}
    notes.extend(found.notes)
    return {one.cluster: _with_rows_of_all(one, seen) for one in found.clusters}


def _with_rows_of_all(found: ClusterDescription, seen: SeenRows) -> ClusterDescription:
    """The same, its typical rows counted among all rows."""
    typical = tuple(replace(row, row=int(seen.places[row.row])) for row in found.typical)
    return replace(found, typical=typical)


def _sizes(asked: AskedModel, seen: SeenRows | None) -> dict[int, float]:
    """Rows of each cluster: of X, or those of the fit as far as the model knows them."""
    if seen is not None:
        return {int(number): float((seen.labels == number).sum()) for number in asked.numbers}
    if asked.is_split:
        raise ValueError(
            "X must be given for a model whose clusters were split and that has not kept its rows. "
            "Got None; pass the rows of the fit, or others like them."
        )
    labels, weight = asked.fitted.partition.labels, asked.fitted.affinity.multiplicity_
    counts = np.bincount(labels, weight, minlength=len(asked.numbers))
    return {int(number): float(n) for number, n in zip(asked.numbers, counts, strict=True)}


def _clusters(
    called: dict[int, str],
    sizes: dict[int, float],
    seen: SeenRows | None,
    new: SeenRows | None,
    described: dict[int, ClusterDescription],
    risk: RiskSummary | None,
    firm: QuickStability | None,
) -> tuple[ClusterSummary, ...]:
    total, judged = sum(sizes.values()) or 1.0, seen if new is None else new
    found = []
    for place, number in enumerate(sizes):
        one = described.get(number)
        margins = np.empty(0)
        if seen is not None:
            margins = seen.answers.margins[seen.answers.labels == number]
        found.append(
            ClusterSummary(
                cluster=number,
                name=called[number],
                size=sizes[number],
                share=sizes[number] / total,
                n_new=None if new is None else int((new.labels == number).sum()),
                margin=float(margins.mean()) if len(margins) else None,
                unsure=None if judged is None else unsure_share(judged, number),
                stability=None if firm is None else firm.per_cluster.get(place),
                cut_training=_of_cluster(None if risk is None else risk.cut_training, place),
                cut_new=_of_cluster(None if risk is None else risk.cut_heldout, place),
                contrasts=() if one is None else one.contrasts,
                rule=None if one is None else one.rule,
                words=() if one is None else one.words,
                typical=() if one is None else one.typical,
            )
        )
    return tuple(found)


def _of_cluster(found: CutValue | None, place: int) -> float | None:
    if found is None or not np.isfinite(found.per_cluster[place]):
        return None
    return float(found.per_cluster[place])
