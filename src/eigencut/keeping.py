"""What a fitted model keeps, and what a file keeps of it: a part of GPOD."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut.auto.spectrum import Choice
from eigencut.cut import CUTS
from eigencut.discretization import assign, normalize_rows
from eigencut.extension.cluster_numbers import ClusterNumbers
from eigencut.extension.labelling import OUTLIER, probabilities_of
from eigencut.fitted import FittedCut
from eigencut.io.state_reader import StateReader

_MOST_WARNINGS = 1000  # in a file


class KeepingMixin:
    """Attributes of a fitted model, from a fit or from a file."""

    # The estimator's.
    affinity: Any
    cut: str
    labels_: Indices
    embedding_: Array
    warnings_: tuple[str, ...]
    _check_parameters: Any

    def _keep(
        self,
        fitted: FittedCut,
        labels: Indices | None,
        embedding: Array | None,
        outside: NDArray[np.bool_] | None = None,
        numbers: ClusterNumbers | None = None,
    ) -> None:
        """Set the attributes of a fitted model; of training rows those that there are.

        ``outside`` says which of them are marked as outliers: in ``labels_``, not in the partition.
        ``numbers`` are those of clusters that another model knew.
        """
        self.fitted_cut_ = fitted
        self.affinity_ = fitted.affinity
        self.eigenvalues_ = fitted.functions.pairs.values
        self.n_clusters_ = self._n_features_out = len(self.eigenvalues_)
        self.n_components_found_ = fitted.n_components
        self.rotation_ = fitted.partition.rotation
        self.partition_ = fitted.partition
        self.numbering_ = numbers or ClusterNumbers.of_fit(self.n_clusters_)
        marked = None if labels is None else self.numbering_.of_labels(labels)
        if marked is not None and outside is not None:
            marked = np.where(outside, OUTLIER, marked)
        for name, found in (("labels_", marked), ("embedding_", embedding), ("updated_", None)):
            self.__dict__.pop(name, None)
            if found is not None:
                setattr(self, name, found)
        if labels is not None:
            self.partition_ = replace(fitted.partition, labels=labels)

    @property
    def probabilities_(self) -> Array:
        """The probability of the label of each training row; 0 where that is -1.

        What HDBSCAN has by this name, and BERTopic takes from it. It is that of ``predict_proba``,
        but for a row with less support than others, which counts here as if it had as much. There
        where ``embedding_`` is.
        """
        if "embedding_" not in self.__dict__:
            raise AttributeError(
                "probabilities_ is there only where embedding_ is: after a fit of rows in memory. "
                "Use predict_proba(X)."
            )
        scores = normalize_rows(self.embedding_) @ self.rotation_
        labels, is_clear = assign(scores), np.ones(len(scores))
        found = probabilities_of(scores, labels, is_clear, self.fitted_cut_.temperature)
        own = found[np.arange(len(labels)), labels]
        return np.where(self.labels_ == OUTLIER, 0.0, own)

    def _state(self, include_training_data: bool = True) -> dict[str, Any]:
        """What was fitted, as plain values, arrays and the affinity."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None)
        per_row: dict[str, Any] = {}
        of_all_rows = include_training_data and not hasattr(self, "updated_")
        if of_all_rows and hasattr(self, "labels_"):
            per_row["labels"] = self.partition_.labels
            if (self.labels_ == OUTLIER).any():
                per_row["is_outlier"] = (self.labels_ == OUTLIER).astype(np.uint8)
        if of_all_rows and hasattr(self, "embedding_"):
            per_row["embedding"] = self.embedding_
        of_columns = {"feature_names": None if names is None else [str(name) for name in names]}
        of_choice: dict[str, Any] = {"choice": [[one.affinity, one.score] for one in self.choice_]}
        if getattr(self, "warnings_", ()):  # an older pickle has none
            of_choice["warnings"] = list(self.warnings_)
        if not self.numbering_.is_plain:
            per_row["numbering"] = self.numbering_._state()
        return self.fitted_cut_._state() | of_columns | of_choice | per_row

    def _restore(self, state: StateReader) -> None:
        """Take back a saved ``_state()``, instead of a fit."""
        self._check_parameters()
        fitted = FittedCut._restored(state, CUTS[self.cut])
        K = len(fitted.rotation)
        self.n_features_in_ = fitted.affinity.n_columns_
        if state.raw("feature_names") is not None:
            names = state.words("feature_names", self.n_features_in_)
            self.feature_names_in_ = np.array(names, dtype=object)
        pairs = state.words_and_numbers("choice") if "choice" in state else []
        self.choice_ = tuple(Choice(K, *pair) for pair in pairs)
        has_warnings = "warnings" in state
        self.warnings_ = tuple(state.texts("warnings", _MOST_WARNINGS)) if has_warnings else ()
        labels = state.indices("labels", (None,), below=K) if "labels" in state else None
        n = None if labels is None else len(labels)
        marks = labels is not None and "is_outlier" in state
        outside = state.flags("is_outlier", (n,)) if marks else None
        embedding = state.array("embedding", (n, K)) if "embedding" in state else None
        numbers = None
        if "numbering" in state:
            numbers = ClusterNumbers._restored(state.part("numbering"), K)
        self._keep(fitted, labels, embedding, outside, numbers)
