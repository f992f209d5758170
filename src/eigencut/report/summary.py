"""What a report says, as plain data, and how it is computed: it asks every room what it knows.

HTML, text and JSON are three ways to show it. What cannot be had is left out, with a note.
"""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import Any

import numpy as np
from sklearn.base import clone

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.progress import advance, stage, without_progress
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_count, numbers_in_words, shown
from eigencut._version import __version__
from eigencut.auto.spectrum import Spectrum
from eigencut.cut import CUTS
from eigencut.exceptions import GraphWarning, invalid
from eigencut.extension.eigenfunctions import CombinedFunctions
from eigencut.gpod import GPOD
from eigencut.inspection.assessment import RiskSummary, assess
from eigencut.inspection.contrasts import Contrast, Word
from eigencut.inspection.cut_values import CutValue
from eigencut.inspection.describe import ClusterDescription, TypicalRow
from eigencut.inspection.refits import Stability
from eigencut.inspection.refits import stability as measure_stability
from eigencut.inspection.rules import Rule
from eigencut.model import Model, check_model
from eigencut.plotting.rows import Shown, project
from eigencut.report.rows import POLICY, SeenRows
from eigencut.report.sentences import summary_sentences, summary_text


@dataclass(frozen=True)
class ClusterSummary(JsonReady):
    """One cluster; contrasts, rule, words and typical rows as in ``ClusterDescription``."""

    cluster: int
    name: str  # as it was given, or "cluster 0"
    size: float  # rows: all of X, or what the model knows of its own
    share: float  # of the rows that belong to a cluster
    n_new: int | None  # new rows in it
    margin: float | None  # the mean margin of its rows, from 0 (ambiguous) to 1 (certain)
    unsure: float | None  # the share of its rows that are unsure, of new rows if there are any
    stability: float | None  # the share of labels that stay in refits
    cut_training: float | None  # what of its weight leaves it, on the rows of the fit
    cut_new: float | None  # the same on new rows
    contrasts: tuple[Contrast, ...]
    rule: Rule | None
    words: tuple[Word, ...]
    typical: tuple[TypicalRow, ...]  # counted among all rows of X


@dataclass(frozen=True)
class PairDoubt(JsonReady):
    """Rows that nearly belong to the other of two clusters.

    A row is unsure if its margin is below 0.1 and it lies inside what the model knows (rows outside
    are counted as such); the other cluster is the second most probable.
    """

    first: int  # the cluster with the smaller number
    second: int
    n_unsure: int
    n_rows: int  # of both clusters together, among the rows that were looked at
    share: float  # n_unsure / n_rows


@dataclass(frozen=True)
class Picture(JsonReady):
    """Some rows in the plane."""

    projection: str  # how rows became points, in words
    axes: tuple[str, str]
    x: tuple[float, ...]
    y: tuple[float, ...]
    labels: tuple[int, ...]  # -1 is no cluster
    margins: tuple[float, ...]
    rows: tuple[int, ...]  # the place of each among its rows, from 0
    is_new: tuple[bool, ...]
    n_rows: int  # rows that these points were drawn from
    n_new: int  # new rows that these points were drawn from


@dataclass(frozen=True)
class SupportSummary(JsonReady):
    """How well the model knows the places where rows lie."""

    least: float  # rows less similar to the training rows lie outside what the model knows
    outside: float | None  # their share among the rows
    new_outside: float | None  # their share among the new rows
    edges: tuple[float, ...]  # of bins of similarity; the outer bins hold what lies beyond, too
    counts: tuple[int, ...]  # rows in each bin
    new_counts: tuple[int, ...]  # new rows in each bin


@dataclass(frozen=True)
class SpectrumSummary(JsonReady):
    """Eigenvalues: those of the model, and the next ones."""

    values: tuple[float, ...]  # one for each cluster, ascending
    measured: tuple[float, ...]  # more, of the same graph on some rows; empty without rows
    n_rows: int  # how many rows these are


@dataclass(frozen=True)
class ComparedGraph(JsonReady):
    """A graph that was compared with others, and how clearly it shows the clusters."""

    affinity: str
    score: float


