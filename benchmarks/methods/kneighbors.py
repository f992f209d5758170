"""KNeighborsClassifier(1) on the labels of the training rows: what users do today."""

from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem

_MANY_ROWS = 1000  # fewer are faster in one thread


def predict(problem: Problem) -> Work:
    from sklearn.neighbors import KNeighborsClassifier

    jobs = -1 if len(problem.X_new) >= _MANY_ROWS else None
    model = KNeighborsClassifier(1, n_jobs=jobs).fit(problem.X, problem.model.labels_)
    return lambda: model.predict(problem.X_new)


METHOD = Method("KNeighborsClassifier(1)", {"predict": predict})
