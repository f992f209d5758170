"""Measure what chooses K and sigma without labels, and what margins of predictions are worth.

Random data sets of known K, by seed; no criterion was tuned on the seeds used here. The figures go
to ``benchmarks/results/selection.json``, into the tables of ``docs/selection.md`` and to
``docs/images/selection.png``.

    OMP_NUM_THREADS=1 python benchmarks/selection.py            # everything, some 13 minutes
    OMP_NUM_THREADS=1 python benchmarks/selection.py --quick    # ten sets; docs are left alone

To add a family of data sets, add a line to FAMILIES; to add a criterion, one to CRITERIA; to add a
way to choose sigma, one to SIGMAS.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from bandwidth import Array, Labels, ari, markdown, update_page
from scipy.io import loadmat
from scipy.stats import spearmanr
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons
from sklearn.metrics import silhouette_score
from sklearn.model_selection import GridSearchCV, KFold

import eigencut
from eigencut import GPOD, Gaussian, GraphWarning, select
from eigencut.cut import CUTS
from eigencut.spectrum import Spectrum

ROOT = Path(__file__).resolve().parents[1]
DIGITS = ROOT.parent / "shared" / "data" / "digits"
RESULTS = ROOT / "benchmarks" / "results" / "selection.json"
PAGE = ROOT / "docs" / "selection.md"
IMAGE = ROOT / "docs" / "images" / "selection.png"

FIRST_SEED = 5000  # the criteria were tuned and looked at on seeds below 4000
FEW = 20  # sets of the smaller table, the only ones for slow criteria
SETS = 100
CANDIDATES = range(2, 11)
JOBS = 1  # threads

Sample = tuple[Array, Labels, int]  # X, y, K; y = -1 marks noise, which no score looks at


# ------------------------------------------------------------------------------- data of known K


def spread_centers(rng: np.random.Generator, K: int, d: int, separation: float) -> Array:
    """Of 20 draws, the one whose centers are most evenly apart; the closest are at separation."""
    best_ratio, best = -1.0, np.empty((K, d))
    for _ in range(20):
        centers = rng.uniform(-1, 1, (K, d)) if d <= 3 else rng.standard_normal((K, d))
        apart = np.linalg.norm(centers[:, np.newaxis] - centers, axis=2)
        farthest = apart.max()
        closest = apart[~np.eye(K, dtype=bool)].min()
        if closest / farthest > best_ratio:
            best_ratio, best = closest / farthest, centers / closest * separation
    return best


def cluster_sizes(rng: np.random.Generator, n: int, K: int, ratio: float = 1.0) -> Labels:
    """Equal sizes, or random ones with the given ratio of the largest to the smallest."""
    share = np.ones(K)
    if ratio > 1:
        share = np.exp(rng.uniform(0, np.log(ratio), K))
        share[0], share[-1] = 1, ratio
    return np.maximum((n * share / share.sum()).round().astype(int), 1)


def gaussians(
    rng: np.random.Generator, centers: Array, sizes: Labels, spreads: Any = 1.0
) -> tuple[Array, Labels]:
    spreads = np.broadcast_to(spreads, len(centers))
    parts = [
        center + spread * rng.standard_normal((size, centers.shape[1]))
        for center, size, spread in zip(centers, sizes, spreads, strict=True)
    ]
    return np.vstack(parts), np.repeat(np.arange(len(centers)), sizes)


def blobs(rng: np.random.Generator, n: int, *, least_d: int, most_d: int) -> Sample:
    d, K = int(rng.integers(least_d, most_d + 1)), int(rng.integers(2, 9))
    centers = spread_centers(rng, K, d, rng.uniform(4, 8))
    return *gaussians(rng, centers, cluster_sizes(rng, n, K)), K


def moons(rng: np.random.Generator, n: int) -> Sample:
    noise = rng.uniform(0.03, 0.1)
    return *make_moons(n, noise=noise, random_state=int(rng.integers(1e6))), 2


def circles(rng: np.random.Generator, n: int) -> Sample:
    factor, noise = rng.uniform(0.3, 0.5), rng.uniform(0.02, 0.08)
    seed = int(rng.integers(1e6))
    return *make_circles(n, factor=factor, noise=noise, random_state=seed), 2


def three_rings(rng: np.random.Generator, n: int) -> Sample:
    """Radii 1, 2 and 3, with equally many rows or equally dense."""
    noise = rng.uniform(0.02, 0.1)
    share = np.ones(3) if rng.random() < 0.5 else np.array([1.0, 2.0, 3.0])
    y = np.repeat(np.arange(3), (n * share / share.sum()).astype(int))
    angle, radius = rng.uniform(0, 2 * np.pi, len(y)), 1.0 + y
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return X + noise * rng.standard_normal(X.shape), y, 3


def unequal_sizes(rng: np.random.Generator, n: int) -> Sample:
    n, K, d = max(n, 500), int(rng.integers(2, 6)), int(rng.integers(2, 9))
    centers = spread_centers(rng, K, d, rng.uniform(5, 8))
    return *gaussians(rng, centers, cluster_sizes(rng, n, K, ratio=10)), K


def unequal_densities(rng: np.random.Generator, n: int) -> Sample:
    """Three blobs, any two of them apart by a multiple of their mean spread."""
    d, spreads, separation = int(rng.integers(2, 6)), np.array([0.3, 1, 2.5]), rng.uniform(4, 6)
    least = separation * (spreads[:, np.newaxis] + spreads) / 2
    np.fill_diagonal(least, 0)
    while True:
        centers = rng.uniform(-1, 1, (3, d)) * 12
        if (np.linalg.norm(centers[:, np.newaxis] - centers, axis=2) >= least).all():
            return *gaussians(rng, centers, cluster_sizes(rng, n, 3), spreads), 3


def anisotropic(rng: np.random.Generator, n: int) -> Sample:
    """Blobs squeezed by 2 to 4 in a random direction."""
    K = int(rng.integers(2, 6))
    centers = spread_centers(rng, K, 2, rng.uniform(6, 9))
    X, y = gaussians(rng, centers, cluster_sizes(rng, n, K))
    first, second = (np.linalg.qr(rng.standard_normal((2, 2)))[0] for _ in range(2))
    return X @ first @ np.diag([1, 1 / rng.uniform(2, 4)]) @ second, y, K


def in_noise(rng: np.random.Generator, n: int) -> Sample:
    """Blobs and 5 % uniform noise over their bounding box."""
    K, d = int(rng.integers(2, 7)), int(rng.integers(2, 4))
    centers = spread_centers(rng, K, d, rng.uniform(6, 9))
    X, y = gaussians(rng, centers, cluster_sizes(rng, n, K))
    m = int(0.05 * n)
    noise = rng.uniform(X.min(axis=0), X.max(axis=0), (m, d))
    return np.vstack([X, noise]), np.append(y, np.full(m, -1)), K


def moons_and_blobs(rng: np.random.Generator, n: int) -> Sample:
    n_blobs = int(rng.integers(1, 4))
    K, noise = 2 + n_blobs, rng.uniform(0.03, 0.08)
    m = n // K
    X, y = make_moons(2 * m, noise=noise, random_state=int(rng.integers(1e6)))
    places = np.array([[3.6, 0.3], [-2.6, 0.2], [0.5, 2.8], [0.5, -2.4], [3.4, 2.6]])
    places = places[rng.permutation(5)[:n_blobs]]
    places = places + rng.uniform(-0.2, 0.2, places.shape)
    B, of_blob = gaussians(rng, places, np.full(n_blobs, m), rng.uniform(0.2, 0.4, n_blobs))
    return np.vstack([X, B]), np.append(y, of_blob + 2), K


FAMILIES: dict[str, Callable[[np.random.Generator, int], Sample]] = {
    "blobs, d = 2-4": partial(blobs, least_d=2, most_d=4),
    "blobs, d = 5-20": partial(blobs, least_d=5, most_d=20),
    "moons": moons,
    "circles": circles,
    "three rings": three_rings,
    "unequal sizes": unequal_sizes,
    "unequal densities": unequal_densities,
    "anisotropic": anisotropic,
    "5 % noise": in_noise,
    "moons and blobs": moons_and_blobs,
}


def family_of(seed: int) -> str:
    return list(FAMILIES)[seed % len(FAMILIES)]


def make_set(seed: int) -> Sample:
    """Families take turns; rows (300 to 1500), shape, order and unit are random."""
    rng = np.random.default_rng(90000 + seed)
    n = int(np.exp(rng.uniform(np.log(300), np.log(1500))))
    X, y, K = FAMILIES[family_of(seed)](rng, n)
    order = rng.permutation(len(X))
    return X[order] * 10 ** rng.uniform(-1, 1), y[order], K


# ------------------------------------------------------------------------ the number of clusters


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


def by_select(X: Array, *, criterion: str) -> Found:
    """One graph, that of the default affinity."""
    found = select(X, CANDIDATES, sigma=Gaussian(), criterion=criterion, n_jobs=JOBS)
    return Found(found.best.n_clusters, found.model.labels_)


def spectrum_of(X: Array, n_pairs: int) -> Spectrum:
    return Spectrum.of(X, Gaussian(), CUTS["ncut"], n_pairs, n_jobs=JOBS)


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
        degrees = spectrum.affinity.within(X[rest], np.ones((len(rest), 1)), JOBS)
        for i, K in enumerate(CANDIDATES):
            # Score variables: the K - 1 directions besides the constant, as the bias term of KSC.
            U = spectrum.pairs_of(K).vectors
            mass = spectrum.graph.degrees * spectrum.graph.multiplicity
            basis = np.linalg.svd((mass @ U)[np.newaxis])[2]
            scored = spectrum.functions(K)(X[rest], JOBS) @ basis[1:].T
            scored /= np.sqrt((scored**2).mean())
            if K == 2:  # a second coordinate, or every cluster is on a line
                scored = np.column_stack([scored, degrees / degrees.mean()])
            labels = spectrum.predict(X[rest], K, JOBS)
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
    "conductance, one graph": partial(by_select, criterion="conductance"),
    "stability": partial(by_select, criterion="stability"),
    "risk": partial(by_select, criterion="risk"),
    "eigengap (relative)": partial(by_select, criterion="eigengap"),
    "absolute eigengap": absolute_eigengap,
    "balanced line fit (KSC)": balanced_line_fit,
    "silhouette + k-means": silhouette,
}
SLOW = ("stability",)


@dataclass(frozen=True)
class Run:
    """One criterion on one data set."""

    seed: int
    criterion: str
    rows: int
    true: int
    found: int
    ari: float
    seconds: float
    affinity: str
    warned: bool

    @property
    def is_right(self) -> bool:
        return self.found == self.true


def measure_criteria(n_sets: int, n_slow: int) -> Iterator[Run]:
    for i in range(n_sets):
        seed = FIRST_SEED + i
        X, y, K = make_set(seed)
        for name, criterion in CRITERIA.items():
            if name in SLOW and i >= n_slow:
                continue
            start = time.perf_counter()
            found = criterion(X)
            seconds = time.perf_counter() - start
            score = round(ari(y, found.labels), 4)
            yield Run(
                seed,
                name,
                len(X),
                K,
                found.n_clusters,
                score,
                round(seconds, 3),
                found.affinity,
                found.warned,
            )


def one_cluster(kind: str, seed: int, n: int = 500) -> Array:
    """Rows that no one would cut."""
    rng = np.random.default_rng(seed)
    if kind == "ring":
        angle = rng.uniform(0, 2 * np.pi, n)
        ring = np.column_stack([np.cos(angle), np.sin(angle)])
        return ring + 0.05 * rng.standard_normal((n, 2))
    if kind == "uniform square":
        return rng.random((n, 2))
    if kind == "uniform strip, 8 : 1":
        return rng.random((n, 2)) * [8, 1]
    return rng.standard_normal((n, int(kind.split()[-1])))


ONE_CLUSTER = (
    "Gaussian, d = 2",
    "Gaussian, d = 10",
    "uniform square",
    "uniform strip, 8 : 1",
    "ring",
)


def measure_one_cluster(n_seeds: int) -> dict[str, dict[str, Any]]:
    """How often "auto" says that nothing stands out, and what it returns."""
    lines = {}
    for kind in ONE_CLUSTER:
        found = [auto(one_cluster(kind, seed)) for seed in range(n_seeds)]
        lines[kind] = {
            "warned": sum(f.warned for f in found),
            "of": n_seeds,
            "found": sorted(f.n_clusters for f in found),
        }
    return lines


# ------------------------------------------------------------------------------------ the bandwidth


MULTIPLES = (0.03, 0.05, 0.07, 0.1, 0.15, 0.2, 0.3, 0.5, 1.0)
NEIGHBORS = (Gaussian("neighbors", scale=0.5), Gaussian("neighbors", scale=0.7))


def gpod_labels(X: Array, K: int, *, affinity: Any = "auto") -> Labels:
    return np.asarray(GPOD(K, affinity=affinity, n_jobs=JOBS).fit(X).labels_)


def sklearn_labels(X: Array, K: int, **options: Any) -> Labels:
    return np.asarray(SpectralClustering(K, random_state=0, **options).fit_predict(X))


def multiple_name(scale: float) -> str:
    return f"{scale:g} x median distance"


SIGMAS: dict[str, Callable[[Array, int], Labels]] = {
    '`GPOD(K)`, affinity="auto"': gpod_labels,
    'affinity="gaussian": local': partial(gpod_labels, affinity="gaussian"),
    "neighbors, scale 0.5": partial(gpod_labels, affinity=NEIGHBORS[0]),
    "neighbors, scale 0.7": partial(gpod_labels, affinity=NEIGHBORS[1]),
    **{
        multiple_name(scale): partial(gpod_labels, affinity=Gaussian("median", scale=scale))
        for scale in MULTIPLES
    },
    "scikit-learn, defaults (gamma = 1)": sklearn_labels,
    "scikit-learn, nearest neighbours": partial(sklearn_labels, affinity="nearest_neighbors"),
}


def measure_sigmas(samples: list[Sample]) -> dict[str, list[float]]:
    """The ARI of every way on every sample, K given; 0 where a fit raises an error."""
    scores: dict[str, list[float]] = {name: [] for name in SIGMAS}
    for X, y, K in samples:
        for name, labels_of in SIGMAS.items():
            try:
                score = ari(y, labels_of(X, K))
            except (ValueError, ArithmeticError) as error:
                print(f"{name}: {error}")
                score = 0.0
            scores[name].append(round(score, 4))
    return scores


def noisy_moons(n_seeds: int) -> list[Sample]:
    return [(*make_moons(600, noise=0.1, random_state=seed), 2) for seed in range(n_seeds)]


# ------------------------------------------------------------------------------ margins, outliers


MOST_TRAINING_ROWS = 3000


def read_digits(name: str) -> tuple[Array, Labels]:
    if name == "digits":
        return load_digits(return_X_y=True)
    content = loadmat(DIGITS / f"{name}.mat")
    return content["fea"].astype(float), content["gt"].ravel().astype(int)


CLASSIFIED = ("PenDigits", "USPS", "Letters", "digits")


def measure_margins(name: str, most_rows: int) -> dict[str, Any]:
    """Clusters named by the majority of their training rows; errors of held-out rows by margin."""
    X, y = read_digits(name)
    y = np.unique(y, return_inverse=True)[1]
    K = int(y.max()) + 1
    order = np.random.default_rng(0).permutation(len(X))
    training, rest = np.split(order, [min(len(X) // 2, most_rows)])
    model = GPOD(K, n_jobs=JOBS).fit(X[training])
    counts = np.zeros((K, K), dtype=int)
    np.add.at(counts, (model.labels_, y[training]), 1)
    is_wrong = counts.argmax(axis=1)[model.predict(X[rest])] != y[rest]
    margin = model.predict_margin(X[rest])
    deciles = np.array_split(np.argsort(margin, kind="stable"), 10)
    return {
        "n_clusters": K,
        "training_rows": len(training),
        "new_rows": len(rest),
        "error": round(float(is_wrong.mean()), 4),
        "by_decile": [round(float(is_wrong[part].mean()), 4) for part in deciles],
        "median_margin": [round(float(np.median(margin[part])), 4) for part in deciles],
        "spearman": round(float(spearmanr(margin, is_wrong).statistic), 4),
    }


QUANTILES = (0.01, 0.05)
FAR = 3.0  # times the largest distance of a training row from the mean


def outlier_data(name: str, seed: int) -> tuple[Array, Array, int]:
    """1000 training rows, 1000 new ones, K."""
    rng = np.random.default_rng(seed)
    if name == "moons":
        X = make_moons(2000, noise=0.05, random_state=seed)[0]
        K = 2
    else:
        K, d = 4, int(name.split()[-1])
        centers = spread_centers(rng, K, d, 8.0)
        X = make_blobs(2000, centers=centers, random_state=seed)[0]
    return *np.split(rng.permutation(X), 2), K


OUTLIER_DATA = ("moons", "4 blobs, d = 2", "4 blobs, d = 10")


def measure_outliers(name: str, n_seeds: int) -> dict[str, Any]:
    """Shares of new rows, and of rows far away, that ``outliers="label"`` gives -1."""
    shares: dict[str, list[float]] = {}
    for seed in range(n_seeds):
        X, new, K = outlier_data(name, seed)
        direction = np.random.default_rng([1, seed]).standard_normal((200, X.shape[1]))
        direction /= np.linalg.norm(direction, axis=1, keepdims=True)
        center = X.mean(axis=0)
        far = center + FAR * np.linalg.norm(X - center, axis=1).max() * direction
        for quantile in QUANTILES:
            model = GPOD(K, outliers="label", outlier_quantile=quantile, n_jobs=JOBS).fit(X)
            for kind, rows in (("new", new), ("far", far)):
                share = float((model.predict(rows) == -1).mean())
                shares.setdefault(f"{kind} {quantile}", []).append(share)
    return {
        key: {"mean": round(float(np.mean(values)), 4), "max": round(max(values), 4)}
        for key, values in shares.items()
    }


# --------------------------------------------------------------------------------- grid search


GRID_SIGMAS = (0.01, 0.03, 0.05, 0.1, 0.2, 0.4)
GRID_CLUSTERS = (2, 3, 4, 6)


def wide_moons() -> Sample:
    return *make_moons(600, noise=0.1, random_state=0), 2


def moons_and_two_blobs() -> Sample:
    X, y = make_moons(300, noise=0.05, random_state=0)
    places = np.array([[3.6, 0.3], [-2.6, 0.2]])
    B, of_blob = gaussians(np.random.default_rng(0), places, np.array([150, 150]), 0.25)
    return np.vstack([X, B]), np.append(y, of_blob + 2), 4


GRID_DATA = {"moons, noise 0.1": wide_moons, "moons and two blobs": moons_and_two_blobs}


def measure_grid(name: str) -> dict[str, Any]:
    """What GridSearchCV makes of ``score`` across sigma and K."""
    X, y, K = GRID_DATA[name]()
    grid = {"affinity__sigma": list(GRID_SIGMAS), "n_clusters": list(GRID_CLUSTERS)}
    folds = KFold(5, shuffle=True, random_state=0)
    search = GridSearchCV(GPOD(n_jobs=JOBS), grid, cv=folds).fit(X)
    outcome = search.cv_results_
    scores = {
        f"{point['affinity__sigma']} {point['n_clusters']}": float(f"{score:.4g}")
        for point, score in zip(outcome["params"], outcome["mean_test_score"], strict=True)
    }
    matching = {
        str(sigma): round(ari(y, gpod_labels(X, K, affinity=Gaussian(sigma))), 4)
        for sigma in GRID_SIGMAS
    }
    found = select(X, GRID_CLUSTERS, sigma=list(GRID_SIGMAS), n_jobs=JOBS)
    default = auto(X)
    return {
        "n_clusters": K,
        "scores": scores,
        "ari_at_true": matching,
        "best": search.best_params_,
        "best_ari": round(ari(y, search.best_estimator_.labels_), 4),
        "select": {
            "sigma": found.best.affinity.sigma,
            "n_clusters": found.best.n_clusters,
            "ari": round(ari(y, found.model.labels_), 4),
        },
        "auto": {"n_clusters": default.n_clusters, "ari": round(ari(y, default.labels), 4)},
    }


# ------------------------------------------------------------------------------------------ figure


FIGURE_SEED = FIRST_SEED + 9  # two moons and two blobs


def draw(path: Path) -> None:
    """Left the chosen clustering; right the scores it was chosen by."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    X, _, K = make_set(FIGURE_SEED)
    found = select(X, CANDIDATES, sigma=Gaussian(), n_jobs=JOBS)
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    colors = np.array(["#1f4e79", "#e07b39", "#4c9a6a", "#a23b72", "#777777", "#c9a227"])
    left.scatter(*X.T, s=5, c=colors[found.model.labels_ % len(colors)])
    left.set(xticks=[], yticks=[], aspect="equal")
    left.set_title(f"{found.best.n_clusters} clusters chosen, {K} put in", fontsize=11)
    for criterion, color in (("conductance", "#1f4e79"), ("eigengap", "#aaaaaa")):
        choices = (
            found.choices
            if criterion == found.criterion
            else select(X, CANDIDATES, sigma=Gaussian(), criterion=criterion, n_jobs=JOBS).choices
        )
        scores = {c.n_clusters: c.score for c in choices}
        line = [scores[k] for k in CANDIDATES]
        right.plot(CANDIDATES, line, "o-", color=color, label=criterion, markersize=4)
    best = found.best
    right.plot(best.n_clusters, best.score, "o", mfc="none", mec="#e07b39", ms=14, mew=2)
    right.annotate("chosen", (best.n_clusters, best.score), (14, -4), textcoords="offset points")
    right.set(xlabel="number of clusters K", ylabel="score")
    right.spines[["top", "right"]].set_visible(False)
    right.legend(frameon=False)
    figure.savefig(path, dpi=110)