@dataclass(frozen=True)
class ChoiceSummary(JsonReady):
    """How the graph and the number of clusters came about."""

    asked_clusters: str  # what n_clusters was
    n_clusters: int
    chosen_clusters: bool  # whether the number was chosen
    asked_graph: str  # what affinity was
    graph: str  # what was taken
    compared: tuple[ComparedGraph, ...]


@dataclass(frozen=True)
class QuickStability(JsonReady):
    """Agreement of a few refits with the labels; see ``eigencut.inspection.stability``."""

    mean: float  # the share of rows that keep their label
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
    model = check_model(model)
    _check_arguments(title, stability, n_refits, random_state)
    notes = list[str]()
    called = _names(names, model.cluster_numbers_)
    with stage("labels"):
        seen = _seen(model, X, random_state, notes)
        new = None if X_new is None else SeenRows.from_user(model, "X_new", X_new, random_state)
    for rows, which in ((seen, "rows"), (new, "new rows")):
        if rows is not None and rows.is_part:
            notes.append(
                f"Sizes are of all {rows.n_rows} {which}; everything else is of "
                f"{len(rows.places)} of them, drawn at random."
            )
    with stage("descriptions"):
        described = _descriptions(model, seen, documents, notes)
    risk = _risk(model, new, random_state, notes)
    refits = None
    if stability and len(called) > 1:
        refits = _stability(model, seen, n_refits, random_state, notes)
    latest = seen if new is None else new
    libraries = {name: version(name) for name in ("numpy", "scipy", "scikit-learn")}
    found = ModelSummary(
        title=title or "Clusters",
        sentences=(),
        n_fitted=float(model.gpod.fitted_cut_.n_rows),
        n_rows=0 if seen is None else seen.n_rows,
        n_looked_at=0 if seen is None else len(seen.places),
        n_unlabelled=0 if seen is None else int((seen.labels < 0).sum()),
        n_new=0 if new is None else new.n_rows,
        n_new_looked_at=0 if new is None else len(new.places),
        clusters=_clusters(model, called, seen, new, described, risk, refits),
        pairs=() if latest is None or len(called) < 2 else _pairs(latest),
        unsure=None if latest is None else latest.unsure_share(),
        picture=_picture(model, seen, new, random_state),
        support=_support(model.gpod.fitted_cut_.least_support, seen, new),
        spectrum=_spectrum(model.gpod, seen, random_state),
        choice=_choice(model.gpod, len(called)),
        risk=risk,
        stability=refits,
        settings=_settings(model),
        versions={"eigencut": __version__, "Python": platform.python_version(), **libraries},
        warnings=tuple(getattr(model.gpod, "warnings_", ())),
        notes=tuple(notes),
    )
    return replace(found, sentences=summary_sentences(found))


def _check_arguments(title: Any, stability: Any, n_refits: Any, random_state: Any) -> None:
    if not (title is None or isinstance(title, str)):
        raise invalid("title", "be a text", shown(title), "use str(title)")
    if not isinstance(stability, (bool, np.bool_)):
        raise invalid(
            "stability", "be True or False", shown(stability), "use n_refits for how often"
        )
    check_count("n_refits", n_refits, "use the default of 10")
    check_count("random_state", random_state, "use 0", least=0)


def _names(names: Any, numbers: Indices) -> dict[int, str]:
    """Return what each cluster is called."""
    known, given = [int(number) for number in numbers], {} if names is None else names
    if not isinstance(given, Mapping):
        expected, remedy = "be a mapping from numbers of clusters to texts", "use e.g. {0: 'loyal'}"
        raise invalid("names", expected, shown(names), remedy)
    for number, name in given.items():
        if isinstance(number, bool) or number not in known:
            expected = f"be of clusters of the model, {', '.join(map(str, known))}"
            raise invalid("names", expected, f"a name of {shown(number)}", "leave it out")
        if not isinstance(name, str) or not name.strip():
            got = f"{shown(name)} for cluster {number}"
            raise invalid("names", "be texts that are not empty", got, "leave it out")
    called = {number: str(given.get(number, f"cluster {number}")) for number in known}
    first: dict[str, int] = {}
    for number, name in called.items():
        other = first.setdefault(name.strip(), number)
        if other != number:
            got = f"{shown(name)} for clusters {other} and {number}"
            raise invalid("names", "be different", got, "give one of them another name")
    return called


