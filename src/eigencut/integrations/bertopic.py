"""Probabilities of BERTopic's topics, if a GPOD found them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from eigencut._utils.arrays import Array
from eigencut.exceptions import invalid
from eigencut.model import Model


def probabilities(topic_model: Any, embeddings: ArrayLike) -> Array:
    """Return the probability of each topic, for each document.

    Probabilities of merged topics (``reduce_topics``, ``merge_topics``) are added up.

    Parameters
    ----------
    topic_model : BERTopic
        Fitted, with a GPOD as its ``hdbscan_model``.
    embeddings : array of shape (n_documents, n_dimensions)
        Embeddings of new documents or of those of the fit, as for BERTopic's ``transform``.

    Returns
    -------
    probabilities : array of shape (n_documents, n_topics)
        Column k is topic k. A row sums to 1 with the probability of topics that are now -1.
    """
    model: Any = getattr(topic_model, "hdbscan_model", None)
    if not isinstance(model, Model):
        expected = "be a fitted BERTopic whose hdbscan_model is a GPOD"
        got = type(topic_model if model is None else model).__name__
        remedy = "pass BERTopic(hdbscan_model=GPOD(...)) after its fit"
        raise invalid("topic_model", expected, got, remedy)
    of_clusters = model.predict_proba(topic_model.umap_model.transform(embeddings))
    topic_of = topic_model.topic_mapper_.get_mappings(original_topics=True)
    found = np.zeros((len(of_clusters), 1 + max(topic_of.values())))
    for cluster, topic in topic_of.items():
        if min(cluster, topic) >= 0:
            found[:, topic] += of_clusters[:, cluster]
    return found
