"""Words of clusters: c-TF-IDF, all documents of a cluster counting as one.

    score(word, cluster) = share of the cluster's words * log(1 + A / f(word)),

A the mean number of words in a cluster and f how often the word occurs in all of them. Frequent
words of no meaning would still come first, in any language; so only words are listed that occur in
more of the cluster's documents than of others, beyond what chance explains.

References
----------
.. [1] M. Grootendorst, "BERTopic: Neural topic modeling with a class-based TF-IDF procedure",
   arXiv:2203.05794, 2022.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import JsonReady
from eigencut.inspection.intervals import difference_interval, quantile_of, share_interval

_LEAST_DOCUMENTS = 2  # of a cluster, in which a word must occur


@dataclass(frozen=True)
class Word(JsonReady):
    """A word that is frequent in the documents of a cluster.

    Attributes
    ----------
    word : str
    score : float
        c-TF-IDF.
    share : float
        Of the cluster's documents, those with this word.
    overall : float
        The same share of all documents.
    """

    word: str
    score: float
    share: float
    overall: float


def class_tf_idf(counts: Array, of_word: Array, mean: float) -> Array:
    """c-TF-IDF of words in a cluster: how often each occurs there, in all, and A."""
    share = counts / max(1.0, float(counts.sum()))
    return np.asarray(share * np.log1p(mean / np.maximum(of_word, 1.0)))


def words(
    documents: Sequence[str],
    labels: Indices,
    n_clusters: int,
    n_words: int = 8,
    confidence: float = 0.95,
) -> list[tuple[Word, ...]]:
    """The words of each cluster, the highest score first.

    Parameters
    ----------
    documents : sequence of str
    labels : array of shape (n_documents,)
        From 0 to ``n_clusters`` - 1.
    n_clusters, n_words : int
    confidence : float, default=0.95
        Of the intervals that say what chance explains.

    Returns
    -------
    list of tuples of Word
    """
    from sklearn.feature_extraction.text import CountVectorizer

    vectorizer = CountVectorizer()
    try:
        occurs = sparse.csr_array(vectorizer.fit_transform(documents), dtype=np.float64)
    except ValueError:  # no document has a word
        return [()] * n_clusters
    vocabulary = vectorizer.get_feature_names_out()
    n = len(labels)
    is_in = sparse.csr_array((np.ones(n), (labels, np.arange(n))), shape=(n_clusters, n))
    counts, holds = is_in @ occurs, is_in @ (occurs > 0).astype(np.float64)
    of_word, in_all = counts.sum(axis=0), holds.sum(axis=0)
    mean, sizes = float(of_word.sum()) / n_clusters, np.bincount(labels, minlength=n_clusters)
    z, found = quantile_of(confidence), []
    for k in range(n_clusters):
        scores = class_tf_idf(counts[[k]].toarray()[0], of_word, mean)
        own = holds[[k]].toarray()[0]
        lists = (own >= _LEAST_DOCUMENTS) & _is_more_often(own, sizes[k], in_all, n, z)
        best = [j for j in np.argsort(-scores, kind="stable") if lists[j]][:n_words]
        share, overall = own / max(1, sizes[k]), in_all / n
        found.append(
            tuple(
                Word(str(vocabulary[j]), float(scores[j]), float(share[j]), float(overall[j]))
                for j in best
            )
        )
    return found


def _is_more_often(own: Array, size: int, in_all: Array, n: int, z: float) -> Array:
    """Which words occur in a larger share of the cluster's documents than elsewhere."""
    if size == n:
        return np.ones(len(own), dtype=bool)
    others, elsewhere = n - size, in_all - own
    of_own, of_others = (
        (found / max(1, total), share_interval(found, np.array(total), z))
        for found, total in ((own, size), (elsewhere, others))
    )
    return np.asarray(difference_interval(*of_own, *of_others)[0] > 0)