def _seen(model: Model, X: Any, random_state: int, notes: list[str]) -> SeenRows | None:
    """Return X, or the rows that the model has kept; None, and a note, if there are none."""
    if X is not None:
        return SeenRows.from_user(model, "X", X, random_state)
    rows = SeenRows.from_fit(model, random_state)
    if rows is None:
        notes.append(
            "The model has not kept its rows: pass X, the rows of the fit or others like them, for "
            "profiles, rules, margins and stability."
        )
    elif rows.table is None:
        notes.append(
            "The model has not kept its rows as they were given, words and dates among them: pass "
            "X, the rows of the fit or others like them, for profiles and rules."
        )
    return rows


def _descriptions(
    model: Model, seen: SeenRows | None, documents: Any, notes: list[str]
) -> dict[int, ClusterDescription]:
    """Describe each cluster on the rows that were looked at; rows are counted among all."""
    if seen is None or seen.table is None:
        return {}
    texts = documents
    if documents is not None and not isinstance(documents, (str, bytes)):
        every = list(documents)
        texts = [every[i] for i in seen.places] if len(every) == seen.n_rows else every
    try:
        found = model.describe(seen.looked_at, documents=texts, n_columns=6, n_typical=2)
    except ValueError as error:
        if documents is not None:
            raise
        notes.append(f"Clusters were not described. {error}")
        return {}
    notes.extend(found.notes)
    described = {}
    for one in found.clusters:
        typical = tuple(replace(row, row=int(seen.places[row.row])) for row in one.typical)
        described[one.cluster] = replace(one, typical=typical)
    return described


def _sizes(model: Model, seen: SeenRows | None) -> list[float]:
    """Return the rows of each cluster: of X, or those of the fit as far as the model knows them."""
    if seen is not None:
        return [float((seen.labels == number).sum()) for number in model.cluster_numbers_]
    if model.splits_:
        raise invalid(
            "X",
            "be given for a model whose clusters were split and that has not kept its rows",
            "None",
            "pass the rows of the fit, or others like them",
        )
    fitted = model.gpod.fitted_cut_
    weight, n_clusters = fitted.affinity.multiplicity_, len(model.cluster_numbers_)
    return list(np.bincount(fitted.partition.labels, weight, minlength=n_clusters).astype(float))


def _clusters(
    model: Model,
    called: dict[int, str],
    seen: SeenRows | None,
    new: SeenRows | None,
    described: dict[int, ClusterDescription],
    risk: RiskSummary | None,
    refits: QuickStability | None,
) -> tuple[ClusterSummary, ...]:
    sizes, latest = _sizes(model, seen), seen if new is None else new
    clusters = []
    for place, (number, name) in enumerate(called.items()):
        one, margins = described.get(number), np.empty(0)
        if seen is not None:
            margins = seen.answers.margins[seen.answers.labels == number]
        clusters.append(
            ClusterSummary(
                cluster=number,
                name=name,
                size=sizes[place],
                share=sizes[place] / (sum(sizes) or 1.0),
                n_new=None if new is None else int((new.labels == number).sum()),
                margin=float(margins.mean()) if len(margins) else None,
                unsure=None if latest is None else latest.unsure_share(number),
                stability=None if refits is None else refits.per_cluster.get(place),
                cut_training=_of_cluster(None if risk is None else risk.cut_training, place),
                cut_new=_of_cluster(None if risk is None else risk.cut_heldout, place),
                contrasts=() if one is None else one.contrasts,
                rule=None if one is None else one.rule,
                words=() if one is None else one.words,
                typical=() if one is None else one.typical,
            )
        )
    return tuple(clusters)


def _of_cluster(value: CutValue | None, place: int) -> float | None:
    if value is None or not np.isfinite(value.per_cluster[place]):
        return None
    return float(value.per_cluster[place])


