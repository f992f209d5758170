"""KMeans: no spectral method, but the fastest thing people know."""

from typing import Any

from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem
from benchmarks.methods._seeds import for_each_seed


def _fitted(problem: Problem, seed: int = 0) -> Any:
    """Lloyd's algorithm from one start, scikit-learn's defaults."""
    from sklearn.cluster import KMeans

    return KMeans(problem.n_clusters, n_init=1, random_state=seed).fit(problem.X)


def fit(problem: Problem) -> Work:
    return lambda: _fitted(problem).labels_


def predict(problem: Problem) -> Work:
    model = _fitted(problem)
    return lambda: model.predict(problem.X_new)


def seeds(problem: Problem) -> Work:
    return for_each_seed(problem, lambda seed: _fitted(problem, seed).labels_)


METHOD = Method(
    "KMeans", {"fit": fit, "predict": predict, "seeds": seeds}, numbers_clusters_alike=False
)
