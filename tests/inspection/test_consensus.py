"""One partition from many."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import adjusted_rand_score

import eigencut

TRUE = np.repeat(np.arange(4), [90, 70, 50, 40])


def noisy(seed, share=0.3, split=2):
    """Return the truth, each cluster in parts, with some rows anywhere, in other numbers."""
    rng = np.random.default_rng(seed)
    labels = split * TRUE + rng.integers(0, split, len(TRUE))
    is_wrong = rng.random(len(TRUE)) < share
    labels[is_wrong] = rng.integers(0, 4 * split, is_wrong.sum())
    return rng.permutation(4 * split)[labels]


LABELLINGS = [noisy(seed, split=1 + seed % 3) for seed in range(12)]


def test_many_are_better_than_one():
    found = eigencut.consensus(LABELLINGS, 4)
    each = [adjusted_rand_score(TRUE, one) for one in LABELLINGS]
    assert adjusted_rand_score(TRUE, found.labels) > 0.95 > max(each) + 0.2
    assert (np.diff(np.bincount(found.labels)) <= 0).all()  # numbers by size
    assert found.agreement.min() > 0 and found.agreement.max() <= 1


def test_order_of_rows_names_and_order_of_labellings_do_not_matter():
    rng, found = np.random.default_rng(0), eigencut.consensus(LABELLINGS, 4)
    order = rng.permutation(len(TRUE))
    moved = eigencut.consensus([one[order] for one in LABELLINGS], 4)
    assert (moved.labels == found.labels[order]).all()
    assert moved.agreement == pytest.approx(found.agreement[order])
    renamed = [(rng.choice(10_000_000, 12, replace=False) + 7)[one] for one in LABELLINGS[::-1]]
    again = eigencut.consensus(renamed, 4)
    assert (again.labels == found.labels).all()
    assert again.agreement == pytest.approx(found.agreement)
    words = [np.array(list("abcdefghijkl"))[one] for one in LABELLINGS]
    assert (eigencut.consensus(words, 4).labels == found.labels).all()
    twice = eigencut.consensus([np.tile(one, 2) for one in LABELLINGS], 4)
    assert (twice.labels == np.tile(found.labels, 2)).all()


def test_the_cut_is_that_of_the_graph_on_all_rows():
    """The eigenvalues of the graph on clusters are those of the graph on rows."""
    B = np.concatenate([one[:, None] == np.arange(one.max() + 1) for one in LABELLINGS], axis=1)
    B = B[:, B.any(axis=0)].astype(float)
    on_rows = (B / B.sum(axis=0)) @ B.T / len(LABELLINGS)
    on_clusters = B.T @ B / len(LABELLINGS) / B.sum(axis=0)
    largest = [np.sort(np.linalg.eigvals(one).real)[-5:] for one in (on_rows, on_clusters)]
    assert largest[0] == pytest.approx(largest[1])
    labels = eigencut.consensus(LABELLINGS, 4).labels
    together = on_rows * (labels[:, None] == labels)
    assert eigencut.consensus(LABELLINGS, 4).agreement == pytest.approx(together.sum(axis=1))


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4])
def test_labellings_that_agree(n_clusters):
    found = eigencut.consensus([TRUE, 7 - TRUE, TRUE], n_clusters)
    assert len(np.unique(found.labels)) == n_clusters
    for k in range(4):  # what all put together stays together
        assert len(np.unique(found.labels[k == TRUE])) == 1
    assert (found.agreement == 1).all()


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(1, 5), st.integers(1, 6), st.integers(0, 10_000))
def test_any_labels_have_a_consensus_or_a_sentence(n, n_labellings, n_clusters, seed):
    rng = np.random.default_rng(seed)
    labels = [rng.integers(-1, rng.integers(1, 6), n) for _ in range(n_labellings)]
    try:
        found = eigencut.consensus(labels, n_clusters)
    except ValueError as error:
        assert "must be at most the" in str(error) or "must label some rows" in str(error)
        return
    assert ((found.labels >= 0) == (np.array(labels) >= 0).any(axis=0)).all()
    assert found.labels.max() < n_clusters
    assert (found.agreement >= 0).all() and (found.agreement <= 1 + 1e-12).all()
    same = (np.array(labels) == np.array(labels)[:, :1]).all(axis=0)
    assert len(np.unique(found.labels[same])) == 1


def test_rows_without_labels():
    some = [np.where(np.random.default_rng(i).random(250) < 0.4, -1, one) for i, one in
            enumerate(LABELLINGS)]  # fmt: skip
    for one in some:
        one[:3] = -1
    found = eigencut.consensus(some, 4)
    assert (found.labels[:3] == -1).all() and (found.agreement[:3] == 0).all()
    assert (found.labels[3:] >= 0).all()
    assert adjusted_rand_score(TRUE[3:], found.labels[3:]) > 0.85
    cells = [[None if label < 0 else label for label in one.tolist()] for one in some]
    assert (eigencut.consensus(cells, 4).labels == found.labels).all()


@pytest.mark.parametrize(
    ("labels", "n_clusters", "said"),
    [
        ([], 2, "labels_list must be a list of labellings"),
        ("ab", 2, "labels_list must be a list of labellings"),
        (TRUE, 2, "labels_list must be a list of labellings"),
        ([TRUE, TRUE[:9]], 2, r"labels_list\[1\] must have a label"),
        ([TRUE, TRUE[:, None].repeat(2, axis=1)], 2, r"labels_list\[1\] must"),
        ([TRUE], 5, "n_clusters must be at most the 4 groups"),
        ([TRUE], 0, "n_clusters must be an integer"),
        ([-np.ones(5, int)], 1, "labels_list must label some rows"),
    ],
)
def test_wrong_inputs_are_refused(labels, n_clusters, said):
    with pytest.raises(ValueError, match=said):
        eigencut.consensus(labels, n_clusters)
