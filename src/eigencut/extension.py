"""From eigenvectors to eigenfunctions: the relaxed cut at rows it has never seen.

The consistent form follows from ``(L u)(x) = lambda m(x) u(x)``:

    u_k(x) = (1/n) sum_j W(x, x_j) u_k[j] / (d(x) - lambda_k m(x)).

For NCut it is Eq. 15 and Algorithm 2; for RatioCut the eigenfunction of von Luxburg, Belkin and
Bousquet (2008). At a training row it gives back the eigenvector's entry.

Algorithm 1's form for RatioCut, with s(x) = d(x), is

    u_k(x) = (1/sqrt(lambda_k)) (1/n) sum_j (s(x) - W(x, x_j)) u_k[j],    and 0 for lambda_k = 0.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from eigencut.affinity.base import Affinity, Array, Product
from eigencut.components import GraphWarning
from eigencut.cut import Cut
from eigencut.eigenpairs import EigenPairs

# Where 1 - lambda_k m(x) / d(x) is not above this, dividing by it would blow up rounding errors, or
# flip the sign: such a row is not supported by the data.
_SUPPORT = 1e-4
_ZERO = 1e-12  # eigenvalues below this times the largest degree are zero
_UNDERFLOW = -600.0


@dataclass(frozen=True)
class Eigenfunctions:
    """The consistent form, for both cuts. Callable on rows of data."""

    affinity: Affinity
    cut: Cut
    pairs: EigenPairs
    degrees: Array  # of the training vertices

    def __call__(self, X: Array, n_jobs: int | None = None) -> Array:
        product = self.affinity.apply(X, self.pairs.vectors, n_jobs)
        average = product.values / product.degrees[:, np.newaxis]
        factor = self._relative_denominator(product)
        supported = np.min(factor, axis=1) > _SUPPORT
        # Elsewhere the limit lambda = 0 holds, an average of nearby rows; but a training row is
        # always itself.
        values = np.where(supported[:, np.newaxis], average / np.maximum(factor, _SUPPORT), average)
        doubtful = np.flatnonzero(~supported)
        if len(doubtful):
            vertex = self.affinity.locate(X[doubtful])
            values[doubtful[vertex >= 0]] = self.pairs.vectors[vertex[vertex >= 0]]
        return values

    def at_training_vertices(self) -> Array:
        """The extension's value at the training rows: the eigenvectors themselves."""
        return self.pairs.vectors

    def log_degrees(self, X: Array, n_jobs: int | None = None) -> Array:
        """log d(x): how well the data support each row."""
        return _log_degrees(self.affinity.apply(X, np.empty((len(self.pairs.vectors), 0)), n_jobs))

    def _relative_denominator(self, product: Product) -> Array:
        """``1 - lambda_k m(x) / d(x)``, a column per k."""
        mass_per_degree = self.cut.mass_per_degree(_log_degrees(product))
        return 1 - mass_per_degree[:, np.newaxis] * self.pairs.values

    def report_lost_components(self) -> None:
        """Warn where an eigenvalue is one that carries no cluster.

        Eigenvalues beyond the smallest d/m lie in the essential spectrum of the limit operator:
        their eigenvectors concentrate on single rows (RatioCut) or are noise (NCut, lambda = 1).
        """
        limit = float((self.degrees / self.cut.mass(self.degrees)).min())
        lost = int((self.pairs.values > limit * (1 - _SUPPORT)).sum())
        if lost:
            K = len(self.pairs.values)
            warnings.warn(
                f"{lost} of the {K} components carry no cluster: their eigenvalues (largest "
                f"{self.pairs.values[-1]:.3g}) are not below {limit:.3g}, where eigenvectors "
                f"single out rows instead of clusters. Use n_clusters={max(1, K - lost)} or fewer, "
                "another sigma, or cut='ncut'.",
                GraphWarning,
                stacklevel=3,
            )


def _log_degrees(product: Product) -> Array:
    return product.log_scale + np.log(product.degrees)


@dataclass(frozen=True)
class Algorithm1(Eigenfunctions):
    """The paper's Algorithm 1 for RatioCut, to the letter.

    Ambiguities are read as follows. Algorithm 1 divides by sqrt(lambda) once (the main text
    twice). The column of lambda = 0 is zero, as the paper's remark on it says. The form
    does not give back the eigenvectors at training rows.
    """

    def __call__(self, X: Array, n_jobs: int | None = None) -> Array:
        product = self.affinity.apply(X, self.pairs.vectors, n_jobs)
        # Rows whose weights all underflow keep their direction; their length would be zero.
        scale = np.exp(np.where(product.log_scale < _UNDERFLOW, 0.0, product.log_scale))
        values = self._form(product.values, product.degrees[:, np.newaxis])
        return values * scale[:, np.newaxis]

    def at_training_vertices(self) -> Array:
        degrees = self.degrees[:, np.newaxis]
        mass = self.cut.mass(degrees)
        return self._form((degrees - self.pairs.values * mass) * self.pairs.vectors, degrees)

    def _form(self, products: Array, degrees: Array) -> Array:
        values = self.pairs.values
        mean = self.affinity.multiplicity_ @ self.pairs.vectors / self.affinity.n_rows_
        positive = values > _ZERO * self.degrees.max()
        root = np.sqrt(np.where(positive, values, 1.0))
        return np.where(positive, (degrees * mean - products) / root, 0.0)


EXTENSIONS: dict[str, Callable[[Affinity, Cut, EigenPairs, Array], Eigenfunctions]] = {
    "consistent": Eigenfunctions,
    "algorithm1": Algorithm1,
}


def extend(
    extension: str,
    affinity: Affinity,
    cut: Cut,
    pairs: EigenPairs,
    degrees: Array,
    n_components: int,
) -> Eigenfunctions:
    """The eigenfunctions in the form called ``extension`` ("consistent" or "paper")."""
    form = cut.paper_extension if extension == "paper" else extension
    if form == "algorithm1" and n_components > 1:
        warnings.warn(
            f"extension='paper' loses the clusters of a graph with {n_components} connected "
            "components, whose eigenvalues are zero; the consistent form is used. Raise sigma to "
            "connect the graph.",
            GraphWarning,
            stacklevel=3,
        )
        form = "consistent"
    return EXTENSIONS[form](affinity, cut, pairs, degrees)
