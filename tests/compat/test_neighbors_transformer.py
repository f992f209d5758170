"""The transformer of neighbours against scikit-learn's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsTransformer as OfScikitLearn
from sklearn.utils.estimator_checks import parametrize_with_checks

from eigencut.compat import KNeighborsTransformer


@parametrize_with_checks([KNeighborsTransformer(), KNeighborsTransformer(mode="connectivity")])
def test_scikit_learn_check(estimator, check):
    check(estimator)


@settings(max_examples=40)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from(["euclidean", "cosine", "manhattan", "chebyshev"]),
    st.sampled_from(["distance", "connectivity"]),
    st.integers(1, 12),
    st.sampled_from([2, 20]),
    st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_graphs_are_those_of_scikit_learn(seed, metric, mode, k, d, scale):
    rng = np.random.default_rng(seed)
    X, new = (scale * rng.normal(size=(n, d)) for n in (60, 15))
    how = dict(mode=mode, n_neighbors=k, metric=metric)
    ours, theirs = KNeighborsTransformer(**how).fit(X), OfScikitLearn(**how).fit(X)
    for rows in (X, new):
        found, expected = ours.transform(rows), theirs.transform(rows)
        assert found.shape == expected.shape and (found.indptr == expected.indptr).all()
        off = 1e-7 * (scale if metric != "cosine" else 1)
        assert np.abs(found.toarray() - expected.toarray()).max() <= off


def test_what_is_not_possible_is_said():
    with pytest.raises(ValueError, match=r"n_neighbors must be less than .*\(3\)\. Got 3; lower"):
        KNeighborsTransformer(n_neighbors=3).fit_transform(np.eye(3))
    with pytest.raises(ValueError, match=r"metric must be .* Got 'haversine'; use"):
        KNeighborsTransformer(metric="haversine").fit(np.eye(3))
