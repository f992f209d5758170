"""What a model whose clusters were split does not have, and where to find it."""

from __future__ import annotations

ELSEWHERE = {
    "labels_": "it was split by the rows that the model has kept, which are in another order; use "
    "predict(X)",
    "transform": "each part has an embedding of its own; use base_.transform(X), or "
    "splits_[0].part.transform of rows of one cluster",
    "score": "there is no one cut to measure; use base_.score(X), or splits_[0].part.score of rows "
    "of one cluster",
    "hierarchy": "it is a tree of the clusters before the split; use base_.hierarchy(), and "
    "splits_ for what became of them",
    "update": "update the model that was split, base_.update(X), and split it again",
    "drift": "ask the model that was split: base_.drift(X)",
}
