"""A fit from a file: two passes over its rows."""

from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem
from benchmarks.methods._stream import first_labels, rows_of


def stream(problem: Problem) -> Work:
    return lambda: problem.estimator().fit(rows_of(problem))


METHOD = Method("fit from a file", {"stream": stream}, first_labels)