def _pairs(rows: SeenRows) -> tuple[PairDoubt, ...]:
    """Return the pairs of clusters with unsure rows, the largest share first."""
    # Of equal probabilities the first is the label.
    unsure = rows.answers.probabilities[rows.is_unsure]
    both = np.sort(np.argsort(-unsure, axis=1, kind="stable")[:, :2], axis=1)
    pairs = []
    for pair, n in zip(*np.unique(both, axis=0, return_counts=True), strict=True):
        n_rows = int(np.isin(rows.answers.labels, pair).sum())
        pairs.append(PairDoubt(int(pair[0]), int(pair[1]), int(n), n_rows, float(n / n_rows)))
    return tuple(sorted(pairs, key=lambda pair: (-pair.share, pair.first, pair.second)))


def _support(least: float, seen: SeenRows | None, new: SeenRows | None) -> SupportSummary:
    """Return how the similarity of rows and new rows is spread, next to the least."""
    values = [np.empty(0) if rows is None else rows.answers.support for rows in (seen, new)]
    together = np.concatenate(values)
    edges, counts = np.empty(0), [np.empty(0), np.empty(0)]
    if len(together):
        high = float(max(together.max(), least))
        usual = max(high - least, float(np.ptp(np.quantile(together, [0.05, 0.95]))))
        # Bins reach below the least by at most twice the range of ordinary rows.
        low = max(float(min(together.min(), least)), least - 2 * usual)
        edges = np.linspace(low, max(high, low + 1e-9), 41)
        counts = [np.histogram(np.clip(of, low, high), edges)[0] for of in values]
    return SupportSummary(
        least=float(least),
        outside=None if seen is None else float(seen.is_outside.mean()),
        new_outside=None if new is None else float(new.is_outside.mean()),
        edges=tuple(map(float, edges)),
        counts=tuple(map(int, counts[0])),
        new_counts=tuple(map(int, counts[1])),
    )


def _picture(
    model: Model, seen: SeenRows | None, new: SeenRows | None, random_state: int
) -> Picture | None:
    """Place rows and new rows in the plane; None where there are none, or no plane for them."""
    groups = [rows for rows in (seen, new) if rows is not None]
    if not groups:
        return None
    try:
        projection = project(model, groups[0].rows)
    except ValueError:  # one cluster of one column
        return None
    drawn = []
    for rows in groups:
        most = POLICY.new_points if rows is new else POLICY.points
        some = Shown.draw(len(rows.places), most, random_state).rows
        with threads(model.gpod.n_jobs):
            x, y = projection.apply(rows.rows[some]).T
        labels, margins = rows.answers.labels[some], rows.answers.margins[some]
        drawn.append((x, y, labels, margins, rows.places[some], np.full(len(some), rows is new)))
    x, y, labels, margins, places, is_new = map(np.concatenate, zip(*drawn, strict=True))
    words = {
        "columns": "the two columns as they are",
        "eigenfunctions": "the first two eigenfunctions that vary, of rows of unit length",
        "pca": "the two directions in which the prepared rows differ most (PCA)",
    }
    return Picture(
        projection=words[projection.kind],
        axes=projection.axis_labels,
        x=_rounded(x),
        y=_rounded(y),
        labels=tuple(map(int, labels)),
        margins=_rounded(margins),
        rows=tuple(map(int, places)),
        is_new=tuple(map(bool, is_new)),
        n_rows=0 if seen is None else seen.n_rows,
        n_new=0 if new is None else new.n_rows,
    )


def _rounded(values: Array) -> tuple[float, ...]:
    """Round to as many digits as a picture shows."""
    return tuple(float(f"{value:.6g}") for value in values)


def _risk(
    model: Model, new: SeenRows | None, random_state: int, notes: list[str]
) -> RiskSummary | None:
    """Return how far the model can be trusted, on new rows if there are any; or a note."""
    if model.splits_:
        notes.append("Risk was not measured. Clusters were split, which have no cut in common.")
        return None
    rows = None
    if new is not None and not model.gpod.affinity_.pairwise:
        rows = new.sample(POLICY.held_out, random_state)
        if rows.shape[0] < new.n_rows:
            notes.append(
                f"Risk was measured on {rows.shape[0]} of {new.n_rows} new rows, drawn at random."
            )
    try:
        with stage("risk"):
            return assess(model.gpod, rows)
    except ValueError as error:
        notes.append(f"Risk was not measured. {error}")
        return None


