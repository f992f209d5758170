"""What GridSearchCV makes of ``score`` across sigma and K."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.model_selection import GridSearchCV, KFold

from benchmarks.data import Sample, ari
from benchmarks.data.blobs import gaussians
from benchmarks.data.moons import moons
from benchmarks.harness.markdown import table
from benchmarks.selection import JOBS
from benchmarks.selection.criteria import AUTO, auto
from benchmarks.selection.sigma import gpod_labels
from eigencut import GPOD, Gaussian, select

GRID_SIGMAS = (0.01, 0.03, 0.05, 0.1, 0.2, 0.4)
GRID_CLUSTERS = (2, 3, 4, 6)


def wide_moons() -> Sample:
    return moons(600, 0, noise=0.1)


def moons_and_two_blobs() -> Sample:
    X, y, _ = moons(300, 0, noise=0.05)
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
    affinities = [Gaussian(sigma) for sigma in GRID_SIGMAS]
    found = select(X, GRID_CLUSTERS, affinities, n_jobs=JOBS)
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
            f"{name}, true K = {K_true}:\n\n{table(header, rows)}\n\n"
            f"`GridSearchCV` takes sigma = {best['affinity__sigma']}, K = {best['n_clusters']} "
            f"(ARI {grid['best_ari']:.2f}); `select` on the same candidates takes sigma = "
            f"{chosen['sigma']}, K = {chosen['n_clusters']} (ARI {chosen['ari']:.2f}); `{AUTO}` "
            f"finds K = {grid['auto']['n_clusters']} (ARI {grid['auto']['ari']:.2f})."
        )
    return "\n\n".join(parts)
