"""Rows for every metric, and its distances by scipy and scikit-learn."""

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import haversine_distances

EARTH = 6371.0088


def by_arc(A, B):
    """The chord of the great circle, in km."""
    return 2 * EARTH * np.sin(haversine_distances(np.radians(A), np.radians(B)) / 2)


DISTANCES = {
    "euclidean": cdist,
    "cosine": lambda A, B: np.sqrt(2 * np.maximum(cdist(A, B, "cosine"), 0)),
    "manhattan": lambda A, B: cdist(A, B, "cityblock"),
    "chebyshev": lambda A, B: cdist(A, B, "chebyshev"),
    "hamming": lambda A, B: cdist(A, B, "hamming"),
    "jaccard": lambda A, B: cdist(A > 0, B > 0, "jaccard"),
    "haversine": by_arc,
}


def rows_for(metric, n=300, seed=0, n_clusters=3):
    """Rows of clusters that the metric sees, and their clusters."""
    rng, fixed = np.random.default_rng(seed), np.random.default_rng(0)
    cluster = np.arange(n) % n_clusters
    if metric == "haversine":  # one of them on both sides of the date line
        X = np.array([[-17.0, 180.0], [48.0, 2.0], [89.5, 0.0]])[cluster]
        X = X + rng.normal(size=(n, 2)) * [0.4, 2.0]
        return np.column_stack([np.minimum(X[:, 0], 90), (X[:, 1] + 180) % 360 - 180]), cluster
    if metric == "hamming":
        X = fixed.integers(0, 6, size=(n_clusters, 25))[cluster]
        is_other = rng.random(X.shape) < 0.25
        return np.where(is_other, rng.integers(0, 6, size=X.shape), X).astype(float), cluster
    if metric == "jaccard":
        X = (fixed.random((n_clusters, 40)) < 0.3)[cluster] ^ (rng.random((n, 40)) < 0.06)
        return X.astype(float), cluster
    X = (4 * fixed.normal(size=(n_clusters, 6)))[cluster] + 0.8 * rng.normal(size=(n, 6))
    return X * (rng.exponential(size=(n, 1)) if metric == "cosine" else 1), cluster
