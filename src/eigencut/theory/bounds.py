"""The paper's bounds, Theorems 1 to 4 and Corollaries 1 and 2, and one with smaller constants.

The latter is for NCut with regularized degrees. With ``m(x) = tau + mean_r W(x, x_r)`` over a
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
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from eigencut._utils.arrays import Array
from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import (
    as_numpy,
    check_choice,
    check_count,
    check_fraction,
    check_magnitude,
)
from eigencut.cut import CUTS
from eigencut.exceptions import invalid
from eigencut.theory.betting import log_fortune, lowest


@dataclass(frozen=True)
class CutTheory:
    """What the theory of one cut has of its own."""

    continuous: str  # where its bounds stand in the paper
    discrete: str
    generalization: str
    # The last term, given K, C, kappa and sqrt(log(2/delta) / n).
    operator_term: Callable[[int, float, float, float], float]
    # The largest 1/2 E W (u - u')^2 of a function of unit norm, given C.
    form_per_norm: Callable[[float], float]
    remark: str
    cost_of_one: str  # what the value of a single cluster is called


THEORIES: dict[str, CutTheory] = {
    "ratiocut": CutTheory(
        "Theorem 1",
        "Theorem 2",
        "Corollary 1",
        lambda K, C, kappa, rate: 2 * math.sqrt(2) * K * kappa * rate,
        lambda C: C,
        "The last term assumes that L(x, y) = p(x, y) - W(x, y) is a continuous kernel, which the "
        "paper takes for granted. With kappa as the rows show it, Corollary 1 is not true in "
        "general: a rare group of rows that the sample lacks refutes it.",
        "cut",
    ),
    "ncut": CutTheory(
        "Theorem 3",
        "Theorem 4",
        "Corollary 2",
        lambda K, C, kappa, rate: K * C * rate,
        lambda C: 2.0,
        "The C of NCut's last term stems from Rosasco et al. (2010), Theorem 15, and is not sup W "
        "in general; the paper writes both with one letter, and so does this bound. It also "
        "assumes that W is bounded away from 0. With C = sup W, Corollary 2 is not true: a rare "
        "group of rows that the sample lacks refutes it.",
        "conductance",
    ),
}


@dataclass(frozen=True)
class Bounds(JsonReady):
    """Bounds of the excess risk, and what they are made of.

    Attributes
    ----------
    continuous : float
        Of ``F(ucheck) - F(u~*)``: eigenfunctions against the best functions (Theorem 1 or 3).
    discrete : float
        Of ``F(udd) - F(u*)``: clusters against the best clusters (Theorem 2 or 4).
    generalization : float
        Of ``F-hat - F(u~*)``: what was measured against the best functions (Corollary 1 or 2).
    terms : dict of str to float
        Every summand. All but the discretization make the continuous bound, all of them the
        discrete one, and the convergence of the operator is the generalization bound.
    confidence : dict of str to float
        The probability with which the paper states each of the three. That of the generalization
        is refuted for C = sup W, and for kappa as rows show it; see ``benchmarks/studies/risk.md``.
    constant : {"paper", "tight"}
    """

    continuous: float
    discrete: float
    generalization: float
    terms: dict[str, float]
    confidence: dict[str, float]
    constant: str


def bounds(
    cut: str,
    n: int,
    n_clusters: int,
    *,
    C: float,
    B: float,
    kappa: float,
    eps: float,
    delta: float = 0.05,
    constant: str = "paper",
) -> Bounds:
    """The paper's bounds of the excess risk for given constants.

    Continuous (Theorems 1 and 3, stated with probability 1 - 2 delta):

        8 C B K (sqrt(1/n) + 2 sqrt(2 log(1/delta) / n))
            + 2 K kappa sqrt(2 log(2/delta)) / sqrt(n)        RatioCut
            + K C sqrt(log(2/delta) / n)                      NCut

    Discrete (Theorems 2 and 4, 1 - 2 delta): the same ``+ 4 C eps``. Generalization (Corollaries 1
    and 2, 1 - delta): the cut's own last term.

    Parameters
    ----------
    cut : {"ncut", "ratiocut"}
    n, n_clusters : int
        Rows and clusters K.
    C : float
        Upper bound of the weight function (Eq. 8).
    B : float
        Upper bound of the squared eigenfunctions.
    kappa : float
        sup L(x, x); enters RatioCut's bounds only.
    eps : float
        ``sum_k ||udd_k - ucheck_k||_2`` of functions of unit norm; ``discretization_cost`` has it.
    delta : float, default=0.05
    constant : {"paper", "tight"}, default="paper"
        The paper's constants, or the least that its proofs give on the same assumptions. "tight"
        has 1/4 where the paper has the factor 2 of ``sqrt(2 log(1/delta) / n)``: the loss lies
        between 0 and 4 C B, so one row moves the supremum by at most 8 C B / n (the paper adds both
        losses, 16 C B / n), and McDiarmid's inequality gives the rest. Its complexity is
        ``4 C B K / sqrt(floor(n / 2))``: a mean over pairs is one over ``floor(n / 2)`` disjoint
        ones, whose losses lie between 0 and 4 C B. Its discretization is ``2 C eps`` for RatioCut
        and ``4 eps`` for NCut; see ``discretization_cost``.

    Returns
    -------
    Bounds

    References
    ----------
    .. [1] S. Li, S. Ouyang, Y. Liu, "Understanding the Generalization Performance of Spectral
       Clustering Algorithms", AAAI Conference on Artificial Intelligence 37(7), 8614-8621, 2023.
    .. [2] L. Rosasco, M. Belkin, E. De Vito, "On Learning with Integral Operators", Journal of
       Machine Learning Research 11, 905-934, 2010.

    Examples
    --------
    >>> result = bounds("ncut", 10_000, 2, C=1.0, B=1.0, kappa=1.0, eps=0.1)
    >>> round(result.terms["complexity of the functions"], 6)
    0.16
    >>> round(result.discrete - result.continuous, 6)
    0.4
    """
    check_choice("cut", cut, tuple(CUTS))
    check_count("n", n, "use the number of training rows")
    check_count("n_clusters", n_clusters, "use the number of clusters")
    check_choice("constant", constant, ("paper", "tight"))
    C = check_magnitude("C", C, "use the largest weight, 1 for a Gaussian")
    B = check_magnitude("B", B, "use the largest squared value of an eigenfunction")
    kappa = check_magnitude("kappa", kappa, "use the largest |d(x) - W(x, x)|")
    eps = check_magnitude("eps", eps, "use discretization_cost(model).epsilon")
    delta = check_fraction("delta", delta, 0.05)

    scale = 8 * C * B * n_clusters
    rate = math.sqrt(math.log(2 / delta) / n)
    theory = THEORIES[cut]
    factor, gap, complexity = 2.0, 4 * C * eps, scale * math.sqrt(1 / n)
    if constant == "tight":
        factor, gap = 0.25, 2 * theory.form_per_norm(C) * eps
        complexity = scale / 2 / math.sqrt(max(n // 2, 1))
    terms = {
        "complexity of the functions": complexity,
        "deviation from the mean": scale * factor * math.sqrt(2 * math.log(1 / delta) / n),
        "convergence of the operator": theory.operator_term(n_clusters, C, kappa, rate),
    }
    continuous = sum(terms.values())
    # Of two events of probability 1 - delta each; beyond delta = 1/2 that says nothing.
    both = max(1 - 2 * delta, 0.0)
    return Bounds(
        continuous=continuous,
        discrete=continuous + gap,
        generalization=terms["convergence of the operator"],
        terms={**terms, "discretization": gap},
        confidence={"continuous": both, "discrete": both, "generalization": 1 - delta},
        constant=constant,
    )


def largest_error(cut: str, n_clusters: int, C: float, B: float) -> float:
    """The largest value that F can have at all: a bound above it says nothing.

    For functions with ``|u|^2 <= B``, ``1/2 E W (u - u')^2 <= 2 C B``. For RatioCut, functions of
    unit norm have ``1/2 E W (u - u')^2 <= C Var(u) <= C``; for NCut, eigenvalues are at most 2. So

        min(2 K C B, K C)   RatioCut,        min(2 K C B, 2 K)   NCut.

    Parameters
    ----------
    cut : {"ncut", "ratiocut"}
    n_clusters : int
        K.
    C, B : float
        Upper bounds of the weight function and of the squared functions.

    Returns
    -------
    float

    Examples
    --------
    >>> largest_error("ratiocut", 3, C=1.0, B=2.0), largest_error("ncut", 3, C=1.0, B=0.5)
    (3.0, 3.0)
    """
    check_choice("cut", cut, tuple(CUTS))
    check_count("n_clusters", n_clusters, "use the number of clusters")
    C = check_magnitude("C", C, "use the largest weight, 1 for a Gaussian")
    B = check_magnitude("B", B, "use the largest squared value of an eigenfunction")
    return float(n_clusters * min(2 * C * B, THEORIES[cut].form_per_norm(C)))


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
    from scipy.spatial.distance import cdist

    return np.asarray(np.exp(-cdist(A, B, "sqeuclidean") / (2 * sigma**2)))
