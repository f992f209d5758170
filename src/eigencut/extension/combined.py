"""Combinations of more eigenfunctions than clusters: what a cut with known labels consists of.

``v(x) = u(x) B`` with P eigenfunctions u and K columns of B, orthogonal to each other. At a few
rows that are known to belong together, and that no such function puts together, the value is kept.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from eigencut._utils.arrays import Array, Indices, row_blocks
from eigencut.extension.eigenfunctions import Eigenfunctions, SinglePrecisionValues
from eigencut.io.state_reader import StateReader
from eigencut.neighbors.distinct_rows import row_keys

_LARGEST = 1e75
_ELEMENTS = 1 << 20  # of rows that are read at a time


@dataclass(frozen=True)
class FixedRows:
    """Values of some rows, which are recognized by digests: a model must not give rows away.

    Attributes
    ----------
    digests : array of integers of shape (n_fixed, 2)
        Of the numbers in each row.
    values : array of shape (n_fixed, K)
    """

    digests: Indices
    values: Array

    @classmethod
    def of(cls, X: Any, values: Array) -> FixedRows:
        return cls(row_digests(X), values)

    def places(self, X: Any) -> tuple[Indices, Indices]:
        """Which rows of X are among them, and which ones these are."""
        place = {tuple(digest): i for i, digest in enumerate(self.digests.tolist())}
        found = [place.get(tuple(digest), -1) for digest in row_digests(X).tolist()]
        which = np.array(found, dtype=np.intp)
        rows = np.flatnonzero(which >= 0)
        return rows, which[rows]


def row_digests(X: Any) -> Indices:
    """128 bits for each row, which are the same for the same numbers; as two integers."""
    digests = b"".join(
        hashlib.blake2b(key, digest_size=16).digest()
        for rows in row_blocks(X.shape[0], X.shape[1], _ELEMENTS)
        for key in row_keys(X[rows].astype(np.float64))
    )
    return np.frombuffer(digests, dtype="<i8").reshape(-1, 2).astype(np.int64)


@dataclass(frozen=True)
class CombinedFunctions(Eigenfunctions):
    """``u(x) B``, and rows of which the value is fixed.

    Its ``pairs`` are those of the combinations: the value of each is ``(v, L v) / (v, M v)``.
    """

    combined: Eigenfunctions
    combination: Array  # B
    fixed: FixedRows | None = None

    @classmethod
    def of(
        cls, combined: Eigenfunctions, combination: Array, fixed: FixedRows | None = None
    ) -> CombinedFunctions:
        pairs, squares = combined.pairs, np.square(combination)
        of_combinations = replace(
            pairs,
            values=pairs.values @ squares / squares.sum(axis=0),
            vectors=pairs.vectors @ combination,
            products=pairs.products @ combination,
        )
        given = (combined.affinity, combined.cut, of_combinations, combined.degrees)
        return cls(*given, combined, combination, fixed)

    @property
    def base(self) -> Eigenfunctions:
        return self.combined

    def with_support(self, X: Array) -> tuple[Array, Array]:
        U, support = self.combined.with_support(X)
        values = U @ self.combination
        rows, fixed_values = self.fixed_values(X)
        values[rows] = fixed_values
        return values, support

    def fixed_values(self, X: Any) -> tuple[Indices, Array]:
        if self.fixed is None:
            return super().fixed_values(X)
        rows, which = self.fixed.places(X)
        return rows, self.fixed.values[which]

    def eigenvectors(self) -> Array:
        return self.combined.eigenvectors() @ self.combination

    def at_training_vertices(self) -> Array:
        return self.combined.at_training_vertices() @ self.combination

    def unit(self, values: Array) -> Array:
        return self.combined.unit(values) / np.linalg.norm(self.combination, axis=0)

    def single_precision_pays(self, n_rows: int) -> bool:
        return self.combined.single_precision_pays(n_rows)

    def single_precision_values(self, X: Array) -> SinglePrecisionValues:
        rough = self.combined.single_precision_values(X)
        error = rough.error * np.linalg.norm(self.combination, 2)
        error[self.fixed_values(X)[0]] = np.inf
        return replace(rough, values=rough.values @ self.combination, error=error)

    def _state(self) -> dict[str, Any]:
        state = self.combined._state() | {
            "n_combined": len(self.combination),
            "combination": self.combination,
        }
        if self.fixed is not None:
            state["fixed"] = {"digests": self.fixed.digests, "values": self.fixed.values}
        return state

    @classmethod
    def _restored(cls, combined: Eigenfunctions, state: StateReader, K: int) -> CombinedFunctions:
        shape = (len(combined.pairs.values), K)
        combination = state.array("combination", shape, -_LARGEST, _LARGEST)
        if not np.square(combination).sum(axis=0).min() > 0:
            raise ValueError("combination must have no column of zeros.")
        fixed = None
        if "fixed" in state:
            part = state.part("fixed")
            values = part.array("values", (None, K), -_LARGEST, _LARGEST)
            shape = (len(values), 2)
            fixed = FixedRows(part.indices("digests", shape, 2**63, least=-(2**63)), values)
        return cls.of(combined, combination, fixed)
