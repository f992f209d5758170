"""How many clusters classes and pairs ask for; "auto" has them."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD, Constraints
from eigencut.exceptions import GraphWarning


@pytest.fixture
def blobs():
    """That "auto" takes for one cluster."""
    X, _ = make_blobs(300, centers=1, random_state=0)
    with pytest.warns(GraphWarning, match="look like one cluster"):
        assert GPOD("auto").fit(X).n_clusters_ == 1
    return X


def test_auto_has_as_many_clusters_as_pairs_need(blobs):
    model = GPOD("auto").fit(blobs, constraints=Constraints(cannot_link=[(0, 1)]))
    assert model.n_clusters_ == 2
    W = np.exp(-((blobs[:, np.newaxis] - blobs) ** 2).sum(axis=2))
    pairs = Constraints(cannot_link=[(0, 1)])
    assert GPOD("auto", affinity="precomputed").fit(W, constraints=pairs).n_clusters_ >= 2
    must = Constraints(must_link=[(0, 1)])
    with pytest.warns(GraphWarning, match="look like one cluster"):
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
