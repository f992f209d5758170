"""The contract of an affinity.

An affinity is fitted on rows X and then answers for any other rows. It has two faces:

``fit_graph(X)``
    The graph on the training rows, for the eigensolver. Heavy, and thrown away after the fit.
``apply(X_new, V)``
    ``W(X_new, X) @ V`` and the degrees ``d(X_new)``, for the extension to new rows. An m x n
    array never exists in memory.

Three things are decided here once, so that both faces agree to rounding:

* The factor 1/n belongs to the weights: ``W_ij = W(x_i, x_j) / n``. Where rows have weights of
  their own (``sample_weight``), n is the sum of these.
* Self-weights count: ``d_i`` includes ``W_ii``.
* Identical rows are one vertex with a multiplicity. They must get equal eigenvector entries, for an
  eigenfunction cannot tell them apart; and sorting the vertices makes every later stage independent
  of the order of the rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from inspect import signature
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator, clone

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.progress import all_or_nothing
from eigencut.affinities.fit_memory import FitSizes
from eigencut.exceptions import invalid
from eigencut.graphs.base import Graph
from eigencut.io.refused_rows import naming_refused_rows
from eigencut.io.state_reader import StateReader


@dataclass(frozen=True)
class Product:
    """``W(X_new, X) @ V`` in a form that cannot underflow.

    The true numbers are ``exp(log_scale) * values`` and ``exp(log_scale) * degrees``: rows far from
    all training rows, whose every weight underflows, carry their size in ``log_scale``.
    ``support`` is how well the data support each row, where the degrees do not say it.
    """

    values: Array
    degrees: Array
    log_scale: Array
    support: Array | None = None

    @property
    def log_degrees(self) -> Array:
        """log d(x)."""
        return self.log_scale + np.log(self.degrees)


class Affinity(BaseEstimator, ABC):
    """Base class of affinities; see the module's docstring for the contract.

    A fitted affinity has ``multiplicity_`` (rows per vertex, or what they count together),
    ``n_rows_`` (n, their sum), ``self_weights_`` (``W(x_i, x_i)`` of each vertex) and
    ``largest_weight_`` (C, the upper bound of W).

    Examples
    --------
    >>> from eigencut import Affinity, Gaussian, Neighbors
    >>> isinstance(Neighbors(15), Affinity)
    True
    >>> import numpy as np
    >>> affinity = Gaussian(sigma=1.0)
    >>> affinity.fit_graph(np.array([[0.0], [1.0], [5.0]])).degrees.shape
    (3,)
    >>> affinity.apply(np.array([[0.5]]), np.eye(3)).values.shape  # averages of a new row
    (1, 3)
    """

    pairwise = False  # True if X is a matrix of affinities instead of rows of features
    streams = False  # True if fit_graph takes a stream of rows
    form: str | None = None  # of the extension, where this affinity allows only one
    accepts_sparse = False  # whether X may be a scipy.sparse array
    keeps: str | None = None  # of what it was fitted on: "rows", "sums" over rows, or nothing
    saved_rounding = 1e-6  # relative; of sums that a file must agree with

    multiplicity_: Array
    n_rows_: float
    self_weights_: Array
    largest_weight_: float

    def __repr__(self, *_: Any) -> str:
        """The parameters that are not defaults; scikit-learn's takes milliseconds."""
        defaults = signature(type(self)).parameters
        changed = (
            f"{name}={value!r}"
            for name, value in sorted(self.get_params(deep=False).items())
            if repr(value) != repr(defaults[name].default)
        )
        return f"{type(self).__name__}({', '.join(changed)})"

    @abstractmethod
    def fit_graph(self, X: Any, sample_weight: Array | None = None) -> Graph:
        """Fit on the rows of X, an array (or a stream if ``streams``); return the graph on them.

        Weights are positive, and what each row counts: an integer is so many identical rows.
        """

    @abstractmethod
    def apply(self, X: Array, V: Array) -> Product:
        """``(1/n) sum_j c_j W(x, x_j) V[j]`` for each row x of X (c: multiplicities)."""

    @abstractmethod
    def within(self, X: Array, V: Array) -> Array:
        """``sum_j W(x_i, x_j) V[j]`` for the rows of X among themselves (no factor 1/n)."""

    @abstractmethod
    def most_similar_vertices(self, vertices: Indices, among: Indices) -> Indices:
        """For each vertex, the one of ``among`` that it is most similar to."""

    @abstractmethod
    def connection_hint(self) -> str:
        """Say what would connect a graph that falls apart."""

    def memory_bytes(self, sizes: FitSizes) -> float | None:
        """What a fit adds to the memory that the rows take, at most; None if it is not known."""
        return None

    def exponent_factors(self, X: Array | None = None) -> Array | None:
        """Factors of the exponents, for weights ``W(x, y) = exp(l(x) . r(y))``; else None.

        ``l`` of the rows of X, or ``r`` of the training vertices if X is None.
        """
        return None

    @property
    @abstractmethod
    def n_columns_(self) -> int:
        """How many columns new rows must have."""

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        """What answers for new rows need, as plain values and arrays: what a file keeps of it.

        An affinity that can be saved adds its own to this, takes it back in ``_restore``, and
        stands in the table of ``eigencut.loading``. Parameters are kept apart from it.
        """
        return {
            "multiplicity": self.multiplicity_,
            "n_rows": self.n_rows_,
            "self_weights": self.self_weights_,
            "largest_weight": self.largest_weight_,
        }

    def _restore(self, state: StateReader) -> None:
        """Take back a saved ``_state()``, instead of a fit. Nothing in it is to be trusted."""
        self.multiplicity_ = state.array("multiplicity", (None,))
        if self.multiplicity_.min() <= 0:
            raise ValueError("multiplicity must be positive.")
        self.n_rows_ = whole_or_real(state.number("n_rows", least=0.0))
        if abs(self.multiplicity_.sum() - self.n_rows_) > self.saved_rounding * self.n_rows_:
            raise ValueError("multiplicity must add up to n_rows.")
        self.largest_weight_ = state.number("largest_weight", least=0.0)
        most = self.largest_weight_ * (1 + self.saved_rounding)
        self.self_weights_ = state.array("self_weights", (len(self.multiplicity_),), 0.0, most)

    def frozen(self) -> Affinity:
        """An unfitted affinity with the same weight function, whatever it will be fitted on."""
        return clone(self)

    def identical_vertices(self, X: Array) -> Indices:
        """The training vertex that each row of X is identical to, or -1."""
        return np.full(X.shape[0], -1, dtype=np.intp)

    def nearest_vertices(self, X: Array) -> Indices:
        """The training vertex nearest to each row of X, or -1 where there is no telling."""
        return np.full(X.shape[0], -1, dtype=np.intp)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the affinity alone, without building a clustering on it."""
        with all_or_nothing(self) as fresh:
            rows = X if issparse(X) else np.asarray(X, dtype=np.float64)
            with naming_refused_rows(rows):
                fresh.fit_graph(rows)
        return self


def whole_or_real(total: float) -> float:
    """The sum of all weights; an integer, as numbers of rows are, if it is one."""
    return int(total) if float(total).is_integer() else float(total)


def refuse_without_rows(affinity: Affinity, include_training_data: bool) -> None:
    """The refusal of an affinity that compares new rows with the training rows."""
    if not include_training_data:
        expected = f"be True with {type(affinity).__name__}"
        got = "False, but new rows are compared with the training rows"
        raise invalid("include_training_data", expected, got, "leave it out, or use Landmarks")
