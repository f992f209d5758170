"""Everything that is fitted on one split. Labels of test rows do not enter this file."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.base import clone

from eigencut.affinity import Affinity, Gaussian
from eigencut.affinity.base import Array, Indices
from eigencut.cut import CUTS as CUT_OBJECTS
from eigencut.discretization import align
from eigencut.estimator import GPOD
from eigencut.extension import extend
from eigencut.notices import GraphWarning
from eigencut.paper.preprocessing import prepare
from eigencut.paper.published import CUTS, SIGMAS
from eigencut.paper.scores import accuracy
from eigencut.selection import select

DEFAULT, PAPER, SELECTED, TUNED = "default", "paper's sigma", "selected", "tuned"
N_INIT = 4  # starts of POD; with two or three clusters more bring nothing

# What each preprocessing is tried with, without labels. The first is the local bandwidth.
_COMMON: dict[str, Affinity] = {
    DEFAULT: Gaussian(),
    "neighbors, scale 1": Gaussian("neighbors", scale=1.0),
    "median, scale 0.4": Gaussian("median", scale=0.4),
}
_MORE: dict[str, Affinity] = {
    "local, scale 0.7": Gaussian("local", scale=0.7),
    "local, scale 1": Gaussian("local", scale=1.0),
    "local, k=40, scale 0.7": Gaussian("local", n_neighbors=40, scale=0.7),
    "local, k=40, scale 2": Gaussian("local", n_neighbors=40, scale=2.0),
    "neighbors, scale 1.5": Gaussian("neighbors", scale=1.5),
    "median, scale 1": Gaussian("median", scale=1.0),
}
RULES: dict[str, dict[str, Affinity]] = {
    "none": _COMMON,
    "min-max": _COMMON,
    "standardize": _COMMON | _MORE,
    "unit rows": _COMMON | _MORE,
}
QUICK_RULES = dict.fromkeys(RULES, _COMMON)
ANY = "any"  # where the preprocessing, too, is tuned on training labels
WITH_SELECTION = ("standardize", "unit rows")


@dataclass(frozen=True)
class Fit:
    """What one method did on one split: labels of the unseen rows, by each way to get them.

    ``train_accuracy`` is of the clusters of the training rows; ``labels`` is empty where the fit
    was refused (a sigma that leaves no edges).
    """

    preprocessing: str
    method: str  # "kmeans", or a cut
    rule: str
    train_accuracy: float
    labels: dict[str, Indices] = field(default_factory=dict)
    chosen: str = ""  # what a rule that chooses has chosen


def fit_split(
    name: str, train: Array, train_truth: Indices, test: Array, rules: Any = None
) -> list[Fit]:
    """All methods on one split of one set.

    Parameters
    ----------
    name : str
        Of the set, for the paper's sigma.
    train, test : arrays of rows
    train_truth : array
        Classes of the training rows. Only the rule "tuned" chooses by them.
    rules : dict, optional
        Of each preprocessing. Default: ``RULES``.
    """
    n_clusters = len(np.unique(train_truth))
    found: list[Fit] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        for preprocessing, affinities in (rules or RULES).items():
            A, B = prepare(preprocessing, train, test)
            found.append(_kmeans(preprocessing, n_clusters, A, B, train_truth))
            chosen = select_affinity(A, n_clusters) if preprocessing in WITH_SELECTION else None
            for cut in CUTS:
                candidates = {PAPER: Gaussian(sigma=SIGMAS[cut][name]), **affinities}
                if chosen is not None:
                    candidates[SELECTED] = chosen
                fits = list(
                    _all_rules(preprocessing, cut, candidates, n_clusters, A, B, train_truth)
                )
                found += [*fits, _tuned(fits, preprocessing)]
    everything = [[fit for fit in found if fit.method == cut] for cut in CUTS]
    return found + [_tuned(fits, ANY) for fits in everything]


def _all_rules(
    preprocessing: str,
    cut: str,
    candidates: dict[str, Affinity],
    n_clusters: int,
    A: Array,
    B: Array,
    train_truth: Indices,
) -> Iterator[Fit]:
    for rule, affinity in candidates.items():
        model = GPOD(n_clusters, cut=cut, affinity=clone(affinity), n_init=N_INIT, n_jobs=1)
        try:
            model.fit(A)
        except (ValueError, ArithmeticError):  # no edges, or no accurate eigenvectors
            yield Fit(preprocessing, cut, rule, -1.0)
            continue
        labels = {
            "predict": model.predict(B),
            "batch": model.predict_batch(B, init="random").labels,
        }
        if CUT_OBJECTS[cut].paper_extension != "consistent":
            paper = paper_extension(model, A)
            labels["predict, Algorithm 1"] = paper.predict(B)
            labels["batch, Algorithm 1"] = paper.predict_batch(B, init="random").labels
        yield Fit(
            preprocessing,
            cut,
            rule,
            accuracy(train_truth, model.labels_),
            labels,
            _describe(affinity) if rule == SELECTED else "",
        )


def select_affinity(A: Array, n_clusters: int) -> Affinity:
    """What ``eigencut.select`` takes among the default affinities, K being known."""
    chosen = select(A, n_clusters=n_clusters, n_jobs=1).best.affinity
    return chosen


def _describe(affinity: Any) -> str:
    return f"{affinity.sigma}, scale {affinity.scale or 'default'}"


def _tuned(fits: list[Fit], preprocessing: str) -> Fit:
    """The fit whose clusters agree best with the classes of the training rows."""
    best = max((fit for fit in fits if fit.rule != TUNED), key=lambda fit: fit.train_accuracy)
    chosen = f"{best.preprocessing}: {best.rule}"
    return Fit(preprocessing, best.method, TUNED, best.train_accuracy, best.labels, chosen)


def _kmeans(preprocessing: str, n_clusters: int, A: Array, B: Array, train_truth: Indices) -> Fit:
    """k-means on the training rows; an unseen row goes to the nearest centre."""
    from sklearn.cluster import KMeans

    model = KMeans(n_clusters, n_init=4, random_state=0).fit(A)
    labels = {"predict": model.predict(B)}
    return Fit(preprocessing, "kmeans", "", accuracy(train_truth, model.labels_), labels)


def paper_extension(model: GPOD, A: Array) -> GPOD:
    """The fitted model as if it had been fitted with ``extension="paper"`` on its rows A.

    The eigenvectors are the same, so that no second fit is needed.
    """
    twin = copy.copy(model)
    own = model._eigenfunctions
    functions = extend(
        "paper", own.affinity, own.cut, own.pairs, own.degrees, model.n_components_found_
    )
    twin._eigenfunctions = functions
    twin._rotation_of_extension = align(
        functions(A, 1), model.partition_, model.embedding_, np.ones(len(A))
    )
    return twin
