"""A fit from a file, and then the labels of all its rows to a file: three passes."""

from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem
from benchmarks.methods._stream import labelled, rows_of


def stream(problem: Problem) -> Work:
    return lambda: labelled(problem.estimator().fit(rows_of(problem)), problem)


METHOD = Method("fit and labels", {"stream": stream})
