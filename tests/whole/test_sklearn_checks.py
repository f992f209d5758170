"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils import ClassifierTags
from sklearn.utils.estimator_checks import (
    check_estimator_sparse_array,
    check_estimator_sparse_matrix,
    parametrize_with_checks,
)

from eigencut import GPOD, Gaussian, TableModel

# These three hand rows of features to every estimator, also to one whose tags say that it takes a
# square matrix of affinities (input_tags.pairwise); refusing them is what they should see.
NOT_SQUARE = "the check passes rows of features to an estimator of affinities"


# These take whatever has predict_proba and accepts sparse rows for a classifier: they read
# classifier_tags.multi_class, where a clusterer has None, and want two or four columns whatever K
# is. With such tags and K = 2 or 4 they pass: test_sparse_checks_but_for_their_tags.
NOT_A_CLASSIFIER = "the check takes an estimator with predict_proba for a classifier"


# These pass four different rows, each of them four times, to an estimator of eight clusters.
TOO_FEW_ROWS = "the check has fewer different rows than clusters"


def expected_failures(estimator):
    if isinstance(estimator, TableModel):
        return {}
    names = ("check_estimator_sparse_array", "check_estimator_sparse_matrix")
    takes_sparse = estimator.affinity in ("auto", "neighbors", "precomputed")
    found = dict.fromkeys(names if takes_sparse else (), NOT_A_CLASSIFIER)
    if estimator.n_clusters == GPOD().n_clusters:
        names = ("check_sample_weights_shape", "check_sample_weights_not_overwritten")
        found |= dict.fromkeys(names, TOO_FEW_ROWS)
    if estimator.affinity == "precomputed":
        names = ("check_clustering", "check_positive_only_tag_during_fit")
        found |= dict.fromkeys(names, NOT_SQUARE)
    return found


@parametrize_with_checks(
    [
        GPOD(),
        GPOD(n_clusters=2, cut="ratiocut"),
        GPOD(n_clusters=3, cut="ratiocut", extension="paper"),
        GPOD(n_clusters=3, affinity=Gaussian(sigma="neighbors")),
        GPOD(n_clusters=2, affinity="neighbors"),
        GPOD(n_clusters=2, affinity="precomputed"),
        TableModel(GPOD(n_clusters=3)),
        TableModel(GPOD(n_clusters=2), missing="median"),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_scikit_learn_check(estimator, check):
    check(estimator)


class TaggedGPOD(GPOD):
    """Says how many columns predict_proba has where these checks look for it."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags = ClassifierTags(multi_class=self.n_clusters > 2)
        return tags


@pytest.mark.parametrize("check", [check_estimator_sparse_array, check_estimator_sparse_matrix])
@pytest.mark.parametrize("affinity", ["auto", "neighbors", "landmarks", "precomputed"])
@pytest.mark.parametrize("n_clusters", [2, 4])
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_sparse_checks_but_for_their_tags(check, affinity, n_clusters):
    check("GPOD", TaggedGPOD(n_clusters, affinity=affinity))