# ------------------------------------------------------------------------------------------ tables


def first(runs: list[Run], n_sets: int) -> list[Run]:
    """The runs on the first sets; none if the criterion did not see all of these."""
    found = [run for run in runs if run.seed < FIRST_SEED + n_sets]
    return found if len(found) == n_sets else []


def hits(runs: list[Run], n_sets: int) -> str:
    judged = first(runs, n_sets)
    return str(sum(run.is_right for run in judged)) if judged else "-"


def mean_ari(runs: list[Run], n_sets: int) -> str:
    judged = first(runs, n_sets)
    return f"{np.mean([run.ari for run in judged]):.3f}" if judged else "-"


def criteria_table(results: dict[str, Any]) -> str:
    runs = [Run(**run) for run in results["runs"]]
    few, n_sets = results["n_slow"], results["n_sets"]
    header = ["criterion", f"K found, of {few}", f"of {n_sets}"]
    header += [f"ARI, {few} sets", f"{n_sets} sets", "seconds per set"]
    rows = []
    for name in CRITERIA:
        mine = [run for run in runs if run.criterion == name]
        rows.append(
            [
                f"`{name}`" if name == AUTO else name,
                hits(mine, few),
                hits(mine, n_sets),
                mean_ari(mine, few),
                mean_ari(mine, n_sets),
                f"{np.mean([run.seconds for run in mine]):.2f}",
            ]
        )
    last = FIRST_SEED + n_sets - 1
    caption = (
        f"Seeds {FIRST_SEED} to {FIRST_SEED + few - 1}, and {FIRST_SEED} to {last}. "
        f"Slow, and so on the first {few} only: {', '.join(SLOW)}."
    )
    return f"{caption}\n\n{markdown(header, rows)}"


