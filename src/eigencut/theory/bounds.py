"""The paper's bounds of the excess risk, Theorems 1 to 4 and Corollaries 1 and 2."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from eigencut._utils.json_ready import JsonReady
from eigencut._utils.validation import check_choice, check_count, check_fraction, check_magnitude
from eigencut.cut import CUTS


@dataclass(frozen=True)
class CutTheory:
    """What differs between the theories of NCut and RatioCut."""

    continuous: str  # names of its bounds in the paper
    discrete: str
    generalization: str
    # The last term, given K, C, kappa and sqrt(log(2/delta) / n).
    operator_term: Callable[[int, float, float, float], float]
    # The largest 1/2 E W (u - u')^2 of a function of unit norm, given C.
    form_per_norm: Callable[[float], float]
    remark: str
    cost_of_one: str  # the name of a single cluster's value

    def largest_error(self, n_clusters: int, C: float, B: float) -> float:
        """Return the largest possible value of F: a bound above it is vacuous."""
        return float(n_clusters * min(2 * C * B, self.form_per_norm(C)))


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
    """Bounds of the excess risk, and their terms.

    Attributes
    ----------
    continuous, discrete, generalization : float
        Bounds of ``F(ucheck) - F(u~*)``, eigenfunctions against best functions (Theorem 1 or 3);
        of ``F(udd) - F(u*)``, clusters against best clusters (Theorem 2 or 4); and
        of ``F-hat - F(u~*)``, training error against best functions (Corollary 1 or 2).
    terms : dict of str to float
        All terms. Their sum is the discrete bound, and without the discretization the continuous
        one.
    constant : {"paper", "tight"}
    """

    continuous: float
    discrete: float
    generalization: float
    terms: dict[str, float]
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
    """Return the paper's bounds of the excess risk for given constants.

    Continuous (Theorems 1 and 3, stated with probability 1 - 2 delta):

        8 C B K (sqrt(1/n) + 2 sqrt(2 log(1/delta) / n))
            + 2 K kappa sqrt(2 log(2/delta)) / sqrt(n)        RatioCut
            + K C sqrt(log(2/delta) / n)                      NCut

    Discrete (Theorems 2 and 4, 1 - 2 delta): the same ``+ 4 C eps``. Generalization (Corollaries 1
    and 2, 1 - delta): the cut's own last term. It is refuted for C = sup W, and for kappa computed
    from the rows (``benchmarks/studies/risk.md``).

    Parameters
    ----------
    cut : {"ncut", "ratiocut"}
    n, n_clusters : int
        Rows and clusters K.
    C, B, kappa : float
        Upper bounds of the weight function (Eq. 8) and of the squared eigenfunctions; and
        sup L(x, x), which is used for RatioCut only.
    eps : float
        ``sum_k ||udd_k - ucheck_k||_2`` of functions of unit norm; ``assess`` returns it.
    delta : float, default=0.05
    constant : {"paper", "tight"}, default="paper"
        The paper's constants, or the least that its proofs give on the same assumptions: "tight"
        has 1/4 where the paper has the factor 2 of ``sqrt(2 log(1/delta) / n)``, the complexity
        ``4 C B K / sqrt(floor(n / 2))``, and the discretization ``2 C eps`` for RatioCut, ``4 eps``
        for NCut. ``benchmarks/studies/risk.md`` says why.

    Returns
    -------
    Bounds

    References
    ----------
    .. [1] L. Rosasco, M. Belkin, E. De Vito, "On Learning with Integral Operators", Journal of
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
    eps = check_magnitude("eps", eps, "use assess(model).epsilon")
    delta = check_fraction("delta", delta, 0.05)

    theory, scale, rate = THEORIES[cut], 8 * C * B * n_clusters, math.sqrt(math.log(2 / delta) / n)
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
    return Bounds(
        continuous=continuous,
        discrete=continuous + gap,
        generalization=terms["convergence of the operator"],
        terms={**terms, "discretization": gap},
        constant=constant,
    )
