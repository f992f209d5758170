"""Everything that is fitted on one split. Labels of test rows do not enter this file."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from eigencut._utils.arrays import Array, Indices
from eigencut.affinities import Gaussian
from eigencut.cut import CUTS
from eigencut.discretization import align
from eigencut.exceptions import GraphWarning
from eigencut.extension.eigenfunctions import extend
from eigencut.gpod import GPOD
from experiments.paper.candidates import STANDARDIZE, Candidate
from experiments.paper.choice import CHOICES, CHOSEN, Look
from experiments.paper.preprocessing import prepare
from experiments.paper.published import CUT_TITLES, SIGMAS
from experiments.paper.scores import accuracy

AUTO, PAPER, TUNED = "auto", "paper's sigma", "tuned"
ANY = "any"  # where the preprocessing, too, is chosen
N_INIT = 4  # starts of POD; with two or three clusters more bring nothing


@dataclass(frozen=True)
class Split:
    """One split under one preprocessing, without classes of test rows."""

    preprocessing: str
    train: Array
    test: Array
    train_truth: Indices
    n_clusters: int


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
    affinity: Any = None
    look: Look | None = None
    chosen: str = ""  # what a rule that chooses has chosen
    gaps: tuple[float, ...] = ()  # of the unseen rows, after each step of POD on them


def fit_split(
    name: str, train: Array, train_truth: Indices, test: Array, candidates: Sequence[Candidate]
) -> list[Fit]:
    """All methods on one split of one set.

    Parameters
    ----------
    name : str
        Of the set, for the paper's sigma.
    train, test : arrays of rows
    train_truth : array
        Classes of the training rows. Only the rule "tuned" chooses by them.
    candidates : sequence of Candidate
    """
    n_clusters = len(np.unique(train_truth))
    splits = {
        preprocessing: Split(
            preprocessing, *prepare(preprocessing, train, test), train_truth, n_clusters
        )
        for preprocessing in dict.fromkeys(c.preprocessing for c in candidates)
    }
    found = [_kmeans(split) for split in splits.values()]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        for cut in CUT_TITLES:
            found += _fit_cut(cut, SIGMAS[cut][name], splits, candidates)
    return found


def _fit_cut(
    cut: str, sigma: float, splits: dict[str, Split], candidates: Sequence[Candidate]
) -> list[Fit]:
    """The paper's sigma, all candidates, and what is chosen among them."""
    of_paper = [_fit(s, cut, PAPER, Gaussian(sigma=sigma), every_way=True) for s in splits.values()]
    auto = [_fit(s, cut, AUTO, "auto", every_way=True) for s in _standardized(splits)]
    tried = {c: _fit(splits[c.preprocessing], cut, c.rule, c.affinity()) for c in candidates}
    found = [*of_paper, *auto, *tried.values()]
    tuned = [
        replace(best, rule=TUNED, chosen=best.rule)
        for best in (_best([f for f in found if f.preprocessing == p]) for p in splits)
    ]
    looks = {c: fit.look for c, fit in tried.items() if fit.look is not None}
    chosen = {rule: tried[choose(looks)] for rule, choose in CHOICES.items()}
    chosen[TUNED] = _best(found)
    return [*found, *tuned, *(_again(splits, rule, fit) for rule, fit in chosen.items())]


def _standardized(splits: dict[str, Split]) -> list[Split]:
    return [split for name, split in splits.items() if name == STANDARDIZE]


def _best(fits: Sequence[Fit]) -> Fit:
    """The fit whose clusters agree best with the classes of the training rows."""
    return max(fits, key=lambda fit: fit.train_accuracy)


def _again(splits: dict[str, Split], rule: str, fit: Fit) -> Fit:
    """What a rule has chosen, under the name of that rule."""
    split = splits[fit.preprocessing]
    if rule in (CHOSEN, TUNED):
        fit = _fit(split, fit.method, fit.rule, fit.affinity, every_way=True)
    chosen = f"{fit.preprocessing}: {fit.rule}"
    return replace(fit, preprocessing=ANY, rule=rule, chosen=chosen)


def _fit(split: Split, cut: str, rule: str, affinity: Any, every_way: bool = False) -> Fit:
    """Fit on the training rows and label the unseen ones, by ``predict`` or in every way."""
    own = clone(affinity, safe=False)
    model = GPOD(split.n_clusters, cut=cut, affinity=own, solver="relaxed", n_init=N_INIT, n_jobs=1)
    try:
        model.fit(split.train)
    except (ValueError, ArithmeticError):  # no edges, or no accurate eigenvectors
        return Fit(split.preprocessing, cut, rule, -1.0)
    labels, gaps = {"predict": model.predict(split.test)}, []
    if every_way:
        batch = model.predict_batch(split.test, init="random")
        labels["batch"], gaps = batch.labels, batch.gap_history.round(4).tolist()
        if CUTS[cut].paper_extension != "consistent":
            paper = paper_extension(model, split.train)
            labels["predict, Algorithm 1"] = paper.predict(split.test)
            labels["batch, Algorithm 1"] = paper.predict_batch(split.test, init="random").labels
    return Fit(
        split.preprocessing,
        cut,
        rule,
        accuracy(split.train_truth, model.labels_),
        labels,
        affinity,
        Look.of(model),
        gaps=tuple(gaps),
    )


def _kmeans(split: Split) -> Fit:
    """k-means on the training rows; an unseen row goes to the nearest centre."""
    from sklearn.cluster import KMeans

    model = KMeans(split.n_clusters, n_init=4, random_state=0).fit(split.train)
    agreement = accuracy(split.train_truth, model.labels_)
    labels = {"predict": model.predict(split.test)}
    return Fit(split.preprocessing, "kmeans", "", agreement, labels)


def paper_extension(model: GPOD, A: Array) -> GPOD:
    """The fitted model as if it had been fitted with ``extension="paper"`` on its rows A.

    The eigenvectors are the same, so that no second fit is needed.
    """
    twin, own = copy.copy(model), model.fitted_cut_.functions
    functions = extend("paper", own.affinity, own.cut, own.pairs, own.degrees)
    rotation = align(functions(A), model.partition_, model.embedding_, np.ones(len(A)))
    fitted: Any = model.fitted_cut_
    twin.fitted_cut_ = replace(fitted, functions=functions, rotation=rotation)
    return twin
