"""Bringing a fitted model up to date: the methods of GPOD that add rows to what it has seen."""

from __future__ import annotations

from numbers import Real
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.progress import all_or_nothing, reporting
from eigencut._utils.threads import threads
from eigencut.extension.cluster_numbers import ClusterNumbers
from eigencut.extension.labelling import OUTLIER
from eigencut.graphs.components import knowing_pieces
from eigencut.io.refused_rows import naming_refused_rows
from eigencut.io.rows import Rows
from eigencut.io.validation import check_rows, check_stream, check_weights_of
from eigencut.semi_supervised.known_labels import warn_of_labels

if TYPE_CHECKING:
    from eigencut.updating.drift import Drift
    from eigencut.updating.refit import Updated


def _keeps_rows(model: Any) -> bool:
    """Not of a precomputed matrix, to which rows cannot be added."""
    return not get_tags(model).input_tags.pairwise


class UpdatingMixin:
    """``update``, ``partial_fit`` and ``drift``."""

    updated_: Updated
    labels_: Indices

    # The estimator's, and what it asks its fitted cut.
    n_jobs: Any
    verbose: Any
    outliers: Any
    fit: Any
    fitted_cut_: Any
    n_components_found_: int
    numbering_: Any
    partition_: Any
    _answer: Any
    _check_parameters: Any
    _keep: Any
    _labels: Any
    __sklearn_is_fitted__: Any

    def update(
        self,
        X: ArrayLike | Rows,
        *,
        sample_weight: ArrayLike | None = None,
        decay: float = 1.0,
    ) -> Self:
        """Refit the model as if it had seen these rows too; clusters keep their numbers.

        The model itself changes, as a whole or, if anything is wrong, not at all. With landmarks
        only the new rows are passed over, and the result is, bit for bit, that of a fit of all rows
        with the same landmarks and K; where clearly more rows than usual are without support,
        landmarks are placed for these first. Neighbours and complete graphs are fitted again on the
        rows that they keep and the new ones. With ``n_clusters="auto"`` the number of clusters is
        chosen anew.

        A cluster goes on under its number if it shares more than half of the rows of the smaller of
        the two with a cluster of before; other clusters are new, and get numbers that were never
        given. The number of a cluster that has gone is not given again, and its column of
        ``predict_proba`` stays, with zeros. ``updated_`` says which are which, and ``labels_`` are
        those of the rows of X. See ``docs/living-models.md``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or ``eigencut.Rows``, with landmarks.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts, as in ``fit``.
        decay : float, default=1.0
            What each row that the model has seen before counts from now on, above 0 and at most 1.
            Below 1 sums are rounded, to 1e-10 of a row, and rows that count less than a
            sixty-fourth are forgotten.

        Returns
        -------
        self : the model
        """
        check_is_fitted(self)
        self._check_parameters()
        decay = checked_decay(decay)
        quiet = knowing_pieces(self.n_components_found_ > 1)
        with all_or_nothing(self) as model, threads(self.n_jobs), reporting(self.verbose), quiet:
            refuse_nothing(X, "update by")
            source = _checked_rows(model, X)
            with naming_refused_rows(source, getattr(self, "feature_names_in_", None)):
                model._update(source, check_weights_of(source, sample_weight), decay)
        return self

    @available_if(_keeps_rows)
    def partial_fit(
        self,
        X: ArrayLike | Rows,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        decay: float = 1.0,
    ) -> Self:
        """``fit`` at the first call, ``update`` at later ones; ``labels_`` are of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
            Known classes are for ``fit``: a warning says so.
        sample_weight : array-like of shape (n_samples,), optional
        decay : float, default=1.0
            As of ``update``.

        Returns
        -------
        self : the model
        """
        warn_of_labels(y)
        if not self.__sklearn_is_fitted__():
            checked_decay(decay)
            return self.fit(X, sample_weight=sample_weight)
        return self.update(X, sample_weight=sample_weight, decay=decay)

    def drift(self, X: ArrayLike, *, random_state: int | None = None) -> Drift:
        """Say how rows differ from those that the model has seen; nothing changes.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New rows, in memory: of a stream some of its blocks.
        random_state : int, RandomState or None
            Of the rows that are left out to compare with. None means 0.

        Returns
        -------
        Drift
            The share of rows without support, the shares of clusters and the value of the cut,
            before and now, each with a p-value; and whether a new cluster stands out.
        """
        from eigencut.updating.drift import drift_of

        check_is_fitted(self)
        refuse_nothing(X, "compare")
        return self._answer(X, lambda rows: drift_of(self, rows, random_state))

    def _update(self, source: Any, sample_weight: Array | None, decay: float) -> None:
        from eigencut.updating.refit import Updated, continued, match_clusters, refitted

        before = self.numbering_
        found = refitted(self, source, sample_weight, decay)
        matched = match_clusters(found.shared, len(before.numbers), found.sizes)
        columns, numbers = continued(before, matched, found.sizes)
        fitted = found.fitted.reordered(columns)
        self._keep(fitted, None, None, numbers=numbers)
        if found.has_new_rows and self.outliers == "keep":
            self.labels_ = numbers.of_labels(fitted.labels_at(found.graph, source))
        elif not isinstance(source, Rows):
            self.labels_ = self._labels(source)
        sizes = found.sizes[columns]
        self.updated_ = Updated.of(before, numbers, sizes, found.n_new_landmarks)

    def _renumber(self, columns: Indices, numbers: ClusterNumbers) -> None:
        """Put clusters in another order, and give them these numbers.

        All else stays, but ``labels_`` of the rows of an update, which were those of their numbers.
        """
        of_rows = hasattr(self, "labels_") and not hasattr(self, "updated_")
        labels = np.argsort(columns)[self.partition_.labels] if of_rows else None
        outside = self.labels_ == OUTLIER if of_rows else None
        embedding = self.__dict__.get("embedding_")
        fitted = self.fitted_cut_.reordered(columns)
        self._keep(fitted, labels, embedding, outside, numbers)


def _checked_rows(model: Any, X: Any) -> Any:
    """Rows in memory or a stream, with the columns of the fit."""
    if not isinstance(X, Rows):
        return check_rows(model, X, reset=False)
    check_stream(model, X)
    if not model.affinity_.streams:
        raise TypeError(
            f"X must be rows in memory for a model with {type(model.affinity_).__name__}. Got "
            "eigencut.Rows; use affinity='landmarks'."
        )
    return X


def refuse_nothing(X: Any, purpose: str) -> None:
    """An error for rows that are none; and for a stream, of which some rows are to be compared."""
    if isinstance(X, Rows) and purpose == "compare":
        raise TypeError(
            "X must be rows in memory to compare. Got a stream, eigencut.Rows; pass the table, or "
            "a few thousand of its rows, which say as much."
        )
    shape = getattr(X, "shape", None) or np.shape(X if isinstance(X, (list, tuple)) else 0)
    if shape and isinstance(shape[0], int) and shape[0] == 0:
        raise ValueError(
            f"X must have at least one row to {purpose}. Got none; leave such a table out."
        )


def checked_decay(decay: Any) -> float:
    is_number = isinstance(decay, Real) and not isinstance(decay, bool)
    if not (is_number and 0 < decay <= 1):
        raise ValueError(
            f"decay must be a number above 0 and at most 1. Got {decay!r}; use 1 to forget nothing."
        )
    return float(decay)
