"""``GPOD``: the estimator, with its parameters and public methods."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import _num_samples, check_is_fitted

from eigencut._utils.arrays import TINY, Array, Indices
from eigencut._utils.memory import parse_bytes
from eigencut._utils.running import all_or_nothing, hearing_warnings, reporting, threads
from eigencut._utils.validation import (
    check_choice,
    check_n_jobs,
    check_quantile,
    check_random,
    is_integer,
    shown,
)
from eigencut.affinities import NAMES, Affinity, Neighbors, named_affinity
from eigencut.auto.budget import reads_blocks
from eigencut.auto.n_clusters import Candidates
from eigencut.auto.spectrum import Choice
from eigencut.cut import CUTS
from eigencut.discretization import Partition, check_n_init, pod
from eigencut.exceptions import invalid
from eigencut.extension.labelling import OUTLIER, ClusterNumbers
from eigencut.extension.sizes import check_size_limits
from eigencut.fitted import Answers, FittedCut
from eigencut.graphs.base import knowing_pieces
from eigencut.io.refused_rows import naming_refused_rows
from eigencut.io.rows import Rows
from eigencut.io.state_reader import StateReader, csr_state
from eigencut.io.validation import check_rows, check_source, check_stream, check_weights_of
from eigencut.model import Mask, Model, Prepared
from eigencut.pipeline import Settings, fit_rows
from eigencut.semi_supervised.known_labels import Constraints, Known

if TYPE_CHECKING:
    from eigencut.updating.update import Updated


_MOST_NAMES = 1 << 16  # names of clusters in a file


class GPOD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Model):
    """Spectral clustering that labels rows it has never seen.

    ``fit`` connects similar rows in a graph and cuts the graph into clusters. ``predict`` labels
    any row. See ``docs/how-it-works.md``.

    Parameters
    ----------
    n_clusters : int, "auto" or iterable of int, default=8
        The number of clusters, K; "auto" chooses it, also among ``range(2, 31)`` or "2-30".
    cut : {"ncut", "ratiocut"}, default="ncut"
        "ncut" avoids clusters with few edges, "ratiocut" clusters with few rows.
    affinity : str, Affinity or callable, default="auto"
        The graph. "auto" compares cuts of several graphs of nearest neighbours (see
        ``docs/defaults.md``). Above 500 000 rows, or if memory is short, it takes landmarks. With
        32 clusters or more (unless the cut is relaxed) it cuts at most 200 000 rows discretely.
        "gaussian" is the paper's complete graph with a local bandwidth; "neighbors" and "landmarks"
        are ``Neighbors()`` and ``Landmarks()``; "precomputed" takes affinities instead of rows.
        You can also pass an object such as ``Gaussian(sigma=0.5)``, or a function ``k(A, B)``.
    metric : str or None, default=None
        The distance between rows: "euclidean", "cosine", "manhattan", "chebyshev", "hamming",
        "jaccard" or "haversine". None means the metric of the affinity object, or "euclidean". If
        affinity is "auto", None also tries columns of equal spread where units are very different
        (``column_scales_``).
    solver : {"auto", "relaxed", "discrete"}, default="auto"
        "relaxed" computes eigenvectors and rotates them, as in the paper. "discrete" moves rows
        between clusters, and has no eigenvectors: ``transform`` returns the share of a row's weight
        that goes to each cluster. "auto" compares both where affinity is "auto" and cut is "ncut".
    extension : {"consistent", "paper"}, default="consistent"
        Only for RatioCut: "paper" is Algorithm 1 of the paper; "consistent" gives training rows
        exactly the values of the eigenvectors.
    min_cluster_size, max_cluster_size : int, float, "equal" or None, default=None
        The least and the largest size of a cluster: a number of rows, a share of all rows below 1,
        or "equal". With weights, a size is a sum of weights (``docs/guide/sizes.md``).
    n_init : int, default=10
        The search for a rotation (``pod``) stops after this many starts without improvement.
    outliers : {"keep", "label"}, default="keep"
        Whether rows that resemble no training row keep their label, or get -1.
    outlier_quantile : float, default=0.01
        A row is an outlier if its similarity to the training rows (``score_samples``) is below this
        quantile of the similarity of training rows to the other training rows.
    random_state : int, RandomState or None, default=None
        The seed of these starts. None means 0, so fits are reproducible.
    n_jobs : int or None, default=None
        The number of threads. None means all cores; the result does not depend on it.
    memory_limit : None, number of bytes or str such as "4GB", default=None
        The memory that ``fit`` may use beside the rows. A fit that would need more raises a
        ``MemoryError`` before it begins. None means all memory that is free.
    verbose : bool, default=False
        Whether to print the stage and the progress of the fit on standard error.

    Attributes
    ----------
    n_clusters_ : int
        K, as given or chosen.
    labels_ : array of shape (n_samples,)
        The cluster of each training row, 0 .. K-1 by decreasing size; -1 where ``predict`` says -1.
        Not set by a fit on a stream: use ``predict_stream``.
    probabilities_ : array of shape (n_samples,)
        The probability of each of these labels, as in HDBSCAN; 0 where the label is -1.
    embedding_ : array of shape (n_samples, K)
        Eigenvectors; of a discrete cut the share of each row's weight that goes to each cluster, as
        a sparse array above 100 clusters. Not set by a fit on a stream, nor by landmarks beyond 10
        million entries: use ``transform``.
    eigenvalues_ : array of shape (K,)
        Eigenvalues of the graph, ascending. Only relaxed cuts have them, and ``rotation_``.
    rotation_ : array of shape (K, K)
        ``labels_ == argmax(rows(embedding_) @ rotation_)``, where rows() normalizes to unit length.
    partition_ : Partition
        What ``pod`` returned. Its labels are clusters, without any -1.
    affinity_ : Affinity
        The fitted affinity.
    fitted_cut_ : FittedCut
        The part of the model that answers for new rows.
    choice_ : tuple of Choice
        The cuts that "auto" compared, each with a score, the best first; larger is better. Empty
        if it had nothing to compare: landmarks, one cluster, only a discrete cut, or no "auto".
    column_scales_ : array of shape (n_features,) or None
        The number that each column is divided by, where the default scaled the columns.
    warnings_ : tuple of str
        The texts of the fit's warnings, unless warnings were silenced.
    n_components_found_ : int
        Connected components of the graph.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    References
    ----------
    .. [1] S. Li, S. Ouyang, Y. Liu, "Understanding the Generalization Performance of Spectral
       Clustering Algorithms", AAAI Conference on Artificial Intelligence 37(7), 8614-8621, 2023.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, _ = make_moons(300, noise=0.05, random_state=0)
    >>> model = GPOD(n_clusters=2).fit(X)
    >>> new = [[0.0, 1.0], [1.0, -0.5]]
    >>> first, second = model.predict(new)
    >>> bool(first != second)
    True
    """

    _saved_as: ClassVar[str] = "GPOD"
    _parameter_kinds: ClassVar[dict[str, type]] = {"affinity": Affinity}

    labels_: Indices
    embedding_: Array
    fitted_cut_: FittedCut
    numbering_: ClusterNumbers
    updated_: Updated
    warnings_: tuple[str, ...]
    column_scales_: Array | None = None

    def __init__(
        self,
        n_clusters: int | str | Iterable[int] = 8,
        *,
        cut: str = "ncut",
        affinity: Any = "auto",
        metric: str | None = None,
        solver: str = "auto",
        extension: str = "consistent",
        min_cluster_size: Any = None,
        max_cluster_size: Any = None,
        n_init: int = 10,
        outliers: str = "keep",
        outlier_quantile: float = 0.01,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_limit: float | str | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.cut = cut
        self.affinity = affinity
        self.metric = metric
        self.solver = solver
        self.extension = extension
        self.min_cluster_size = min_cluster_size
        self.max_cluster_size = max_cluster_size
        self.n_init = n_init
        self.outliers = outliers
        self.outlier_quantile = outlier_quantile
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_limit = memory_limit
        self.verbose = verbose

    def fit(
        self,
        X: ArrayLike | Rows,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        known_labels: ArrayLike | None = None,
        constraints: Constraints | None = None,
    ) -> Self:
        """Cluster the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows of numbers, sparse ones too (not with "gaussian"), or a stream, ``eigencut.Rows``.
            Affinities among rows if "precomputed".
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            The weight of each row. An integer weight equals that many identical rows. Rows of
            weight 0 are left out of the fit, and get the label that ``predict`` gives. A stream
            carries its own weights.
        known_labels : array-like of shape (n_samples,), optional
            The class of each row, from 0 to K-1, and -1 or a missing value if it is unknown. Then
            cluster k is class k (``docs/guide/known-labels.md``).
        constraints : eigencut.Constraints, optional
            Pairs of rows that must get the same label, or should get different ones.
        """
        self._check_parameters()
        with all_or_nothing(self) as model, threads(self.n_jobs), reporting(self.verbose):
            narrow = reads_blocks(X, self.n_clusters, self.affinity, self.memory_limit)
            rows = check_source(model, X, keeps_narrow=narrow)
            model.__dict__.pop("class_names_", None)
            weight = check_weights_of(rows, sample_weight)
            names = getattr(model, "feature_names_in_", None)
            with hearing_warnings() as heard, naming_refused_rows(rows, names, X):
                known = Known.from_rows(rows, known_labels, constraints, weight)
                fit = fit_rows(rows, model._settings(), weight, known)
                model._set_cut(
                    fit.fitted,
                    labels=fit.labels,
                    embedding=fit.embedding,
                    is_outlier=fit.is_outlier,
                )
            model.choice_, model.warnings_ = fit.compared, tuple(heard)
            model.__dict__.pop("column_scales_", None)
            if fit.scales is not None:
                model.column_scales_ = fit.scales
        return self

    def predict_set(
        self, X: ArrayLike, coverage: float = 0.9, *, calibration: Any
    ) -> NDArray[np.bool_]:
        """Return the clusters that each row may belong to, with a guarantee.

        With a probability of at least ``coverage``, the set of a new row holds the label that it
        gets in a refit with a few new rows. See ``eigencut.inspection.label_sets``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        coverage : float, default=0.9
        calibration : array-like of shape (m, n_features) or LabelSets
            At least 20 rows, better hundreds, that played no part in the fit; or for many calls
            ``eigencut.inspection.label_sets(model, X_heldout)``: it refits once for all.

        Returns
        -------
        sets : array of bool of shape (n_samples, K)
            Whether each cluster is in the set of each row. The label of ``predict`` always is.
        """
        from eigencut.inspection.refits import LabelSets, label_sets

        check_is_fitted(self)
        if not isinstance(sets := calibration, LabelSets):
            if (n := 0 if sets is None else _num_samples(sets)) < 20:
                expected = "be label sets, or have at least 20 rows"
                raise invalid("calibration", expected, n, "hold out more rows")
            sets = label_sets(self, sets)
        if sets.model.gpod.fitted_cut_ is not self.fitted_cut_:
            remedy = "calibrate again: eigencut.inspection.label_sets(model, X_heldout)"
            expected = "be of this model as it is fitted now"
            raise invalid("calibration", expected, "label sets of another fit", remedy)
        return np.asarray(self._ask(X, lambda rows: sets._of_prepared(rows, coverage), False))

    def transform(self, X: ArrayLike, *, dtype: Any = np.float64) -> NDArray[Any]:
        """Return the eigenvectors at each row, or its shares of weight by cluster (discrete cut).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        dtype : {numpy.float64, numpy.float32}
            float64 is accurate to rounding; float32 is about three times as fast, and accurate to
            about 1e-6 of a row's length.

        Returns
        -------
        embedding : array of shape (n_samples, K)
            A sparse array after a discrete cut into more than 100 clusters.
        """
        if np.dtype(dtype) not in (np.float64, np.float32):
            raise invalid("dtype", "be float64 or float32", repr(dtype), "leave it out")
        return self._ask(X, lambda rows: self.fitted_cut_.embedding(rows, dtype), np.nan)

    def predict_batch(self, X: ArrayLike, *, init: str = "fitted") -> Partition:
        """Cluster the rows together, by Algorithms 1 and 2 of the paper; only for relaxed cuts.

        POD runs on the extended eigenvectors, so a row's label can depend on the other rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        init : {"fitted", "random", "literal"}
            "fitted" starts from the rotation of the fit, and keeps the numbers of clusters.
            "random" has several starts, and numbers clusters by size. "literal" is Algorithm 3.

        Returns
        -------
        Partition
        """
        check_choice("init", init, ("fitted", "random", "literal"))
        U, start = self.transform(X), None if init == "random" else init
        if init == "fitted":
            start = self.fitted_cut_.rotation
        return pod(U, init=start, n_init=self.n_init, random_state=self.random_state)

    def score(
        self, X: ArrayLike, y: Any = None, *, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return minus the error of the cut on the rows of X; larger is better.

        For a relaxed cut, this is the error F of the paper per cluster; for a discrete cut, the
        mean share of weight that leaves the cluster of a row. It compares only fits with the same
        graph, cut and K. To choose sigma or K, use ``eigencut.select``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored
        sample_weight : array-like of shape (n_samples,), optional
            How many times each row counts, as in ``eigencut.inspection.assess``.

        Returns
        -------
        score : float
        """
        with self.preparing(X, at_least=2) as (rows, _):
            return -self.fitted_cut_.error(rows, sample_weight)

    def update(
        self, X: ArrayLike | Rows, *, sample_weight: ArrayLike | None = None, decay: float = 1.0
    ) -> Self:
        """Refit the model as if it had seen these rows too; clusters keep their numbers.

        The model changes as a whole or, if anything is wrong, not at all; threads update it one
        after another. "auto" chooses the number of clusters again. ``updated_`` lists the changes,
        and ``labels_`` are those of the rows of X. See ``docs/guide/updates.md``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Or ``eigencut.Rows``, with landmarks.
        sample_weight : array-like of shape (n_samples,), optional
            The weight of each row, as in ``fit``.
        decay : float, default=1.0
            The factor on the weight of each earlier row, above 0 and at most 1. Rows of weight
            below 1/64 are forgotten.

        Returns
        -------
        self : the model
        """
        from eigencut.updating.update import checked_decay, rows_of_update

        check_is_fitted(self)
        self._check_parameters()
        decay = checked_decay(decay)
        with (
            all_or_nothing(self) as model,
            threads(self.n_jobs),
            reporting(self.verbose),
            knowing_pieces(model.n_components_found_ > 1),
        ):
            rows = rows_of_update(model, X)
            with naming_refused_rows(rows, getattr(self, "feature_names_in_", None), X):
                model._update(rows, check_weights_of(rows, sample_weight), decay)
        return self

    @property
    def gpod(self) -> GPOD:
        """Return the model for prepared rows: a copy without scales and names of columns."""
        if self.column_scales_ is None and not hasattr(self, "feature_names_in_"):
            return self
        model = copy(self)
        model.column_scales_ = None
        model.__dict__.pop("feature_names_in_", None)
        return model

    def prepare(self, X: Any, at_least: int = 1) -> Prepared:
        """Return the rows, checked and scaled, and a mask by which all of them are complete."""
        check_is_fitted(self)
        narrow = self.fitted_cut_.affinity.streams  # it converts few rows at a time to float64
        rows = check_rows(self, X, reset=False, at_least=at_least, keeps_narrow=narrow)
        return self.from_units(rows), np.ones(rows.shape[0], dtype=bool)

    def prepared_blocks(self, rows: Rows) -> Iterator[Prepared]:
        """Return the blocks of a stream, scaled, after a check of its columns."""
        check_stream(self, rows)
        return ((self.from_units(block), np.ones(len(block), dtype=bool)) for block in rows)

    def in_units(self, rows: Array) -> Array:
        """Return prepared rows in the original units of the columns."""
        rows = np.asarray(rows, dtype=np.float64)
        return rows if self.column_scales_ is None else rows * self.column_scales_

    def from_units(self, points: Any) -> Any:
        """Return points in the original units of the columns as prepared rows."""
        return points if self.column_scales_ is None else points / self.column_scales_

    def naming_rows(self, X: Any, rows: Any, complete: Mask) -> AbstractContextManager[None]:
        """Return a context in which errors name refused rows by their place in X."""
        return naming_refused_rows(rows, getattr(self, "feature_names_in_", None), X)

    def for_prepared_rows(self) -> GPOD:
        """Return an unfitted copy for rows that are prepared already: it does not scale columns."""
        model: GPOD = clone(self)
        is_auto = isinstance(self.affinity, str) and self.affinity == "auto"
        return model.set_params(metric=self.metric or "euclidean") if is_auto else model

    def labels_of(self, rows: Any) -> Indices:
        """Return the numbers of the clusters of prepared rows, or -1 for outliers."""
        labels = self.fitted_cut_.labels(rows, mark_outliers=self.outliers == "label")
        return self.numbering_.of_labels(labels)

    def answers_of(self, rows: Any) -> Answers:
        """Return labels, margins, similarities and probabilities of prepared rows."""
        answers = self.fitted_cut_.answers(rows, mark_outliers=self.outliers == "label")
        return replace(
            answers,
            labels=self.numbering_.of_labels(answers.labels),
            probabilities=self.numbering_.of_columns(answers.probabilities),
        )

    def _settings(self) -> Settings:
        given = self.get_params(deep=False) | {
            "cut": CUTS[self.cut],
            "pairwise": get_tags(self).input_tags.pairwise,
            "names": getattr(self, "feature_names_in_", None),
        }
        return Settings(**{field.name: given[field.name] for field in fields(Settings)})

    def _set_cut(
        self,
        fitted: FittedCut,
        *,
        labels: Indices | None = None,
        embedding: Array | None = None,
        is_outlier: Mask | None = None,
        numbers: ClusterNumbers | None = None,
    ) -> None:
        """Set the attributes that a fitted cut determines, and those of the training rows."""
        self.fitted_cut_ = fitted
        self.affinity_ = fitted.affinity
        self.n_clusters_ = self._n_features_out = fitted.n_clusters
        self.n_components_found_ = fitted.n_components
        self.partition_ = fitted.partition
        self.numbering_ = numbers or ClusterNumbers.of_fit(self.n_clusters_)
        marked = None if labels is None else self.numbering_.of_labels(labels)
        if marked is not None and is_outlier is not None:
            marked = np.where(is_outlier, OUTLIER, marked)
        for name, value in (("labels_", marked), ("embedding_", embedding), ("updated_", None)):
            self.__dict__.pop(name, None)
            if value is not None:
                setattr(self, name, value)
        if labels is not None:
            self.partition_ = replace(fitted.partition, labels=labels)

    def _update(self, source: Any, sample_weight: Array | None, decay: float) -> None:
        from eigencut.updating.update import Updated, continued, match_clusters, refitted

        before, refit = self.numbering_, refitted(self, source, sample_weight, decay)
        matched = match_clusters(refit.in_common, refit.sizes)
        columns, numbers = continued(before, matched, refit.sizes)
        fitted, sizes = refit.fitted.reordered(columns), refit.sizes[columns]
        self._set_cut(fitted, numbers=numbers)
        if refit.has_new_rows and self.outliers == "keep":
            self.labels_ = numbers.of_labels(fitted.labels_at(refit.graph, source))
        elif not isinstance(source, Rows):
            self.labels_ = self.labels_of(source)
        self.updated_ = Updated(
            kept=tuple(np.intersect1d(before.numbers, numbers.numbers).tolist()),
            new=tuple(np.setdiff1d(numbers.numbers, before.numbers).tolist()),
            retired=tuple(np.setdiff1d(before.numbers, numbers.numbers).tolist()),
            sizes=dict(zip(numbers.numbers.tolist(), sizes.tolist(), strict=True)),
            n_rows=float(sizes.sum()),
            n_new_landmarks=refit.n_new_landmarks,
        )

    def _renumber(self, columns: Indices, numbers: ClusterNumbers) -> None:
        """Give the clusters this order and these numbers."""
        given: dict[str, Any] = {"embedding": self.__dict__.get("embedding_")}
        if hasattr(self, "labels_") and not hasattr(self, "updated_"):
            given["labels"] = np.argsort(columns)[self.partition_.labels]
            given["is_outlier"] = self.labels_ == OUTLIER
        self._set_cut(self.fitted_cut_.reordered(columns), **given, numbers=numbers)

    @property
    def eigenvalues_(self) -> Array:
        """Eigenvalues of the graph, ascending, shape (K,); only after a relaxed cut."""
        return self.fitted_cut_.functions.pairs.values

    @property
    def rotation_(self) -> Array:
        """The rotation of the eigenvectors to clusters, shape (K, K); only after a relaxed cut."""
        return self.fitted_cut_.rotation_of_vectors

    @property
    def probabilities_(self) -> Array:
        """The probability of the label of each training row; 0 for the label -1."""
        if "embedding_" not in self.__dict__:
            text = "probabilities_ needs embedding_, which is not set; use predict_proba(X)."
            raise AttributeError(text)
        own = self.fitted_cut_.probabilities_of_labels(self.embedding_)
        return np.where(self.labels_ == OUTLIER, 0.0, own)

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        """Return the results of the fit for a file: plain values, arrays and the affinity."""
        check_is_fitted(self)
        names, state = getattr(self, "feature_names_in_", None), self.fitted_cut_._state()
        state["feature_names"] = None if names is None else [str(name) for name in names]
        state["choice"] = [[one.affinity, one.score] for one in self.choice_]
        if self.column_scales_ is not None:
            state["column_scales"] = self.column_scales_
        if getattr(self, "warnings_", ()):  # older pickles lack it
            state["warnings"] = list(self.warnings_)
        if self.class_names_:
            state["class_names"] = list(self.class_names_)
        of_all_rows = include_training_data and not hasattr(self, "updated_")
        if of_all_rows and hasattr(self, "labels_"):
            state["labels"], is_outlier = self.partition_.labels, self.labels_ == OUTLIER
            if is_outlier.any():
                state["is_outlier"] = is_outlier.astype(np.uint8)
        if of_all_rows and hasattr(self, "embedding_"):
            is_sparse = issparse(self.embedding_)
            state["embedding"] = csr_state(self.embedding_) if is_sparse else self.embedding_
        if not self.numbering_.is_plain:
            state["numbering"] = self.numbering_._state()
        return state

    def _restore(self, state: StateReader) -> None:
        """Set the results of a fit from a saved ``_state()``."""
        self._check_parameters()
        fitted = FittedCut._restored(state, CUTS[self.cut])
        K = fitted.n_clusters
        self.n_features_in_ = fitted.affinity.n_columns_
        if state.raw("feature_names") is not None:
            names = state.words("feature_names", self.n_features_in_)
            self.feature_names_in_ = np.array(names, dtype=object)
        if "column_scales" in state:
            shape = (self.n_features_in_,)
            self.column_scales_ = state.array("column_scales", shape, TINY, 1 / TINY)
        pairs = state.words_and_numbers("choice") if "choice" in state else []
        self.choice_ = tuple(Choice(K, *pair) for pair in pairs)
        self.warnings_ = tuple(state.texts("warnings", 1000)) if "warnings" in state else ()
        given: dict[str, Any] = {}
        if "labels" in state:
            given["labels"] = state.indices("labels", (None,), below=K)
            n = len(given["labels"])
            if "is_outlier" in state:
                given["is_outlier"] = state.flags("is_outlier", (n,))
            if "embedding" in state.groups():
                given["embedding"] = state.csr("embedding", n, K)
            elif "embedding" in state:
                given["embedding"] = state.array("embedding", (n, K))
        if "numbering" in state:
            given["numbers"] = ClusterNumbers._restored(state.part("numbering"), K)
        self._set_cut(fitted, **given)
        if "class_names" in state:
            self.class_names_ = state.texts("class_names", _MOST_NAMES)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_cut_")

    def _check_parameters(self) -> None:
        named_affinity(self.affinity, self.metric)
        K: Any = self.n_clusters
        if not (is_integer(K) and K > 0):
            Candidates.parse(K)
        check_choice("outliers", self.outliers, ("keep", "label"))
        check_quantile("outlier_quantile", self.outlier_quantile, usual=0.01)
        check_n_init(self.n_init)
        if (self.min_cluster_size, self.max_cluster_size) != (None, None):
            check_size_limits(self.min_cluster_size, self.max_cluster_size)
        parse_bytes(self.memory_limit)
        check_random("random_state", self.random_state)
        check_choice("cut", self.cut, tuple(CUTS))
        check_choice("solver", self.solver, ("auto", "relaxed", "discrete"))
        check_choice("extension", self.extension, ("consistent", "paper"))
        check_n_jobs(self.n_jobs)
        if not isinstance(self.verbose, (bool, np.bool_, int)):
            raise invalid("verbose", "be True or False", shown(self.verbose), "use verbose=True")

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``affinity__sigma`` also works if the affinity is a name."""
        of_affinity = any(name.startswith("affinity__") for name in params)
        if of_affinity and isinstance(params.get("affinity", self.affinity), str):
            name, metric = params.get("affinity", self.affinity), params.get("metric", self.metric)
            params["affinity"] = named_affinity("gaussian" if name == "auto" else name, metric)
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Tags:
        tags, affinity = super().__sklearn_tags__(), self.affinity
        if isinstance(affinity, str):
            affinity = (NAMES | {"auto": Neighbors}).get(affinity)
        is_matrix = getattr(affinity, "pairwise", False)
        tags.input_tags.pairwise = tags.input_tags.positive_only = is_matrix
        tags.input_tags.sparse = getattr(affinity, "accepts_sparse", False)
        return tags