def _stability(
    model: Model, seen: SeenRows | None, n_refits: int, random_state: int, notes: list[str]
) -> QuickStability | None:
    """Return the agreement of a few refits on some of the rows; or a note that says why not."""
    reason = None
    if model.splits_:
        reason = "Clusters were split."
    elif isinstance(model.gpod.fitted_cut_.functions, CombinedFunctions):
        reason = "Labels or pairs were known at the fit, which refits would not know."
    elif seen is None:
        reason = "There are no rows to fit again on; pass X."
    if reason is not None or seen is None:
        notes.append(f"Stability was not measured. {reason}")
        return None
    rows = seen.sample(POLICY.refitted, random_state)
    start, results = time.perf_counter(), list[Stability]()
    try:
        with stage("refits"):
            while len(results) < n_refits:
                advance(len(results), n_refits, "refits")
                seed = random_state + len(results)
                with without_progress():
                    one = measure_stability(model.gpod, rows, n_refits=1, random_state=seed)
                results.append(one)
                if time.perf_counter() - start >= POLICY.seconds:
                    break
    except ValueError as error:
        notes.append(f"Stability was not measured. {error}")
        return None
    per_row = np.sum([one.per_row for one in results], axis=0) / len(results)
    labels = results[-1].labels
    return QuickStability(
        mean=float(per_row.mean()),
        per_cluster={int(k): float(per_row[labels == k].mean()) for k in np.unique(labels)},
        n_refits=len(results),
        n_rows=len(per_row),
    )


def _spectrum(gpod: GPOD, seen: SeenRows | None, random_state: int) -> SpectrumSummary:
    """Return the eigenvalues of a model, and six more of them on some of the rows."""
    values, n_rows = tuple(map(float, gpod.eigenvalues_)), 0
    measured: tuple[float, ...] = ()
    if seen is not None and not gpod.affinity_.pairwise and len(seen.places) > 1:
        rows = seen.sample(POLICY.refitted, random_state)
        n_pairs, cut = min(len(values) + 6, rows.shape[0] - 1), CUTS[gpod.cut]
        try:
            with stage("spectrum"), threads(gpod.n_jobs), warnings.catch_warnings():
                warnings.simplefilter("ignore", GraphWarning)
                with without_progress():
                    found = Spectrum.from_rows(
                        rows, clone(gpod.affinity_), cut, n_pairs
                    ).pairs.values
            measured, n_rows = tuple(map(float, found)), int(rows.shape[0])
        except ValueError:  # too few different rows for as many
            pass
    return SpectrumSummary(values, measured, n_rows)


def _choice(gpod: GPOD, n_clusters: int) -> ChoiceSummary:
    """Return how the number of clusters and the graph were found."""
    given: Any = gpod.n_clusters
    is_number = isinstance(given, (int, np.integer))
    words = given if isinstance(given, str) or is_number else numbers_in_words(given)
    return ChoiceSummary(
        asked_clusters=str(words),
        n_clusters=n_clusters,
        chosen_clusters=not is_number,
        asked_graph=gpod.affinity if isinstance(gpod.affinity, str) else repr(gpod.affinity),
        graph=repr(gpod.affinity_),
        compared=tuple(ComparedGraph(one.affinity, float(one.score)) for one in gpod.choice_),
    )


def _settings(model: Model) -> dict[str, Any]:
    """Return the parameters that change a label as plain values, of preparing tables too."""
    given, own = model.gpod.get_params(deep=False), model.unsplit.get_params(deep=False)
    if "scale" in own:
        given |= {"scale": own["scale"], "missing": own["missing"], "columns": model.columns_}
    left_out = ("n_jobs", "verbose", "memory_limit")
    return {name: _plain(value) for name, value in given.items() if name not in left_out}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return [_plain(item) for item in value] if isinstance(value, list) else repr(value)
