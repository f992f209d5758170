"""``SpectralClustering`` with scikit-learn's parameters and ``predict``, for existing code."""

from __future__ import annotations

from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import qr
from scipy.sparse import csr_array, issparse
from sklearn.cluster import KMeans
from sklearn.cluster import SpectralClustering as OfScikitLearn
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_symmetric
from sklearn.utils.validation import check_is_fitted, validate_data

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.running import warn_user
from eigencut._utils.validation import as_numpy
from eigencut.affinities import Gaussian, Kernel, Neighbors
from eigencut.gpod import GPOD

__all__ = ["SpectralClustering"]

_MATRICES = ("precomputed", "precomputed_nearest_neighbors")


class SpectralClustering(OfScikitLearn):
    """scikit-learn's SpectralClustering, with ``predict``.

    A ``GPOD`` with the same weights extends the eigenvectors to any row. Parameters, defaults and
    errors are those of scikit-learn. There are three differences: a row has an affinity to itself,
    identical rows are one vertex, and ``affinity_matrix_`` is set only if you pass a matrix.
    ``GPOD`` has better defaults, probabilities and files.

    Parameters
    ----------
    n_clusters : int, default=8
    eigen_solver : {"arpack", "lobpcg", "amg"} or None, default=None
        Has no effect: the solver depends on the graph.
    n_components : int or None, default=None
        The number of eigenvectors, by default ``n_clusters``. With ``assign_labels`` other than
        "kmeans" it is the number of clusters, as in scikit-learn.
    random_state : int, RandomState or None, default=None
    n_init : int, default=10
        The number of starts of k-means.
    gamma : float, default=1.0
    affinity : str or callable, default="rbf"
        "rbf", "nearest_neighbors", "precomputed", "precomputed_nearest_neighbors", another kernel
        of ``sklearn.metrics.pairwise``, or a function of two rows.
    n_neighbors : int, default=10
    eigen_tol : float or "auto", default="auto"
        Has no effect: eigenvectors are exact to rounding.
    assign_labels : {"kmeans", "discretize", "cluster_qr"}, default="kmeans"
    degree, coef0, kernel_params
        Parameters of kernels.
    n_jobs : int or None, default=None
        Threads; the result does not depend on it.
    verbose : bool, default=False

    Attributes
    ----------
    labels_ : array of shape (n_samples,)
    model_ : GPOD
        The model with the eigenvectors and their extension to any row.

    Examples
    --------
    >>> import numpy as np
    >>> from eigencut.compat import SpectralClustering
    >>> X = np.array([[1, 1], [2, 1], [1, 0], [4, 7], [3, 5], [3, 6]])
    >>> model = SpectralClustering(2, assign_labels="discretize", random_state=0).fit(X)
    >>> bool(model.predict([[1, 0.5]])[0] == model.labels_[0])
    True
    """

    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Cluster rows, or the objects of a matrix of affinities or distances.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features) or (n_samples, n_samples)
        y : ignored

        Returns
        -------
        self : the model
        """
        self._validate_params()
        rows = self._checked(X, reset=True)
        if rows.shape[0] == rows.shape[1] and self.affinity not in _MATRICES:
            warn_user(
                "X is square and is read as rows of features. If it holds affinities, set "
                "affinity='precomputed'."
            )
        # The affinities of sparse rows are computed at once, as in scikit-learn.
        is_kernel = self.affinity not in (*_MATRICES, "nearest_neighbors")
        self._training_rows = rows if issparse(rows) and is_kernel else None
        given = self._given_to_model(rows, is_fit=True)
        self.model_ = self._model(given).fit(given)
        if self.model_.n_components_found_ > 1:
            warn_user("The graph is not fully connected: no cluster spans two of its parts.")
        if self.verbose:
            print(f"Computing label assignment using {self.assign_labels}")
        self._assign(self.model_.embedding_)
        return self

    def predict(self, X: ArrayLike) -> Indices:
        """Return the cluster of each row; training rows get the same cluster as in the fit.

        Parameters
        ----------
        X : array or sparse array of shape (n_samples, n_features)
            If the fit took a matrix, the affinities or distances to the training rows.

        Returns
        -------
        labels : array of shape (n_samples,)
        """
        check_is_fitted(self, "model_")
        given = self._given_to_model(self._checked(X, reset=False), is_fit=False)
        if self._centers is not None:
            labels = self._centers.predict(self.model_.transform(given))
            return np.asarray(labels, dtype=self.labels_.dtype)
        if self._rotation is not None:
            return np.argmax(np.abs(self.model_.transform(given) @ self._rotation), axis=1)
        return self.model_.predict(given)

    def _checked(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            as_numpy(X),
            reset=reset,
            ensure_min_samples=2 if reset else 1,
            accept_sparse=["csr", "csc", "coo"],
            dtype=np.float64,
        )

    def _model(self, given: Any) -> GPOD:
        """Return the GPOD, not fitted, that cuts the same graph."""
        n_functions = self.n_clusters if self.n_components is None else self.n_components
        affinity: Any = "precomputed"
        if self.affinity == "nearest_neighbors":
            affinity = Neighbors(min(int(self.n_neighbors), given.shape[0]), weights="binary")
        elif self.affinity not in _MATRICES and self._training_rows is None:
            affinity = Kernel(self._kernel)
            if self.affinity == "rbf" and self.gamma > 0:
                affinity = Gaussian(float(np.sqrt(0.5 / self.gamma)))
        seed, n_jobs = self.random_state, self.n_jobs
        return GPOD(n_functions, affinity=affinity, random_state=seed, n_jobs=n_jobs)

    @property
    def _kernel(self) -> Any:
        """The kernel, a function k(A, B)."""
        params = dict(self.kernel_params or {})
        if not callable(self.affinity):
            params |= dict(gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        return partial(pairwise_kernels, metric=self.affinity, filter_params=True, **params)

    def _given_to_model(self, rows: Any, *, is_fit: bool) -> Any:
        """Return the input of the GPOD: rows, or affinities to the training rows."""
        if self._training_rows is not None:
            return self._kernel(rows, self._training_rows)
        if self.affinity == "precomputed_nearest_neighbors":
            if is_fit:
                search = NearestNeighbors(n_neighbors=self.n_neighbors, metric="precomputed")
                self._search = search.fit(rows)
            rows = csr_array(self._search.kneighbors_graph(rows, mode="connectivity"))
            if is_fit:  # 1 if both rows are neighbours of each other, 1/2 if one is
                rows = self.affinity_matrix_ = 0.5 * (rows + rows.T)
        elif self.affinity == "precomputed" and is_fit:
            rows = self.affinity_matrix_ = check_symmetric(rows)  # warns if it is not symmetric
        return csr_array(rows) if issparse(rows) else rows

    def _assign(self, U: Array) -> None:
        """Find clusters of the rows of U by ``assign_labels``, and keep the rule for new rows."""
        self._centers = self._rotation = None
        if self.assign_labels == "discretize":
            self.labels_ = self.model_.labels_
        elif self.assign_labels == "kmeans":
            self._centers = KMeans(
                self.n_clusters,
                n_init=self.n_init,
                random_state=self.random_state,
                verbose=self.verbose,
            ).fit(U)
            self.labels_ = self._centers.labels_
        else:
            # A QR decomposition with pivots chooses K rows, and the rotation is the nearest one to
            # them: A. Damle, V. Minden, L. Ying, Information and Inference 8(1), 2019.
            _, _, pivots = qr(U.T, pivoting=True, mode="economic")
            left, _, right = np.linalg.svd(U[pivots[: U.shape[1]]].T)
            self._rotation = left @ right
            self.labels_ = np.argmax(np.abs(U @ self._rotation), axis=1)
