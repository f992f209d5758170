"""The C kernel as a method: only the multiply-exp-multiply is timed, not the labels."""

from __future__ import annotations

from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem, cores
from benchmarks.limit import MultiplyExp
from benchmarks.methods._extension import factors, labels_of


def limit(dtype: str) -> Method:
    def predict(problem: Problem) -> Work:
        kernel = MultiplyExp.of(problem.X, factors(problem), float(problem.sigma), dtype)
        rows = kernel.rows(problem.X_new)
        return lambda: kernel(rows, cores())

    return Method(f"C limit, {dtype}", {"predict": predict}, labels_of)
