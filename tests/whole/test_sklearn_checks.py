"""scikit-learn's own checks of an estimator."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigencut import GPOD, Gaussian

# These three hand rows of features to every estimator, also to one whose tags say that it takes a
# square matrix of affinities (input_tags.pairwise); refusing them is what they should see.
NOT_SQUARE = "the check passes rows of features to an estimator of affinities"


def expected_failures(estimator):
    if estimator.affinity != "precomputed":
        return {}
    return dict.fromkeys(("check_clustering", "check_positive_only_tag_during_fit"), NOT_SQUARE)


@parametrize_with_checks(
    [
        GPOD(),
        GPOD(n_clusters=2, cut="ratiocut"),
        GPOD(n_clusters=3, cut="ratiocut", extension="paper"),
        GPOD(n_clusters=3, affinity=Gaussian(sigma="neighbors")),
        GPOD(n_clusters=2, affinity="neighbors"),
        GPOD(n_clusters=2, affinity="precomputed"),
    ],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_scikit_learn_check(estimator, check):
    check(estimator)
