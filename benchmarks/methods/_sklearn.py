"""scikit-learn's SpectralClustering with one of its solvers."""

from __future__ import annotations

from typing import Any

from benchmarks.harness.method import Method, Work, require
from benchmarks.harness.problem import Problem


def spectral_clustering(title: str, solver: str, needs: str = "sklearn", **options: Any) -> Method:
    """At the sigma of the problem, unless the options choose another affinity."""

    def fit(problem: Problem) -> Work:
        from sklearn.cluster import SpectralClustering

        require(needs)
        chosen = options or {"affinity": "rbf", "gamma": problem.gamma}
        model = SpectralClustering(
            problem.n_clusters, eigen_solver=solver, random_state=0, n_jobs=-1, **chosen
        )
        return lambda: model.fit(problem.X).labels_

    return Method(f"scikit-learn {title}", {"fit": fit}, numbers_clusters_alike=False)
