"""KMeans: no spectral method, but the fastest thing people know."""

from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem


def fit(problem: Problem) -> Work:
    from sklearn.cluster import KMeans

    return lambda: KMeans(problem.n_clusters, random_state=0).fit(problem.X).labels_


def predict(problem: Problem) -> Work:
    from sklearn.cluster import KMeans

    model = KMeans(problem.n_clusters, random_state=0).fit(problem.X)
    return lambda: model.predict(problem.X_new)


METHOD = Method("KMeans", {"fit": fit, "predict": predict}, numbers_clusters_alike=False)
