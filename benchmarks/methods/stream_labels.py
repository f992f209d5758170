"""Labels from a file to a file: one pass, with a model of the first million rows."""

from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem
from benchmarks.methods._stream import FEW, labelled


def stream(problem: Problem) -> Work:
    model = problem.first(FEW).model
    return lambda: labelled(model, problem)


METHOD = Method("labels to a file", {"stream": stream})
