"""eigencut on the complete graph of the first 20 000 rows: what landmarks stand in for."""

from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem


def fit(problem: Problem) -> Work:
    from eigencut import GPOD

    model = GPOD(problem.n_clusters, affinity="gaussian")
    return lambda: model.fit(problem.X).labels_


METHOD = Method("exact on the first 20 000 rows", {"fit": fit}, most_rows=20_000)
