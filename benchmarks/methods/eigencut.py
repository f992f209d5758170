"""eigencut itself."""

from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem


def fit(problem: Problem) -> Work:
    return lambda: problem.estimator().fit(problem.X).labels_


def predict(problem: Problem) -> Work:
    model = problem.model
    return lambda: model.predict(problem.X_new)


METHOD = Method("eigencut", {"fit": fit, "predict": predict})
