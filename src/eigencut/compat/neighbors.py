"""scikit-learn's KNeighborsTransformer by our search: exact, in threads, quick in many dimensions.

For whoever takes such a transformer: ``sc.pp.neighbors(adata, transformer=...)``, pipelines before
``affinity="precomputed_nearest_neighbors"``, t-SNE, Isomap.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.running import threads
from eigencut._utils.validation import check_choice, check_count, check_n_jobs
from eigencut.exceptions import invalid
from eigencut.io.validation import check_rows
from eigencut.neighbors.search import SearchedPoints, allowed_indexes


class KNeighborsTransformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Rows to the sparse graph of their nearest rows of the fit.

    Parameters
    ----------
    mode : {"distance", "connectivity"}, default="distance"
        Distances, with one neighbour more, for a row of the fit is its own first; or ones.
    n_neighbors : int, default=5
    metric : {"euclidean", "cosine", "manhattan", "chebyshev"}, default="euclidean"
    index : {"auto", "kdtree", "brute", "approximate"}, default="auto"
        How neighbours are found; all but "approximate" are exact, and "auto" is for up to 180 000
        rows of 100 features. See ``Neighbors``.
    n_jobs : int or None, default=None
        Threads. None means all cores.

    Attributes
    ----------
    n_samples_fit_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> KNeighborsTransformer(n_neighbors=1).fit_transform(X).toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """

    def __init__(
        self,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
        metric: str = "euclidean",
        index: str = "auto",
        n_jobs: int | None = None,
    ) -> None:
        self.mode = mode
        self.n_neighbors = n_neighbors
        self.metric = metric
        self.index = index
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Keep the rows, in an index.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self : the transformer
        """
        check_choice("mode", self.mode, ("distance", "connectivity"))
        check_choice("metric", self.metric, ("euclidean", "cosine", "manhattan", "chebyshev"))
        check_choice("index", self.index, ("auto", *allowed_indexes(self.metric, False)))
        check_count("n_neighbors", self.n_neighbors, "use the default of 5")
        check_n_jobs(self.n_jobs)
        rows = check_rows(self, X, reset=True)
        with threads(self.n_jobs):
            self._searched = SearchedPoints.build(rows, self.metric, self.index)
        self.n_samples_fit_ = self._n_features_out = len(rows)
        return self

    def transform(self, X: ArrayLike) -> csr_matrix:
        """The nearest rows of the fit, of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        graph : sparse matrix of shape (n_samples, n_samples_fit)
            In each row so many entries as there are neighbours, zeros among them.
        """
        check_is_fitted(self)
        rows = check_rows(self, X, reset=False)
        k = self.n_neighbors + (self.mode == "distance")
        if k > self.n_samples_fit_:
            expected = f"be less than the number of rows ({self.n_samples_fit_})"
            raise invalid("n_neighbors", expected, self.n_neighbors, "lower it")
        searched = self._searched
        with threads(self.n_jobs):
            distances, numbers = searched.index.query(searched.space.points(rows), k)
        values = np.ldexp(distances, searched.space.exponent)
        if self.mode == "connectivity":
            values = np.ones(numbers.shape)
        elif self.metric == "cosine":
            values = distances**2 / 2  # 1 - cos, as scikit-learn has it, instead of the chord
        starts = np.arange(0, numbers.size + 1, k)
        shape = (len(rows), self.n_samples_fit_)
        return csr_matrix((values.ravel(), numbers.ravel(), starts), shape=shape)
