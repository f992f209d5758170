"""A bound of the excess risk with smaller constants than the paper's: research, not an interface.

It is for NCut with regularized degrees. With ``m(x) = tau + mean_r W(x, x_r)`` over a
reference sample of its own, the kernel

    k(x, y) = W(x, y) / sqrt(m(x) m(y)) = <psi(x), psi(y)>,    k(x, x) <= kappa = 1 / tau,

is fixed before the other rows are seen. K functions V hold ``E |P_V psi(x)|^2`` of it, the best of
them ``S*``, the sum of the K largest eigenvalues of ``E psi psi^T``. For a fit on n rows

    S* <= E S_n,    E S_n - S_n <= sqrt(2 kappa E(S_n) log(1 / delta) / n),

S_n the sum of its own K largest eigenvalues: it is convex in the sample, and ``n S_n / kappa`` is
self-bounding (without row i it falls by ``|P psi_i|^2 / kappa`` at most, which adds up to itself).
Bets on held-out rows bound ``E |P_V psi|^2`` from below (``theory/betting.py``).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.distance import cdist
from sklearn.utils import check_array

from eigencut._utils.arrays import Array
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import as_numpy, check_count, check_fraction, check_magnitude
from eigencut.exceptions import invalid
from eigencut.theory.betting import log_fortune, lowest


@dataclass(frozen=True)
class ExcessBound(JsonReady):
    """A bound of the excess risk of K functions that were fitted, against the best K functions.

    Attributes
    ----------
    bound : float
        ``S* - E |P_V psi(x)|^2`` is at most this with probability ``confidence``.
    best_at_most : float
        The upper limit of S*.
    fitted_at_least : float
        The lower limit of ``E |P_V psi(x)|^2``.
    empirical, held_out : float
        S_n, and the mean of ``|P_V psi(x)|^2`` over the held-out rows.
    n_clusters : int
        K: about what K functions can hold at most, and so the largest excess.
    tau, kappa : float
    confidence : float
    """

    bound: float
    best_at_most: float
    fitted_at_least: float
    empirical: float
    held_out: float
    n_clusters: int
    tau: float
    kappa: float
    confidence: float

    def __str__(self) -> str:
        return (
            f"The excess risk is at most {self.bound:.3g} ({self.confidence:.0%}): the best K "
            f"functions hold {self.best_at_most:.3g} at most, these {self.fitted_at_least:.3g} "
            "at least"
        )


def excess_bound(
    X: ArrayLike,
    X_heldout: ArrayLike,
    X_reference: ArrayLike,
    *,
    n_clusters: int,
    sigma: float,
    tau: float | None = None,
    delta: float = 0.025,
) -> ExcessBound:
    """Bound the excess risk of the K functions of regularized NCut, fitted on X.

    Parameters
    ----------
    X : array-like of shape (n, n_features)
        The rows of the fit.
    X_heldout : array-like of shape (m, n_features)
        Rows that played no part in it.
    X_reference : array-like of shape (r, n_features)
        Further rows, of which degrees are made.
    n_clusters : int
        K.
    sigma : float
        Of the Gaussian weights, chosen without X and ``X_heldout``.
    tau : float, optional
        What is added to degrees. Default: the median degree of the reference rows. The smaller it
        is, the nearer is the problem to NCut, and the larger the bound.
    delta : float, default=0.025
        Each of the two limits holds with probability 1 - delta.

    Returns
    -------
    ExcessBound

    Notes
    -----
    **What is bounded.** ``S* - E |P_V psi(x)|^2`` is F(V) - F(best) of Theorem 3, for functions
    that are combinations of ``psi`` and with ``m`` for the degree: how much more of the weights the
    best K functions would hold together than those fitted, on the population. It holds for every n
    and m, if the three samples are independent draws from one distribution. It says nothing of the
    rotation to clusters.

    References
    ----------
    .. [1] S. Boucheron, G. Lugosi, P. Massart, "On concentration of self-bounding functions",
       Electronic Journal of Probability 14, 1884-1899, 2009.
    .. [2] J. Shawe-Taylor, C. K. I. Williams, N. Cristianini, J. Kandola, "On the eigenspectrum of
       the Gram matrix and the generalization error of kernel-PCA", IEEE Transactions on
       Information Theory 51, 2510-2522, 2005.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> samples = [rng.normal(size=(300, 1)) for _ in range(3)]
    >>> round(excess_bound(*samples, n_clusters=1, sigma=1.0).bound, 3)
    0.171
    """
    rows, held_out, reference = (check_array(as_numpy(one)) for one in (X, X_heldout, X_reference))
    check_count("n_clusters", n_clusters, "use the number of clusters")
    n = len(rows)
    if n_clusters > n:
        raise invalid("n_clusters", f"be at most the {n} rows", n_clusters, "pass more rows")
    if check_magnitude("sigma", sigma, "use a length of the data") == 0:
        raise invalid("sigma", "be above 0", 0, "use a length of the data")
    delta = check_fraction("delta", delta, 0.025)
    if tau is None:
        among = _weights(reference, reference, sigma)
        tau = float(np.median((among.sum(axis=1) - 1) / max(len(reference) - 1, 1)))
    elif check_magnitude("tau", tau, "leave it out if unsure") == 0:
        raise invalid("tau", "be above 0", 0, "leave it out if unsure")
    kappa, log = 1 / tau, math.log(1 / delta)

    def root_mass(some: Array) -> Array:
        return np.asarray(np.sqrt(tau + _weights(some, reference, sigma).mean(axis=1)))

    root, root_heldout = root_mass(rows), root_mass(held_out)
    values, vectors = np.linalg.eigh(_weights(rows, rows, sigma) / np.outer(root, root) / n)
    values, vectors = values[-n_clusters:], vectors[:, -n_clusters:]
    to_rows = _weights(held_out, rows, sigma) / np.outer(root_heldout, root)
    held = np.square(to_rows @ vectors / np.sqrt(n * values)).sum(axis=1)
    total, a = float(values.sum()), 2 * kappa * log / n
    best = ((math.sqrt(a) + math.sqrt(a + 4 * total)) / 2) ** 2
    least = kappa * lowest(lambda mean: log_fortune(np.minimum(held / kappa, 1.0), mean), log)
    return ExcessBound(
        bound=best - least,
        best_at_most=best,
        fitted_at_least=least,
        empirical=total,
        held_out=float(held.mean()),
        n_clusters=n_clusters,
        tau=tau,
        kappa=kappa,
        confidence=max(1 - 2 * delta, 0.0),
    )


def _weights(A: Array, B: Array, sigma: float) -> Array:
    return np.asarray(np.exp(-cdist(A, B, "sqeuclidean") / (2 * sigma**2)))
