"""The empirical Rademacher complexity of Appendix B, as a number.

E_sigma sup_u | 2/h sum_i sigma_i W(x_i, x_{i+h}) (u(x_i) - u(x_{i+h}))^2 |,    h = floor(n / 2)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import check_count
from eigencut.io.sample import seeded_by
from eigencut.theory.errors import check_enough, measured_on


@dataclass(frozen=True)
class Rademacher(JsonReady):
    """Empirical Rademacher complexities of two classes of functions; ``rademacher`` returns it.

    Attributes
    ----------
    span : float
        Of functions of unit norm in the span of the K eigenfunctions.
    bounded : float
        Of all functions with ``u^2 <= B``: it does not fall with n.
    by_paper : float
        ``16 B C / sqrt(n)``, the bound of Appendix B.
    standard_error : float
        Of ``span``, for signs are drawn.
    n_rows : int

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> X = np.random.default_rng(0).normal(size=(400, 1))
    >>> found = rademacher(GPOD(2, affinity=Gaussian(1.0)).fit(X[:200]), X[200:])
    >>> found.span < found.bounded
    True
    """

    span: float
    bounded: float
    by_paper: float
    standard_error: float
    n_rows: int


def rademacher(
    model: Any, X: ArrayLike, *, n_draws: int = 200, random_state: Any = 0
) -> Rademacher:
    """Return the empirical Rademacher complexity of Appendix B on rows, by drawn signs.

    Parameters
    ----------
    model : fitted GPOD or TableModel
        With eigenfunctions.
    X : array-like of shape (n, n_features)
        Rows, paired at random.
    n_draws : int, default=200
        Draws of the signs.
    random_state : int, RandomState or None, default=0
        Of pairs and signs, together with the rows. None means 0.

    Returns
    -------
    Rademacher

    Notes
    -----
    For unit combinations of the eigenfunctions the supremum is the largest ``|eigenvalue|`` of
    ``2/h sum_i sigma_i W_i D_i D_i^T``, D_i the differences of the K functions. For all functions
    with ``u^2 <= B`` it is reached by ``u = -sqrt(B), sqrt(B)`` on the pairs of one sign, for pairs
    are disjoint. So 16 B C / sqrt(n) is no bound for that class: Khinchin's inequality holds for
    one function.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut import GPOD, Gaussian
    >>> X = np.random.default_rng(0).normal(size=(900, 1))
    >>> model = GPOD(2, affinity=Gaussian(1.0)).fit(X[:100])
    >>> rademacher(model, X[100:]).span < rademacher(model, X[100:200]).span
    True
    """
    check_count("n_draws", n_draws, "use the default of 200")
    with measured_on(model, X) as (gpod, rows, _):
        n = rows.shape[0]
        check_enough("X", n)
        fitted, rng = gpod.fitted_cut_, seeded_by(rows, random_state)
        values = fitted.unit_embedding(rows)
        B, C = float(np.square(values).max()), float(fitted.affinity.largest_weight_)
        one, other = rng.permutation(n)[: n // 2 * 2].reshape(2, -1)
        weight = np.array(
            [
                fitted.affinity.within(rows[[i, j]], np.eye(2))[0, 1]
                for i, j in zip(one, other, strict=True)
            ]
        )
    signs = rng.choice([-1.0, 1.0], size=(n_draws, len(weight)))
    suprema = np.array([_of_span(values[one] - values[other], weight * sign) for sign in signs])
    positive, negative = (np.maximum(side * signs, 0.0) @ weight for side in (1, -1))
    bounded = 8 * B * np.maximum(positive, negative) / len(weight)
    return Rademacher(
        span=float(suprema.mean()),
        bounded=float(bounded.mean()),
        by_paper=float(16 * B * C / np.sqrt(n)),
        standard_error=float(suprema.std() / np.sqrt(n_draws)),
        n_rows=n,
    )


def _of_span(differences: Array, weight: Array) -> float:
    """Return the supremum over unit combinations of functions, for one draw of signs."""
    form = differences.T @ (weight[:, np.newaxis] * differences)
    return float(2 / len(weight) * np.abs(np.linalg.eigvalsh(form)).max())