def family_table(results: dict[str, Any]) -> str:
    runs = [Run(**run) for run in results["runs"] if run["criterion"] not in SLOW]
    names = [name for name in CRITERIA if name not in SLOW]
    rows = []
    for family in FAMILIES:
        mine = [run for run in runs if family_of(run.seed) == family]
        right = [sum(run.is_right for run in mine if run.criterion == name) for name in names]
        rows.append([family, str(len(mine) // len(names)), *map(str, right)])
    return markdown(["family", "sets", *(f"`{n}`" if n == AUTO else n for n in names)], rows)


def miss_table(results: dict[str, Any]) -> str:
    runs = [Run(**run) for run in results["runs"] if run["criterion"] == AUTO]
    rows = [
        [
            str(run.seed),
            family_of(run.seed),
            str(run.rows),
            str(run.true),
            str(run.found),
            f"{run.ari:.2f}",
            f"`{run.affinity}`",
            "yes" if run.warned else "no",
        ]
        for run in runs
        if not run.is_right
    ]
    right = [run for run in runs if run.is_right]
    default = repr(Gaussian())
    caption = (
        f"Misses of `{AUTO}`: {len(rows)} of {len(runs)}. Of the {len(right)} others, "
        f"{sum(run.affinity != default for run in right)} were found with another affinity than "
        f"the default, and {sum(run.warned for run in right)} came with a warning that nothing "
        "stands out."
    )
    if not rows:
        return caption
    header = ["seed", "family", "rows", "true K", "found", "ARI", "affinity", "warned"]
    return f"{caption}\n\n{markdown(header, rows)}"


def one_cluster_table(results: dict[str, Any]) -> str:
    rows = [
        [kind, f"{line['warned']} of {line['of']}", ", ".join(map(str, line["found"]))]
        for kind, line in results["one_cluster"].items()
    ]
    return markdown(["one cluster of 500 rows", "warned", "K returned"], rows)


def sigma_table(results: dict[str, Any]) -> str:
    scores = results["sigma"]
    columns = ("few", "sets", "noisy moons")
    best = {
        column: max(map(multiple_name, MULTIPLES), key=lambda name: np.mean(scores[column][name]))
        for column in columns
    }
    rows = []
    for name in SIGMAS:
        cells = []
        for column in columns:
            cell = f"{np.mean(scores[column][name]):.3f}"
            cells.append(f"**{cell}**" if name == best[column] else cell)
        rows.append([name, *cells])
    oracle = [
        np.max([scores[column][multiple_name(c)] for c in MULTIPLES], axis=0).mean()
        for column in columns
    ]
    rows.append(["best multiple of each set, by its classes", *(f"{v:.3f}" for v in oracle)])
    n = [len(scores[column][next(iter(SIGMAS))]) for column in columns]
    header = ["sigma", f"{n[0]} sets", f"{n[1]} sets", f"{n[2]} noisy moons"]
    caption = "Mean ARI with the true K. Bold: the best multiple in hindsight."
    return f"{caption}\n\n{markdown(header, rows)}"


def margin_table(results: dict[str, Any]) -> str:
    header = ["data", "K", "training / new rows", "error", "Spearman"]
    deciles = ["lowest tenth", *map(str, range(2, 10)), "highest tenth"]
    rows = [
        [
            name,
            str(line["n_clusters"]),
            f"{line['training_rows']} / {line['new_rows']}",
            f"{100 * line['error']:.1f} %",
            f"{line['spearman']:.2f}",
            *(f"{100 * error:.0f}" for error in line["by_decile"]),
        ]
        for name, line in results["margins"].items()
    ]
    table = markdown([*header, *deciles], rows)
    if results["skipped"]:
        table += f"\n\nLeft out, for want of their files: {', '.join(results['skipped'])}."
    return table


def outlier_table(results: dict[str, Any]) -> str:
    kinds = [f"{kind} {quantile}" for quantile in QUANTILES for kind in ("new", "far")]
    header = [
        f"{'new' if kind == 'new' else 'far'} rows, quantile {quantile}"
        for quantile in QUANTILES
        for kind in ("new", "far")
    ]
    rows = [
        [
            name,
            *(f"{100 * line[k]['mean']:.1f} % (up to {100 * line[k]['max']:.1f} %)" for k in kinds),
        ]
        for name, line in results["outliers"].items()
    ]
    return markdown(["data", *header], rows)


def grid_table(results: dict[str, Any]) -> str:
    parts = []
    for name, grid in results["grid"].items():
        K_true = grid["n_clusters"]
        rows = [
            [
                str(sigma),
                *(f"{grid['scores'][f'{sigma} {K}']:.2g}" for K in GRID_CLUSTERS),
                f"{grid['ari_at_true'][str(sigma)]:.2f}",
            ]
            for sigma in GRID_SIGMAS
        ]
        header = ["sigma", *(f"K = {K}" for K in GRID_CLUSTERS), f"ARI at K = {K_true}"]
        chosen, best = grid["select"], grid["best"]
        parts.append(
            f"{name}, true K = {K_true}:\n\n{markdown(header, rows)}\n\n"
            f"`GridSearchCV` takes sigma = {best['affinity__sigma']}, K = {best['n_clusters']} "
            f"(ARI {grid['best_ari']:.2f}); `select` on the same candidates takes sigma = "
            f"{chosen['sigma']}, K = {chosen['n_clusters']} (ARI {chosen['ari']:.2f}); `{AUTO}` "
            f"finds K = {grid['auto']['n_clusters']} (ARI {grid['auto']['ari']:.2f})."
        )
    return "\n\n".join(parts)


TABLES: dict[str, Callable[[dict[str, Any]], str]] = {
    "criteria": criteria_table,
    "families": family_table,
    "misses": miss_table,
    "one cluster": one_cluster_table,
    "sigma": sigma_table,
    "margins": margin_table,
    "outliers": outlier_table,
    "grid": grid_table,
}


# -------------------------------------------------------------------------------------------- main


@dataclass(frozen=True)
class Size:
    """How much is measured."""

    sets: int
    slow_sets: int
    seeds: int
    training_rows: int


def measure_all(size: Size) -> dict[str, Any]:
    start = time.perf_counter()

    def done(part: str) -> None:
        print(f"{part}: {time.perf_counter() - start:.0f} s since the start", flush=True)

    runs = list(measure_criteria(size.sets, size.slow_sets))
    done("number of clusters")
    single = measure_one_cluster(max(1, size.seeds // 2))
    done("one cluster")
    sets = measure_sigmas([make_set(FIRST_SEED + i) for i in range(size.sets)])
    few = {name: scores[: size.slow_sets] for name, scores in sets.items()}
    moon_scores = measure_sigmas(noisy_moons(size.seeds))
    done("sigma")
    margins, skipped = {}, []
    for name in CLASSIFIED:
        try:
            margins[name] = measure_margins(name, size.training_rows)
        except FileNotFoundError:
            skipped.append(name)
            print(f"{name}: skipped, its file is not there")
    done("margins")
    outliers = {name: measure_outliers(name, size.seeds) for name in OUTLIER_DATA}
    done("outliers")
    grid = {name: measure_grid(name) for name in GRID_DATA}
    done("grid search")
    return {
        "versions": {
            "eigencut": eigencut.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
        "first_seed": FIRST_SEED,
        "n_sets": size.sets,
        "n_slow": size.slow_sets,
        "runs": [asdict(run) for run in runs],
        "one_cluster": single,
        "sigma": {"few": few, "sets": sets, "noisy moons": moon_scores},
        "margins": margins,
        "skipped": skipped,
        "outliers": outliers,
        "grid": grid,
    }


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="ten sets; page and figure in docs are left alone"
    )
    parser.add_argument(
        "--sets", type=int, default=SETS, metavar="N", help=f"random data sets ({SETS})"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where the JSON goes (benchmarks/results/selection.json; nowhere if --quick)",
    )
    arguments = parser.parse_args()
    if arguments.sets < 1:
        parser.error("--sets must be at least 1")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    n_sets = min(10, arguments.sets) if arguments.quick else arguments.sets
    size = (
        Size(n_sets, slow_sets=min(2, n_sets), seeds=2, training_rows=500)
        if arguments.quick
        else Size(n_sets, slow_sets=min(FEW, n_sets), seeds=10, training_rows=MOST_TRAINING_ROWS)
    )
    out = arguments.out or (None if arguments.quick else RESULTS)
    warnings.simplefilter("ignore", GraphWarning)
    for category in (UserWarning, RuntimeWarning):  # of scikit-learn, on graphs in pieces
        warnings.filterwarnings("ignore", category=category, module="sklearn")
    start = time.perf_counter()
    results = measure_all(size)
    tables = {name: make(results) for name, make in TABLES.items()}
    print(*tables.values(), sep="\n\n")
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if not arguments.quick:
        update_page(PAGE, tables)
        draw(IMAGE)
    print(f"{time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
