"""Labels from the product of weights and eigenvectors, by the published attributes of a model."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.data import Array, Labels
from benchmarks.harness.problem import Problem


def factors(problem: Problem) -> Array:
    """[U, 1], what the weights are multiplied with."""
    U = problem.model.embedding_
    return np.column_stack([U, np.ones(len(U))])


def labels_of(problem: Problem, product: Any) -> Labels:
    """``argmax(rows(u) @ rotation_)``, with NCut's ``u_k(x) = (W u_k / d)(x) / (1 - lambda_k)``."""
    model, product = problem.model, np.asarray(product, dtype=np.float64)
    U = product[:, :-1] / product[:, -1:] / (1 - model.eigenvalues_)
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    return np.asarray(np.argmax(U @ model.rotation_, axis=1))
