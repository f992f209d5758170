"""Levels of a model as layers of labels, the finest first, for toponymy and datamapplot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from eigencut._utils.arrays import Array, Indices


def layers(levels: Sequence[Any], names: Mapping[int, str] | None = None) -> list[NDArray[Any]]:
    """Return the levels of a model as a list of layers.

    Parameters
    ----------
    levels : array of shape (n_levels, n_rows)
        The result of ``model.predict_levels``.
    names : dict of int to str, optional
        Names of groups; then layers are texts, as datamapplot takes them. Default: layers are
        numbers from 0 on without gaps, as toponymy takes them.

    Returns
    -------
    list of arrays of shape (n_rows,)

    Examples
    --------
    >>> layers([[0, 4, 2, -1], [0, 2, 2, -1]])
    [array([ 0,  2,  1, -1]), array([ 0,  1,  1, -1])]
    >>> layers([[0, 2, -1]], {2: "birds"})[0].tolist()
    ['0', 'birds', 'Unlabelled']
    """
    found = []
    for level in levels:
        numbers, place = np.unique(np.maximum(level, -1), return_inverse=True)
        own: Any = np.arange(len(numbers)) - int(numbers[0] < 0)
        if names is not None:
            words = [str(names.get(number, number)) for number in numbers.tolist()]
            own = np.array(["Unlabelled", *words[1:]] if numbers[0] < 0 else words)
        found.append(own[place.ravel()])
    return found


class LevelsClusterer:
    """A clusterer for ``Toponymy(clusterer=)`` that gives the levels of a model.

    Parameters
    ----------
    model : GPOD or TableModel
        A fitted model, or one to be fitted on the vectors that toponymy clusters.
    counts : sequence of int or "auto", default="auto"
        The number of groups of each level, as in ``predict_levels``.
    min_children : int, default=1
        The least number of groups of the next finer level in each group.
    """

    def __init__(self, model: Any, counts: Any = "auto", min_children: int = 1) -> None:
        self.model = model
        self.counts = counts
        self.min_children = min_children

    def fit(
        self,
        clusterable_vectors: Array,
        embedding_vectors: Array,
        layer_class: Any,
        **layer_options: Any,
    ) -> LevelsClusterer:
        """Label the vectors at all levels; set ``cluster_layers_`` and ``cluster_tree_``."""
        try:
            check_is_fitted(self.model)
        except ValueError:
            self.model.fit(clusterable_vectors)
        levels = self.model.predict_levels(
            clusterable_vectors, self.counts, min_children=self.min_children
        )
        found: list[Indices] = layers(levels)
        tree: dict[tuple[int, int], list[tuple[int, int]]] = {}
        above = [*found[1:], np.zeros_like(found[0])]  # a root above the coarsest layer
        self.cluster_layers_ = []
        for number, (labels, parents) in enumerate(zip(found, above, strict=True)):
            means = [embedding_vectors[labels == k].mean(axis=0) for k in range(labels.max() + 1)]
            layer = layer_class(labels, np.array(means), layer_id=number, **layer_options)
            self.cluster_layers_.append(layer)
            for k in range(len(means)):
                parent = int(parents[np.argmax(labels == k)])
                tree.setdefault((number + 1, parent), []).append((number, k))
        self.cluster_tree_ = tree
        return self

    def fit_predict(
        self, clusterable_vectors: Array, embedding_vectors: Array, layer_class: Any, **options: Any
    ) -> tuple[list[Any], dict[tuple[int, int], list[tuple[int, int]]]]:
        """Fit, and return ``cluster_layers_`` and ``cluster_tree_``."""
        self.fit(clusterable_vectors, embedding_vectors, layer_class, **options)
        return self.cluster_layers_, self.cluster_tree_
