"""The error of the best use of some functions: orthonormal on the rows it is measured on."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from eigencut.cut import Cut
from eigencut.risk.row_pairs import RowPairs
from eigencut.runtime.arrays import Array

_DEPENDENT = 1e-10  # relative length of what a function adds to the span of those before it


class DependentFunctionsError(ValueError):
    """Functions that cannot be made orthonormal on the rows at hand."""


@dataclass(frozen=True)
class ConstrainedError:
    """``tr(G^-1 E)``, and the functions that have it.

    Attributes
    ----------
    value : float
        The sum of ``per_function``.
    standard_error : float
    per_function : array of shape (K,)
        Ascending; the eigenvalues of E on the span.
    functions : array of shape (n_places, K)
        Orthonormal in L2(rho_M) on the rows, E diagonal.
    sums : array of shape (n_places, K)
        ``pairs.sums(functions)``.
    mass : array of shape (n_places,)
        m(x) of each place times its share of the rows.
    """

    value: float
    standard_error: float
    per_function: Array
    functions: Array
    sums: Array
    mass: Array


def constrained_error(pairs: RowPairs, F: Array, cut: Cut) -> ConstrainedError:
    """The error of functions under the constraint of Eqs. 6, 7 and 11, on the rows of ``pairs``.

    With ``E = F^T (D - W) F`` and ``G = F^T M F`` over pairs of rows it is ``tr(G^-1 E)``: F of any
    orthonormal basis of their span. By Ky Fan's theorem it is not below the sum of the K smallest
    eigenvalues on these rows. The standard error is that of the delta method for U-statistics.

    Parameters
    ----------
    pairs : RowPairs
    F : array of shape (n_places, K)
        The functions' values.
    cut : Cut
    """
    n, degrees = pairs.n_rows, pairs.degrees[:, np.newaxis]
    share = pairs.counts[:, np.newaxis] / n
    mass = degrees**cut.mass_power
    root = np.sqrt(share * mass)
    triangle = np.linalg.qr(root * F)[1]
    length = np.linalg.norm(triangle, axis=0)
    enough = triangle.shape[0] == F.shape[1] and bool(length.all())
    if not enough or (np.abs(triangle.diagonal()) < _DEPENDENT * length).any():
        raise DependentFunctionsError(
            f"X must have rows on which the {F.shape[1]} eigenfunctions are linearly independent. "
            f"Got {n} rows on which they are not; hold out more rows, from every cluster."
        )
    H = np.linalg.solve(triangle.T, F.T).T
    sums = pairs.sums(H) / pairs.n_partners
    E = (share * H).T @ (degrees * H - sums)
    values, turn = np.linalg.eigh((E + E.T) / 2)
    values, H, sums = np.maximum(values, 0.0), H @ turn, sums @ turn
    squares = pairs.sums(H**2) / pairs.n_partners
    # What each row adds to E and to G, the mean of both over rows being E and G.
    to_error = 2 * np.maximum(degrees * H**2 - 2 * H * sums + squares, 0.0) / 2
    to_gram = degrees * H**2 + squares if cut.mass_power else H**2
    influence = (to_error - values * to_gram).sum(axis=1)
    centred = influence - share[:, 0] @ influence
    variance = float(share[:, 0] @ centred**2) * n / (n - 1)
    return ConstrainedError(
        value=float(values.sum()),
        standard_error=math.sqrt(variance / n),
        per_function=values,
        functions=H,
        sums=pairs.n_partners * sums,
        mass=(share * mass)[:, 0],
    )
