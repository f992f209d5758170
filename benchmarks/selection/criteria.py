"""Ways to choose K: ours, and those of others. To add one, add a line to CRITERIA."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from benchmarks.data import Array, Labels
from benchmarks.selection import JOBS
from eigencut import GPOD, Gaussian, GraphWarning, select
from eigencut.auto.spectrum import Spectrum
from eigencut.cut import CUTS

CANDIDATES = range(2, 11)


@dataclass(frozen=True)
class Found:
    """What a criterion chose."""

    n_clusters: int
    labels: Labels
    affinity: str = ""
    warned: bool = False


def auto(X: Array) -> Found:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", GraphWarning)
        model = GPOD(n_clusters="auto", n_jobs=JOBS).fit(X)
    warned = any("No number of clusters stands out" in str(w.message) for w in caught)
    return Found(model.n_clusters_, model.labels_, repr(model.affinity_), warned)


def by_select(X: Array) -> Found:
    """One graph, that of the default affinity."""
    found = select(X, CANDIDATES, affinity=Gaussian(), n_jobs=JOBS)
    return Found(found.best.n_clusters, found.model.labels_)


def spectrum_of(X: Array, n_pairs: int) -> Spectrum:
    return Spectrum.from_rows(X, Gaussian(), CUTS["ncut"], n_pairs)


def clustered(X: Array, K: int) -> Found:
    return Found(K, GPOD(K, affinity="gaussian", n_jobs=JOBS).fit(X).labels_)


def absolute_eigengap(X: Array) -> Found:
    values = spectrum_of(X, CANDIDATES[-1] + 1).pairs.values
    return clustered(X, CANDIDATES[int(np.diff(values)[1:].argmax())])


def balanced_line_fit(X: Array) -> Found:
    """Mean over both halves, each held out once, of the line fit and balance of Alzate & Suykens.

    KSC's criterion on the eigenfunctions and labels of GPOD.
    """
    halves = np.array_split(np.random.default_rng(0).permutation(len(X)), 2)
    scores = np.zeros(len(CANDIDATES))
    for training, rest in (halves, halves[::-1]):
        spectrum = spectrum_of(X[training], CANDIDATES[-1])
        degrees = spectrum.affinity.within(X[rest], np.ones((len(rest), 1)))
        for i, K in enumerate(CANDIDATES):
            # Score variables: the K - 1 directions besides the constant, as the bias term of KSC.
            U = spectrum.pairs_of(K).vectors
            mass = spectrum.graph.degrees * spectrum.graph.multiplicity
            basis = np.linalg.svd((mass @ U)[np.newaxis])[2]
            scored = spectrum.functions(K)(X[rest]) @ basis[1:].T
            scored /= np.sqrt((scored**2).mean())
            if K == 2:  # a second coordinate, or every cluster is on a line
                scored = np.column_stack([scored, degrees / degrees.mean()])
            labels = spectrum.predict(X[rest], K)
            scores[i] += _line_fit(scored, labels, K) + _balance(labels, K)
    return clustered(X, CANDIDATES[int(scores.argmax())])


def _line_fit(scored: Array, labels: Labels, K: int, weight: float = 0.75) -> float:
    d, total = scored.shape[1], 0.0
    for k in range(K):
        squares = np.linalg.svd(scored[labels == k], compute_uv=False) ** 2
        if (labels == k).sum() > 1 and squares.sum() > 0:
            total += d / (d - 1) * (squares[0] / squares.sum() - 1 / d)
    return weight * total / K


def _balance(labels: Labels, K: int, weight: float = 0.25) -> float:
    sizes = np.bincount(labels, minlength=K)
    return float(weight * sizes.min() / sizes.max())


def silhouette(X: Array) -> Found:
    fits = [KMeans(K, n_init=5, random_state=0).fit_predict(X) for K in CANDIDATES]
    best = int(np.argmax([silhouette_score(X, labels) for labels in fits]))
    return Found(CANDIDATES[best], fits[best])


AUTO = 'GPOD(n_clusters="auto")'
CRITERIA: dict[str, Callable[[Array], Found]] = {
    AUTO: auto,
    "one graph": by_select,
    "absolute eigengap": absolute_eigengap,
    "balanced line fit (KSC)": balanced_line_fit,
    "silhouette + k-means": silhouette,
}
SLOW = ()
