"""GPOD: the estimator. Checks parameters, calls the stages in order, keeps their results."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
)
from sklearn.utils import Tags

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.contexts import all_or_nothing
from eigencut._utils.memory import parse_bytes
from eigencut._utils.progress import reporting, stage
from eigencut._utils.threads import threads
from eigencut._utils.validation import (
    check_choice,
    check_count,
    check_n_jobs,
    check_quantile,
    check_random,
)
from eigencut._utils.warn import hearing_warnings
from eigencut.affinities import NAMES, Affinity, named_affinity
from eigencut.affinities.neighbors import warn_about_many_neighbors
from eigencut.answering import AnsweringMixin
from eigencut.auto.budget import Budget, reads_blocks
from eigencut.auto.choose import Chosen, choose
from eigencut.auto.n_clusters import check_n_clusters_parameter
from eigencut.cut import CUTS
from eigencut.extension.eigenfunctions import extend
from eigencut.fitted import CutGraph, FittedCut, first_without_tiny_clusters
from eigencut.graphs.base import Graph
from eigencut.io.refused_rows import naming_refused_rows
from eigencut.io.rows import Rows
from eigencut.io.saving import SavableMixin
from eigencut.io.validation import check_source, check_weights_of, rows_that_count
from eigencut.keeping import KeepingMixin
from eigencut.semi_supervised.constraints import Constraints
from eigencut.semi_supervised.known_labels import Known
from eigencut.updating.update import UpdatingMixin


class GPOD(
    ClassNamePrefixFeaturesOutMixin,
    AnsweringMixin,
    UpdatingMixin,
    KeepingMixin,
    ClusterMixin,
    SavableMixin,
    BaseEstimator,
):
    """Spectral clustering that labels rows it has never seen.

    Fits a relaxed cut on a graph of the training rows, extends its eigenvectors to functions of any
    row, and turns them into labels by the rotation that brings them closest to indicators.

    Parameters
    ----------
    n_clusters : int, "auto" or iterable of int, default=8
        K, the number of clusters. "auto" chooses it without labels, from 1 to as many as the
        spectrum shows; ``range(2, 31)`` or "2-30" are candidates. ``eigencut.select`` has scores.
    cut : {"ncut", "ratiocut"}, default="ncut"
        The objective: NCut balances the volume of clusters, RatioCut their number of rows.
    affinity : str, Affinity or callable, default="auto"
        The graph. "auto" is a graph of nearest neighbours with density contrast, mutual or
        symmetric, whichever shows the clusters more clearly (see ``docs/defaults.md``); above
        500 000 rows, with hundreds of clusters, or where there is no memory for that, landmarks.
        "gaussian" is the paper's
        complete graph with a local bandwidth, "neighbors" and "landmarks" are ``Neighbors()`` and
        ``Landmarks()``; "mixed" is for rows with columns of few values, as words that became points
        have them: about a hundred landmarks; "precomputed" takes affinities instead of rows;
        ``Gaussian(sigma=0.5)`` and the like say more; a function ``k(A, B)`` gives any other
        weights.
    metric : str or None, default=None
        The distance that the graph compares rows by: "euclidean", "cosine", "manhattan",
        "chebyshev", "hamming", "jaccard" or "haversine" (see ``docs/metrics.md``). None is
        "euclidean", or that of an affinity object.
    extension : {"consistent", "paper"}, default="consistent"
        The form of the eigenfunctions. They differ for RatioCut only, where "paper" is Algorithm 1;
        the consistent form gives back the eigenvectors at the training rows.
    n_init : int, default=10
        The discretization ends when so many starts in a row bring nothing better; see ``pod``.
    outliers : {"keep", "label"}, default="keep"
        Whether rows without support get their label all the same, or -1: in ``predict``, and in
        ``labels_``.
    outlier_quantile : float, default=0.01
        Rows count as such if their support (``score_samples``) is below this quantile of the
        training rows' support, that of each without its affinity to itself.
    random_state : int, RandomState or None, default=None
        Of those starts. None means 0: fits are reproducible unless asked otherwise.
    n_jobs : int or None, default=None
        Threads. None means all cores; the result does not depend on it.
    memory_limit : None, number of bytes or str such as "4GB", default=None
        What ``fit`` may add to the memory that the rows take: a fit that would need more is refused
        with a ``MemoryError`` before it begins, and ``affinity="auto"`` chooses what needs less.
        None is what the machine has left. On a Dask cluster workers have limits of their own.
    verbose : bool, default=False
        Say on standard error which stage of the fit is running, how far it is and how long it took:
        by a line that changes on a terminal, with ``pip install 'eigencut[cli]'``, or else by
        plain lines, at most one in two seconds within a stage.

    Attributes
    ----------
    n_clusters_ : int
        K, as given or chosen.
    labels_ : array of shape (n_samples,)
        Clusters of the training rows, 0 .. K-1 by decreasing size (landmarks: by the number
        of rows that those of a cluster stand for; of equal ones, the cluster of the row, or
        landmark, that is the first in lexicographic order); -1 where ``predict`` has it. Not there
        after a fit on a stream: see ``predict_stream``.
    probabilities_ : array of shape (n_samples,)
        The probability of each of these labels, as HDBSCAN has it; 0 where the label is -1.
    embedding_ : array of shape (n_samples, K)
        The eigenvectors U, ``U^T M U = I`` on the rows that take part; what ``transform`` extends.
        Rows of components too small to be a cluster have the value of a row nearby. Not kept after
        a fit on a stream, nor by landmarks beyond 10 million entries: ``transform`` gives it.
    eigenvalues_ : array of shape (K,)
        Ascending eigenvalues of ``L u = lambda M u``.
    rotation_ : array of shape (K, K)
        ``labels_ == argmax(rows(embedding_) @ rotation_)``, rows() normalizing to unit length,
        but for rows that ``outliers="label"`` marks.
    partition_ : Partition
        The discretization with its history; its labels are clusters, without any -1.
    affinity_ : Affinity
        The fitted affinity.
    fitted_cut_ : FittedCut
        What answers for new rows: eigenfunctions and their rotation.
    choice_ : tuple of Choice
        The affinities that "auto" compared, each with a score; larger is clearer.
    warnings_ : tuple of str
        What the fit warned of, unless warnings were silenced.
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

    def __init__(
        self,
        n_clusters: int | str | Iterable[int] = 8,
        *,
        cut: str = "ncut",
        affinity: Any = "auto",
        metric: str | None = None,
        extension: str = "consistent",
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
        self.extension = extension
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
            Rows of numbers: numpy, pandas, polars. Affinities among rows if "precomputed".
            scipy.sparse arrays too, but with "gaussian".
            ``eigencut.Rows`` if they do not fit in memory.
        y : ignored
            As by every clusterer of scikit-learn.
        sample_weight : array-like of shape (n_samples,), optional
            What each row counts. An integer is so many identical rows, and gives the same model to
            the last bit; a common factor of all weights changes no label. Rows of weight 0 are left
            out of the fit, and their ``labels_`` are what ``predict`` says. Of a stream,
            ``eigencut.Rows`` has the weights.
        known_labels : array-like of shape (n_samples,), optional
            Known classes of rows, 0 .. K-1, and -1 or a missing value where they are unknown. Then
            cluster k is class k, and further clusters are numbered after those; a known row may get
            another label where its neighbours say so (``docs/living-models.md``).
        constraints : eigencut.Constraints, optional
            Pairs of rows that must get the same label, or should get different ones.
        """
        self._check_parameters()
        with all_or_nothing(self) as model, threads(self.n_jobs), reporting(self.verbose):
            asked = (self.n_clusters, self.affinity, self.memory_limit)
            rows = check_source(model, X, keeps_narrow=reads_blocks(X, *asked))
            weight = check_weights_of(rows, sample_weight)
            names = getattr(model, "feature_names_in_", None)
            with hearing_warnings() as heard, naming_refused_rows(rows, names):
                known = Known.from_rows(rows, known_labels, constraints, weight)
                model._fit(rows, weight, known)
            model.warnings_ = tuple(heard)
        return self

    def fit_predict(
        self,
        X: ArrayLike | Rows,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        known_labels: ArrayLike | None = None,
        constraints: Constraints | None = None,
    ) -> Indices:
        """Fit, and return ``labels_``; of a stream there are none.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y, sample_weight, known_labels, constraints
            As of ``fit``.

        Returns
        -------
        labels : array of shape (n_samples,)
        """
        fitted = self.fit(
            X, sample_weight=sample_weight, known_labels=known_labels, constraints=constraints
        )
        if not hasattr(fitted, "labels_"):
            raise TypeError(
                "X must be rows in memory, for labels of a stream may not fit there. Got "
                "eigencut.Rows; the model is fitted: use predict_stream(rows, path)."
            )
        return self.labels_

    def _fit(self, source: Any, sample_weight: Array | None, known: Known | None) -> None:
        counted, weight = rows_that_count(self, source, sample_weight)
        chosen = self._choices(counted, weight, known)
        if known is not None:
            known.check_model(chosen.n_clusters, self.outliers, self.extension)
        graph, fitted = self._cut_graph(counted, weight, chosen, known)
        warn_about_many_neighbors(self.affinity, len(fitted.affinity.multiplicity_))
        with stage(f"labels of {graph.n_labels} rows"):
            labels, embedding = fitted.at_training_rows(graph, counted)
            if labels is not None and sample_weight is not None:
                weighed = np.flatnonzero(sample_weight)
                labels, embedding = fitted.at_all_rows(source, weighed, labels, embedding)
            marks = labels is not None and self.outliers == "label"
            outside = fitted.is_outlier(source) if marks else None
        self._keep(fitted, labels, embedding, outside)

    @property
    def _starts(self) -> dict[str, Any]:
        """Options of POD."""
        return {"n_init": self.n_init, "random_state": self.random_state}

    def _choices(
        self, source: Any, sample_weight: Array | None, known: Known | None = None
    ) -> Chosen:
        """K and the affinity, as given or chosen; refused where memory will not do."""
        with stage("choices"):
            return choose(
                source,
                self.n_clusters,
                affinity=self.affinity,
                memory_limit=self.memory_limit,
                starts=self._starts,
                sample_weight=sample_weight,
                metric=self.metric,
                least=1 if known is None else known.least_clusters,
            )

    def _cut_graph(
        self,
        source: Any,
        sample_weight: Array | None,
        chosen: Chosen,
        known: Known | None = None,
    ) -> tuple[Graph, FittedCut]:
        """The graph, and its fitted cut."""
        chosen.report()
        self.choice_ = tuple(replace(c, affinity=repr(c.affinity)) for c in chosen.compared)
        found = first_without_tiny_clusters(self._cuts(source, sample_weight, chosen, known))
        if found.agreement is not None and found.agreement.is_corrected:
            from eigencut.auto.choose import graphs_for_labels, most_agreeing

            budget = Budget.from_rows(source, chosen.n_clusters, self.memory_limit)
            others = graphs_for_labels(chosen, found.fitted.affinity, budget.allows)
            found = most_agreeing(found, self._cuts(source, sample_weight, others, known))
        return found.graph, found.fitted

    def _cuts(
        self,
        source: Any,
        sample_weight: Array | None,
        chosen: Chosen,
        known: Known | None,
    ) -> Iterator[CutGraph]:
        """The fitted cut of each affinity that may be taken, until one is."""
        cut = CUTS[self.cut]
        for affinity, graph, relaxed, partition in chosen.relaxed_cuts(source, cut, sample_weight):
            if chosen.compared:  # pieces were seen, and judged, in order to choose
                relaxed.report_apart(graph)
            else:
                relaxed.report(graph, affinity)
            with stage("extension"):
                functions = extend(self.extension, affinity, cut, relaxed.pairs, graph.degrees)
            functions.report_lost_components()
            agreement = None
            if known is not None:
                from eigencut.semi_supervised.guided_cut import UnguidedCut, guided_cut

                with stage("known labels and pairs"):
                    unguided = UnguidedCut(functions, graph, relaxed, partition, self._starts)
                    functions, partition, agreement = guided_cut(unguided, known)
            with stage("discretization"):
                of_graph = (graph, relaxed.n_components, self.outlier_quantile)
                fitted = FittedCut.of(functions, *of_graph, partition, **self._starts)
            yield CutGraph(graph, fitted, agreement, relaxed.n_clear)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "fitted_cut_")

    def fit_transform(
        self,
        X: ArrayLike,
        y: Any = None,
        *,
        sample_weight: ArrayLike | None = None,
        known_labels: ArrayLike | None = None,
        constraints: Constraints | None = None,
    ) -> NDArray[Any]:
        """Fit, and return ``transform(X)``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y, sample_weight, known_labels, constraints
            As of ``fit``.

        Returns
        -------
        embedding : array of shape (n_samples, K)
        """
        return self.fit(
            X, sample_weight=sample_weight, known_labels=known_labels, constraints=constraints
        ).transform(X)

    def _check_parameters(self) -> None:
        named_affinity(self.affinity, self.metric)
        check_n_clusters_parameter(self.n_clusters)
        check_choice("outliers", self.outliers, ("keep", "label"))
        check_quantile("outlier_quantile", self.outlier_quantile, usual=0.01)
        check_count("n_init", self.n_init, "use the default of 10")
        parse_bytes(self.memory_limit)
        check_random("random_state", self.random_state)
        check_choice("cut", self.cut, tuple(CUTS))
        check_choice("extension", self.extension, ("consistent", "paper"))
        check_n_jobs(self.n_jobs)

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``affinity__sigma`` and the like also where affinity is a name."""
        of_affinity = any(name.startswith("affinity__") for name in params)
        if of_affinity and isinstance(params.get("affinity", self.affinity), str):
            given = params.get("affinity", self.affinity), params.get("metric", self.metric)
            params["affinity"] = named_affinity(*given)
        return super().set_params(**params)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        is_name = isinstance(self.affinity, str)
        affinity = NAMES.get(self.affinity) if is_name else self.affinity
        is_matrix = getattr(affinity, "pairwise", False)
        tags.input_tags.pairwise = tags.input_tags.positive_only = is_matrix
        is_auto = is_name and self.affinity == "auto"
        tags.input_tags.sparse = is_auto or getattr(affinity, "accepts_sparse", False)
        return tags
