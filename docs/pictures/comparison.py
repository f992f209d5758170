"""The chart of docs/comparison.md and its table: sets of scikit-learn's own chart, seven methods.

All methods get the true number of clusters if they take one. Settings of the others are those of
scikit-learn's chart (examples/cluster/plot_cluster_comparison there), or their defaults.
"""

from __future__ import annotations

import random
import sys
import time
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from _style import colors, save
from sklearn.cluster import HDBSCAN, AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph
from sklearn.preprocessing import StandardScaler

from eigencut import GPOD

N, SEED = 500, 30


def anisotropic() -> tuple[np.ndarray, np.ndarray]:
    X, y = make_blobs(N, random_state=170)
    return X @ [[0.6, -0.6], [-0.4, 0.8]], y


SETS = {
    "circles": lambda: make_circles(N, factor=0.5, noise=0.05, random_state=SEED),
    "moons": lambda: make_moons(N, noise=0.05, random_state=SEED),
    "varied blobs": lambda: make_blobs(N, cluster_std=[1.0, 2.5, 0.5], random_state=170),
    "anisotropic": anisotropic,
    "blobs": lambda: make_blobs(N, random_state=SEED),
    "no clusters": lambda: (np.random.default_rng(SEED).random((N, 2)), np.zeros(N, dtype=int)),
}


def leiden(X: np.ndarray, K: int) -> np.ndarray:
    """Modularity on the graph of 15 neighbours, as scanpy does it; K is not asked for."""
    import igraph

    random.seed(0)  # which igraph draws from

    sources, targets = kneighbors_graph(X, 15).nonzero()
    graph = igraph.Graph(n=len(X), edges=list(zip(sources, targets, strict=True))).simplify()
    found = graph.community_leiden(objective_function="modularity", n_iterations=-1)
    return np.asarray(found.membership)


METHODS = {
    "eigencut": lambda X, K: GPOD(K).fit_predict(X),
    "eigencut,\nK = auto": lambda X, K: GPOD("auto").fit_predict(X),
    "Spectral\n(scikit-learn)": lambda X, K: SpectralClustering(
        K, affinity="nearest_neighbors", random_state=0
    ).fit_predict(X),
    "HDBSCAN": lambda X, K: HDBSCAN(min_samples=3, min_cluster_size=15, copy=True).fit_predict(X),
    "Leiden": leiden,
    "k-means": lambda X, K: KMeans(K, n_init=10, random_state=0).fit_predict(X),
    "Ward": lambda X, K: AgglomerativeClustering(K).fit_predict(X),
    "Gaussian\nmixture": lambda X, K: GaussianMixture(K, random_state=0).fit_predict(X),
}


def main() -> None:
    warnings.simplefilter("ignore")
    figure, axes = plt.subplots(
        len(SETS), len(METHODS), figsize=(13, 9.6), layout="constrained", squeeze=False
    )
    scores: dict[str, list[str]] = {name: [] for name in METHODS}
    seconds = dict.fromkeys(METHODS, 0.0)
    for line, (name, make) in zip(axes, SETS.items(), strict=True):
        X, y = make()
        X = StandardScaler().fit_transform(X)
        K = 3 if name == "no clusters" else len(np.unique(y))
        for ax, (method, cluster) in zip(line, METHODS.items(), strict=True):
            cluster(X, K)  # imports, and what is made once
            start = time.process_time()
            labels = cluster(X, K)
            took = time.process_time() - start
            seconds[method] += took
            ax.scatter(*X.T, s=4, c=colors(labels))
            ax.set(xticks=[], yticks=[])
            found = len(np.unique(labels[labels >= 0]))
            if name == "no clusters":
                said = f"{found} clusters" if found > 1 else "1 cluster"
            else:
                said = f"{max(adjusted_rand_score(y, labels), 0.0):.2f}"
                said += "" if found == K else f" ({found} clusters)"
            scores[method].append(said)
            box = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1}
            ax.text(0.97, 0.03, f"{said}\n{took * 1000:.0f} ms", transform=ax.transAxes,
                    ha="right", fontsize=7.5, bbox=box)  # fmt: skip
        line[0].set_ylabel(name)
    for ax, method in zip(axes[0], METHODS, strict=True):
        ax.set_title(method)
    save(figure, "comparison")

    lines = [
        "| method | " + " | ".join(SETS) + " | time for all six |",
        "|---" * (len(SETS) + 2) + "|",
    ]
    for method, said in scores.items():
        name = method.replace("\n", " ")
        lines.append(f"| {name} | {' | '.join(said)} | {seconds[method] * 1000:.0f} ms |")
    (Path(sys.argv[1]) / "comparison.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
