"""From smooth functions to classes: least squares on the known rows, around the clusters.

The clusters of the cut without labels, numbered to agree with the known ones, are scores ``u A0``
of the first K functions: their rotation, times what brings them nearest to the known classes. What
is known corrects them, with P >= K functions,

    minimize  sum_i | e_(y_i) - phi_i A |^2 + gamma sum_k (lambda_k / lambda_(K+1) + 1) |A - A0|_k^2

over the known rows i, ``phi_i`` being the row ``u(x_i)`` of unit length: rough functions are
corrected least, and without labels nothing is. In the span of all eigenfunctions this is the
Laplacian-regularized least squares of Belkin, Niyogi and Sindhwani. P and gamma are weighed by what
each says of a known row that was left out, which has a closed form. Where the clusters say more of
the known classes than the shares of these do, no correction is made unless it says still more, each
by a standard error; where they do not, maps around ``A0 = 0`` are weighed too. Of a class that no
row is known of labels say nothing: its scores stay those of its cluster.

References
----------
.. [1] M. Belkin, P. Niyogi, V. Sindhwani, "Manifold Regularization", Journal of Machine Learning
   Research 7, 2399-2434, 2006.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from eigencut.discretization import normalize_rows
from eigencut.runtime.arrays import Array, Indices

# Chosen on generated data and on other sets than those of the learning curve: see
# benchmarks/studies/known_labels.md.
_GAMMAS = (0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 100.0)
_FACTORS = (1.0, 1.5, 2.0, 3.0, 5.0)  # of K: how many functions are tried
_COUNTS = (10, 20, 30)  # and, where K is small, so many
_SHARPNESS = 0.3  # of the weights of what was tried; large takes the best alone
_STANDARD_ERRORS = 1.0  # by which one must be better than another
_LEAST_CLASSES = 2  # that are known of, to correct clusters by: one alone would be all rows
_LEAST_SCALE = 0.1
_LEAST_SHARE = 0.1  # of the largest eigenvalue: the least that roughness is measured by
_LEAST = 1e-9


@dataclass(frozen=True)
class Agreement:
    """How well a cut agrees with known labels.

    Attributes
    ----------
    errors : array of shape (n_known,)
        The squared error of each known row: if it is left out, where labels have corrected the
        clusters, and else of the clusters, scaled to the labels.
    is_corrected : bool
        Whether they have.
    """

    errors: Array
    is_corrected: bool

    @property
    def error(self) -> float:
        return float(self.errors.mean())


class LabelMap(NamedTuple):
    """Scores of classes, a column of ``matrix`` for each; and how well they agree with labels."""

    matrix: Array
    agreement: Agreement


def numbered_like(scores: Array, classes: Indices, n_clusters: int) -> Indices:
    """For each class the cluster that it is, given the scores of known rows along the clusters.

    Classes that are known to none of the rows are the clusters that remain, in their order.
    """
    votes = np.zeros((n_clusters, n_clusters))
    np.add.at(votes.T, classes, scores)
    seen = np.unique(classes)
    clusters, places = linear_sum_assignment(votes[:, seen], maximize=True)
    cluster_of = np.full(n_clusters, -1, dtype=np.intp)
    cluster_of[seen[places]] = clusters
    cluster_of[cluster_of < 0] = np.setdiff1d(np.arange(n_clusters), clusters)
    return cluster_of


def label_map(values: Array, classes: Indices, rotation: Array, eigenvalues: Array) -> LabelMap:
    """Fit the map from functions to classes.

    Parameters
    ----------
    values : array of shape (n_known, n_functions)
        The functions at the known rows.
    classes : array of shape (n_known,)
        Their classes.
    rotation : array of shape (K, K)
        Carries the first K functions to the clusters, in the order of the classes.
    eigenvalues : array of shape (n_functions,)
        Of the functions, ascending.
    """
    targets = np.eye(len(rotation))[classes]
    is_seen = targets.any(axis=0)
    tried = _tried(values, targets, rotation, eigenvalues)
    of_clusters = tried[0]
    is_trusted = _is_clearly_better(of_clusters.errors, _errors_of_shares(targets))
    if not is_trusted and is_seen.all():
        tried += _tried(values, targets, np.zeros_like(rotation), eigenvalues)
    means = np.array([one.errors.mean() for one in tried])
    best = int(np.argmin(means))
    is_clear = _is_clearly_better(tried[best].errors, of_clusters.errors)
    if is_seen.sum() < _LEAST_CLASSES or (is_trusted and not is_clear):
        return LabelMap(of_clusters.matrix, Agreement(of_clusters.errors, is_corrected=False))
    exponent = _SHARPNESS * len(classes) * (means - means[best]) / (2 * max(means[best], _LEAST))
    weights = np.exp(-exponent) / np.exp(-exponent).sum()
    matrix, left_out = (
        np.tensordot(weights, np.array(of_all), 1)
        for of_all in ([one.matrix for one in tried], [one.left_out for one in tried])
    )
    return LabelMap(matrix, Agreement(np.square(left_out).sum(axis=1), is_corrected=True))


class _Tried(NamedTuple):
    """A map, and how far off each known row is if it is left out."""

    matrix: Array
    left_out: Array

    @property
    def errors(self) -> Array:
        return np.asarray(np.square(self.left_out).sum(axis=1))


def _tried(values: Array, targets: Array, rotation: Array, eigenvalues: Array) -> list[_Tried]:
    """The clusters as they are, and what corrects them by several P and gamma."""
    n_functions, K = values.shape[1], len(rotation)
    # A graph that is nearly in more than K pieces must not make all else infinitely rough.
    least = max(_LEAST_SHARE * float(eigenvalues[-1]), _LEAST)
    scale = max(float(eigenvalues[min(K, n_functions - 1)]), least)
    found = []
    for P in _numbers_of_functions(K, n_functions):
        phi = normalize_rows(values[:, :P])
        start = np.zeros((n_functions, K))
        start[:K] = _scale(phi[:, :K] @ rotation, targets) * rotation
        missing = np.where(targets.any(axis=0), targets - phi @ start[:P], 0.0)
        found.append(_Tried(start, missing))
        for gamma in _GAMMAS:
            penalty = gamma * (eigenvalues[:P] / scale + 1.0)
            correction, left_out = regularized_least_squares(phi, missing, penalty)
            corrected = start + np.pad(correction, ((0, n_functions - P), (0, 0)))
            found.append(_Tried(corrected, left_out))
    return found


def _errors_of_shares(targets: Array) -> Array:
    """Squared errors of what knows only the shares of the classes.

    No row is left out, for neither is one when clusters take the numbers and scale of the classes.
    """
    return np.asarray(np.square(targets - targets.mean(axis=0)).sum(axis=1))


def regularized_least_squares(phi: Array, targets: Array, penalty: Array) -> tuple[Array, Array]:
    """``argmin |targets - phi A|^2 + sum_k penalty_k |A_k|^2``; and how far off it is at each row
    when that is left out.
    """
    gram = phi.T @ phi + np.diag(penalty)
    inverse = np.linalg.solve(gram, phi.T)
    coefficients = inverse @ targets
    leverage = np.einsum("ij,ji->i", phi, inverse)
    remaining = np.maximum(1 - leverage, _LEAST)[:, np.newaxis]
    return coefficients, (targets - phi @ coefficients) / remaining


def _scale(scores: Array, targets: Array) -> float:
    """What to multiply scores by, lest a correction look better that only makes them larger."""
    best = float((scores * targets).sum() / max(float(np.square(scores).sum()), _LEAST))
    return max(best, _LEAST_SCALE)


def _is_clearly_better(errors: Array, others: Array) -> bool:
    """Whether errors of the same rows are less, by more than chance."""
    gain = others - errors
    if len(gain) < 2:
        return False
    return bool(gain.mean() > _STANDARD_ERRORS * gain.std(ddof=1) / np.sqrt(len(gain)))


def _numbers_of_functions(K: int, available: int) -> list[int]:
    wanted = {int(factor * K) for factor in _FACTORS} | {*_COUNTS, available}
    return sorted(P for P in wanted if K <= P <= available)
