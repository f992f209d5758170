"""The same questions for every kind of model: GPOD, TableModel and Reclustered."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.threads import threads
from eigencut.extension.labelling import is_outlier
from eigencut.fitted import Answers, FittedCut
from eigencut.gpod import GPOD
from eigencut.hierarchy.recluster import Reclustered
from eigencut.io.column_kinds import plain_names
from eigencut.tables.table_model import TableModel


@dataclass(frozen=True)
class AskedModel:
    """A fitted model, and the rows that it was given as the model inside wants them.

    Attributes
    ----------
    model : GPOD, TableModel or Reclustered
    base : GPOD or TableModel
        That of which clusters were split, or the model itself.
    """

    model: Any
    base: Any

    @classmethod
    def of(cls, model: Any) -> AskedModel:
        """An error for what is no model, or not fitted."""
        if not isinstance(model, (GPOD, TableModel, Reclustered)):
            raise ValueError(
                "model must be a GPOD, a TableModel or what recluster returns. Got "
                f"{type(model).__name__}; pass a fitted one, or eigencut.load(path)."
            )
        if isinstance(model, Reclustered):
            model.check_fitted()
            return cls(model, model.base_)
        check_is_fitted(model)
        return cls(model, model)

    @property
    def gpod(self) -> GPOD:
        """What clusters the rows, once they are prepared."""
        return self.base.gpod

    @property
    def fitted(self) -> FittedCut:
        """Its eigenfunctions and their rotation."""
        return self.gpod.fitted_cut_

    @property
    def is_split(self) -> bool:
        """Whether clusters of the model were split, which have no eigenfunctions in common."""
        return isinstance(self.model, Reclustered)

    def unsplit(self) -> AskedModel:
        """That of the model of which clusters were split."""
        return AskedModel(self.base, self.base)

    @property
    def is_pairwise(self) -> bool:
        """Whether its rows are affinities, not features."""
        return bool(self.gpod.affinity_.pairwise)

    @property
    def numbers(self) -> Indices:
        """The numbers of the clusters, ascending."""
        if self.is_split:
            return np.arange(self.model.n_clusters_)
        return self.gpod.cluster_numbers_

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns that users know; x1, x2, ... where they have none."""
        if isinstance(self.base, TableModel):
            return tuple(self.base.columns_)
        names = getattr(self.gpod, "feature_names_in_", None)
        return plain_names(self.gpod.n_features_in_) if names is None else tuple(map(str, names))

    @property
    def is_plane(self) -> bool:
        """Whether rows are two numbers, so that they are points of the plane themselves."""
        if isinstance(self.base, TableModel):
            return self.base.preparation_.is_numeric and len(self.base.columns_) == 2
        return not self.is_pairwise and self.gpod.n_features_in_ == 2

    def prepared(self, X: Any) -> tuple[Any, NDArray[np.bool_]]:
        """Rows as the model inside wants them, without incomplete ones; which are complete."""
        return self.base.prepare(X)

    def in_units(self, rows: Array) -> Array:
        """Prepared rows of the plane as points in the units of the columns."""
        if not isinstance(self.base, TableModel):
            return np.asarray(rows, dtype=np.float64)
        found = self.base.preparation_
        return np.asarray(rows * found.scale + found.shift)

    def from_units(self, points: Array) -> Array:
        """Points of the plane as prepared rows."""
        if not isinstance(self.base, TableModel):
            return points
        found = self.base.preparation_
        return np.asarray((points - found.shift) / found.scale)

    # Of prepared rows:

    def labels(self, rows: Any) -> Indices:
        """As of ``predict``."""
        if self.is_split:
            return self.model.labels_of(rows)
        with threads(self.gpod.n_jobs):
            return self.gpod.labels_of(rows)

    def clusters(self, rows: Any) -> Indices:
        """The same, but a cluster for rows without support too."""
        if self.is_split:
            return np.asarray(self.model.answers_of(rows).probabilities.argmax(axis=1))
        with threads(self.gpod.n_jobs):
            return self.gpod.numbering_.of_labels(self.fitted.labels(rows))

    def support(self, rows: Any) -> Array:
        """As of ``score_samples``."""
        with threads(self.gpod.n_jobs):
            return self.fitted.support(rows)

    def embedding(self, rows: Any) -> Array:
        """As of ``transform``."""
        with threads(self.gpod.n_jobs):
            return self.fitted.embedding(rows)

    def answers(self, rows: Any) -> Answers:
        """Labels, margins, support and probabilities of rows in one pass."""
        if self.is_split:
            return self.model.answers_of(rows)
        gpod = self.gpod
        with threads(gpod.n_jobs):
            found = self.fitted.answers(rows, mark_outliers=gpod.outliers == "label")
        return replace(found, labels=gpod.numbering_.of_labels(found.labels))

    def is_outside(self, support: Array) -> NDArray[np.bool_]:
        """Which rows have less support than training rows have."""
        return is_outlier(support, self.fitted.least_support)
