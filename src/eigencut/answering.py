"""What a fitted model answers for rows: the methods of GPOD that ask its fitted cut."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import threads
from eigencut._utils.validation import check_choice
from eigencut.discretization import Partition, pod
from eigencut.extension.cluster_numbers import ClusterNumbers
from eigencut.fitted import FittedCut
from eigencut.inspection.describe import DescribingMixin
from eigencut.io.refused_rows import naming_refused_rows
from eigencut.io.rows import Rows, write_labels, write_rows
from eigencut.io.validation import check_rows, check_stream

if TYPE_CHECKING:
    from eigencut.hierarchy.hierarchy import Hierarchy
    from eigencut.inspection.description import Labelled

Answer = TypeVar("Answer")


class AnsweringMixin(DescribingMixin, TransformerMixin):  # which wraps transform for set_output
    """Labels, margins, probabilities, embedding and support of rows, checked first."""

    fitted_cut_: FittedCut
    n_init: int
    numbering_: ClusterNumbers
    n_jobs: int | None
    outliers: str
    random_state: Any

    @property
    def cluster_numbers_(self) -> Indices:
        """The numbers of the clusters, ascending; see ``update`` for where they have gaps."""
        return self.numbering_.numbers

    def _answer(self, X: Any, question: Callable[[Array], Answer], at_least: int = 1) -> Answer:
        """What the fitted cut has to say of the rows of X, once they are checked."""
        check_is_fitted(self)
        narrow = self.fitted_cut_.affinity.streams  # which reads few rows at a time
        rows = check_rows(self, X, reset=False, at_least=at_least, keeps_narrow=narrow)
        with threads(self.n_jobs), self._naming_rows(rows):
            return question(rows)

    def _naming_rows(self, rows: Any) -> AbstractContextManager[None]:
        """Rows that are refused within are named by their place among these."""
        return naming_refused_rows(rows, getattr(self, "feature_names_in_", None))

    def predict(self, X: ArrayLike) -> Indices:
        """The cluster of each row, by the fitted rotation; a row's label ignores its company.

        The numbers are those of ``labels_``; -1 for rows without support if ``outliers="label"``.
        """
        return self._answer(X, self._labels)

    def _labels(self, rows: Array) -> Indices:
        found = self.fitted_cut_.labels(rows, mark_outliers=self.outliers == "label")
        return self.numbering_.of_labels(found)

    def predict_stream(self, rows: Rows, path: str | os.PathLike[str]) -> int:
        """Write the cluster of each row of a stream to a ``.npy`` file, block by block.

        The file takes its name only when it is complete.

        Parameters
        ----------
        rows : eigencut.Rows
        path : path
            ``numpy.load(path, mmap_mode="r")`` reads it.

        Returns
        -------
        n_rows : int
        """
        check_is_fitted(self)
        check_stream(self, rows)
        with threads(self.n_jobs), self._naming_rows(rows):
            return write_labels(path, rows, self._labels, self.numbering_.n_given)

    def predict_proba(self, X: ArrayLike) -> Array:
        """The probability of each cluster, for each row: how sure its label is.

        With other training rows from the same source, a row would get the label k about that often
        (``docs/probabilities.md`` says how well that holds, and on what data). Rows sum to 1, and
        the largest, of equal ones the first, is the label: ``predict`` with ``outliers="keep"``,
        which differs from the label only where that is -1. The logarithm of the ratio of the
        largest and the second largest is the margin, divided by ``fitted_cut_.temperature``; with
        more than two clusters the largest itself also depends on the others, and need not grow with
        the margin from row to row. A row without support has equal probabilities, but for rounding.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probabilities : array of shape (n_samples, K)
            Column k is cluster k; after an ``update`` those of clusters that have gone are 0. Of
            many rows at once accurate to about 1e-4, otherwise to rounding.
        """
        return self._answer(X, self._probabilities)

    def _probabilities(self, rows: Array) -> Array:
        return self.numbering_.of_columns(self.fitted_cut_.probabilities(rows))

    def predict_proba_stream(self, rows: Rows, path: str | os.PathLike[str]) -> int:
        """Write the probabilities of each row of a stream to a ``.npy`` file, block by block.

        The file takes its name only when it is complete.

        Parameters
        ----------
        rows : eigencut.Rows
        path : path
            ``numpy.load(path, mmap_mode="r")`` reads it: K numbers of 8 bytes for each row.

        Returns
        -------
        n_rows : int
        """
        check_is_fitted(self)
        check_stream(self, rows)
        with threads(self.n_jobs), self._naming_rows(rows):
            shape = (self.numbering_.n_given,)
            return write_rows(path, rows, self._probabilities, np.float64, shape)

    def predict_set(
        self, X: ArrayLike, coverage: float = 0.9, *, calibration: Any
    ) -> NDArray[np.bool_]:
        """The clusters that each row may belong to, with a guarantee.

        The set of a new row holds, with probability ``coverage`` at least, the label that the row
        gets in a refit on the training rows, it and a few other new rows. That is an average over
        rows, for new rows of the distribution of the held-out ones; it is no statement on a single
        row, nor on classes. ``eigencut.inspection.label_sets`` says it in full.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
        calibration : array-like of shape (m, n_features) or LabelSets
            Rows that played no part in the fit, 20 of them or (better) hundreds, on which the model
            is calibrated by 20 refits. To do that once for many calls, or for a model that has not
            kept its training rows, pass ``eigencut.inspection.label_sets(model, X_heldout)``.

        Returns
        -------
        sets : array of bool of shape (n_samples, K)
            Whether each cluster is in the set of each row. The label of ``predict`` always is.
        """
        from eigencut.inspection.label_sets import LabelSets, label_sets

        check_is_fitted(self)
        is_done = isinstance(calibration, LabelSets)
        sets = calibration if is_done else label_sets(self, calibration)
        if sets.model.fitted_cut_ is not self.fitted_cut_:
            raise ValueError(
                "calibration must be of this model as it is fitted now. Got label sets of another "
                "fit; calibrate again: eigencut.inspection.label_sets(model, X_heldout)."
            )
        return sets.predict_set(X, coverage)

    def predict_margin(self, X: ArrayLike) -> Array:
        """How clearly each row belongs to its cluster, between 0 (torn) and 1 (certain).

        The rotated row of unit length has a coordinate per cluster; the margin is the difference of
        the largest and the second largest, negative ones counting as 0. Rows with less support than
        training rows have count for less, ``d(x)`` divided by the least of theirs (the
        ``outlier_quantile``): far from all training rows nothing is certain, and the margin 0.
        """
        return self._answer(X, lambda rows: self.fitted_cut_.margins(rows))

    def transform(self, X: ArrayLike, *, dtype: Any = np.float64) -> NDArray[Any]:
        """The eigenfunctions at each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        dtype : {numpy.float64, numpy.float32}
            float64 is accurate to rounding; float32 is about three times as fast, and accurate to
            about 1e-6 of a row's length.

        Returns
        -------
        embedding : array of shape (n_samples, K)
        """
        if np.dtype(dtype) not in (np.float64, np.float32):
            raise ValueError(f"dtype must be float64 or float32. Got {dtype!r}; leave it out.")
        return self._answer(X, lambda rows: self.fitted_cut_.embedding(rows, dtype))

    def score_samples(self, X: ArrayLike) -> Array:
        """Support of each row: the log of its mean affinity to the training rows, log d(x)."""
        return self._answer(X, lambda rows: self.fitted_cut_.support(rows))

    def hierarchy(self) -> Hierarchy:
        """The clusters as a tree: which of them are one group in coarser cuts, down to one group.

        From the fitted model alone, without its rows. See ``docs/describe.md``.

        Returns
        -------
        Hierarchy

        Examples
        --------
        >>> import numpy as np
        >>> from eigencut import GPOD
        >>> places = np.repeat([[0.0, 0], [0, 6], [40, 0]], 30, axis=0)
        >>> X = places + np.random.default_rng(0).normal(size=(90, 2))
        >>> model = GPOD(3).fit(X)
        >>> far = model.predict([[40.0, 0]])[0]
        >>> bool((model.hierarchy().labels(2) == far).sum() == 1)
        True
        """
        from eigencut.hierarchy.hierarchy import hierarchy_of

        check_is_fitted(self)
        self.numbering_.refuse_gaps("hierarchy")
        with threads(self.n_jobs):
            return hierarchy_of(self.fitted_cut_)

    def _labelled(self, X: Any) -> Labelled:
        from eigencut.inspection.description import Labelled

        def asked(rows: Array) -> Labelled:
            affinity, marks = self.fitted_cut_.affinity, self.outliers == "label"
            found = self.fitted_cut_.answers(rows, mark_outliers=marks)
            points = None if affinity.pairwise else rows
            metric = getattr(affinity, "metric", "euclidean")
            of_rows = (found.labels, found.margins, points, self.n_clusters_, str(metric))
            return Labelled(*of_rows, self.cluster_numbers_)

        return self._answer(X, asked)

    def predict_batch(self, X: ArrayLike, *, init: str = "fitted") -> Partition:
        """Cluster the rows together: Algorithms 1 and 2 of the paper.

        POD runs on the extended eigenvectors of this batch, so it lowers the discretization gap of
        the new rows themselves; a row's label can then depend on its company.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        init : {"fitted", "random", "literal"}
            Start from the fitted rotation, which keeps the numbers of clusters; or several times
            from random rows, which numbers clusters anew by size; or once, as Algorithm 3 does.

        Returns
        -------
        Partition
        """
        check_choice("init", init, ("fitted", "random", "literal"))
        U = self.transform(X)
        starts = {"fitted": self.fitted_cut_.rotation, "random": None, "literal": "literal"}
        start: Any = starts[init]
        return pod(U, init=start, n_init=self.n_init, random_state=self.random_state)

    def score(
        self, X: ArrayLike, y: Any = None, *, sample_weight: ArrayLike | None = None
    ) -> float:
        """Minus the error F per cluster on the rows of X; larger is better.

        The U-statistic over pairs of rows of the extended eigenfunctions, in the population
        normalization (functions of unit norm on the training rows). With "precomputed" affinities
        the pairs are of a row of X and a training row.

        It compares fits with one weight function, one cut and one K. Across them it misleads:
        smaller weights (a smaller sigma), fewer clusters and RatioCut have smaller errors, whatever
        the data. To choose sigma or K use ``eigencut.select``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts; weights that are no integers count together as many rows
            as ``(sum w)^2 / sum w^2``.

        Returns
        -------
        score : float
        """

        from eigencut.theory.errors import held_out_error

        def error(rows: Array) -> float:
            return held_out_error(self.fitted_cut_, rows, sample_weight)

        return -self._answer(X, error, at_least=2)
