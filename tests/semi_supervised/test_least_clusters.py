"""How many clusters pairs ask for, against all colourings of small graphs; "auto" has them."""

import itertools
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_blobs

from eigencut import GPOD, Constraints
from eigencut.exceptions import GraphWarning
from eigencut.semi_supervised.known_labels import Known, least_apart


def colours(n, pairs):
    """By trying all."""

    def is_enough(K):
        tried = itertools.product(range(K), repeat=n)
        return any(all(found[a] != found[b] for a, b in pairs) for found in tried)

    return next(K for K in itertools.count(1) if is_enough(K))


ROWS = st.integers(0, 5)
PAIRS = st.lists(st.tuples(ROWS, ROWS).filter(lambda pair: pair[0] != pair[1]), max_size=12)


@given(PAIRS)
def test_it_is_never_more_than_colours_are_needed(pairs):
    apart = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    found = least_apart(np.full(6, -1), [], apart)
    needed = colours(6, pairs)
    assert found <= needed
    assert found >= min(needed, 3)  # two colours, or an odd ring, are always seen


def test_rings_cliques_groups_and_classes():
    ring = [(i, (i + 1) % 5) for i in range(5)]
    assert least_apart(np.full(5, -1), [], np.array(ring)) == 3
    clique = np.array(list(itertools.combinations(range(7), 2)))
    assert least_apart(np.full(9, -1), [], clique) == 7
    X = np.arange(16.0).reshape(8, 2)
    linked = Constraints([(0, 4), (1, 5)], [(0, 1), (5, 2), (2, 4)])  # 04 - 15 - 2 - 04
    assert Known.from_rows(X, None, linked).least_clusters == 3
    y = [0, 1, 2, -1, -1, -1, -1, -1]
    assert Known.from_rows(X, y, None).least_clusters == 3
    beside_all = Constraints(cannot_link=[(0, 7), (1, 7), (2, 7)])
    assert Known.from_rows(X, y, beside_all).least_clusters == 4


@pytest.fixture
def blobs():
    """That "auto" takes for one cluster."""
    X, _ = make_blobs(300, centers=3, random_state=0)
    with pytest.warns(GraphWarning, match="are taken for one cluster"):
        assert GPOD("auto").fit(X).n_clusters_ == 1
    return X


def test_auto_has_as_many_clusters_as_pairs_need(blobs):
    model = GPOD("auto").fit(blobs, constraints=Constraints(cannot_link=[(0, 1)]))
    assert model.n_clusters_ == 2
    apart = list(itertools.combinations(range(4), 2))
    model = GPOD("auto", affinity="neighbors").fit(blobs, constraints=Constraints((), apart))
    assert model.n_clusters_ == 4
    W = np.exp(-((blobs[:, np.newaxis] - blobs) ** 2).sum(axis=2))
    of_matrix = GPOD("auto", affinity="precomputed").fit(W, constraints=Constraints((), apart))
    assert of_matrix.n_clusters_ >= 4
    must = Constraints(must_link=[(0, 1)])
    with pytest.warns(GraphWarning, match="are taken for one cluster"):
        assert GPOD("auto").fit(blobs, constraints=must).n_clusters_ == 1


def test_known_classes_are_not_taken_for_one_cluster(blobs):
    y = np.r_[0, 1, 2, 3, 4, np.full(295, -1)]
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = GPOD("auto").fit(blobs, known_labels=y)
    assert model.n_clusters_ == 5
    assert not [w for w in heard if "one cluster" in str(w.message)] and not model.warnings_


@pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")
@pytest.mark.parametrize(("asked", "K"), [(range(2, 4), 5), ([1, 2, 6, 8], 6), ("2-5", 5)])
def test_candidates_below_the_classes_are_left_out(blobs, asked, K):
    y = np.r_[0, 1, 2, 3, 4, np.full(295, -1)]
    assert GPOD(asked).fit(blobs, known_labels=y).n_clusters_ == K
