"""Numbers that trouble arithmetic: a fit refuses them in a sentence, or keeps its promises.

To look for more of them: ``make fuzz``, or
``HYPOTHESIS_PROFILE=nasty python -m pytest tests/whole/test_nasty_numbers.py``.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from eigencut import GPOD, Gaussian, GraphWarning, Neighbors

TINY, EPS, HUGE = 5e-324, 2.0**-52, 1e300
NUMBERS = [
    *(0.0, -0.0, 1.0, -1.0, 1 + EPS, 1 - EPS / 2, 1e-8, 1e8, 2.0**24 + 1, 2.0**53, 2.0**53 + 2),
    *(TINY, -TINY, 2.0**-1022, 1e-200, 1e-154, 1e154, 1e155, -HUGE, HUGE, 3e38, 3.5e38, 65504.0),
    *(0.1, 0.3, 0.1 + 0.2, 1 / 3, 1e15, 1e16, 1e9, -1e9),
]
AFFINITIES = {
    "median": Gaussian("median"),
    "local": Gaussian("local", n_neighbors=2),
    "brute": Neighbors(2, index="brute"),
    "kdtree": Neighbors(2, index="kdtree", weights="gaussian"),
    "mutual": Neighbors(3, index="brute", graph="mutual"),
}


@st.composite
def nasty_rows(draw):
    """Few different numbers, an ordinary cloud with some of them, or columns of distant scales."""
    n, d = draw(st.integers(3, 20)), draw(st.integers(1, 3))
    number = st.sampled_from(NUMBERS)
    kind = draw(st.sampled_from(["numbers", "outliers", "scales", "nearly equal"]))
    if kind == "numbers":
        return np.array(draw(st.lists(number, min_size=n * d, max_size=n * d))).reshape(n, d)
    X = np.random.default_rng(draw(st.integers(0, 99))).normal(size=(n, d))
    if kind == "outliers":
        for _ in range(draw(st.integers(1, 3))):
            X[draw(st.integers(0, n - 1)), draw(st.integers(0, d - 1))] = draw(number)
    elif kind == "scales":
        X *= np.array([draw(st.sampled_from([1e-300, 1e-8, 1.0, 1e8, 1e150])) for _ in range(d)])
    else:
        X = draw(st.sampled_from([1.0, 1e6, -1e300])) * (1 + EPS * np.round(X))
    return X


@pytest.mark.parametrize("affinity", AFFINITIES.values(), ids=AFFINITIES.keys())
@given(X=nasty_rows(), n_clusters=st.integers(1, 3), new=st.sampled_from(NUMBERS))
def test_nasty_numbers_are_refused_or_clustered(affinity, X, n_clusters, new):
    model = GPOD(n_clusters, affinity=affinity, n_init=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        try:
            model.fit(X)
        except ValueError as error:
            assert " must " in str(error) and "\n" not in str(error), error
            return
        assert ((model.labels_ >= 0) & (model.labels_ < n_clusters)).all()
        assert np.isfinite(model.embedding_).all()
        assert (model.predict(X) == model.labels_).all()
        rows = np.full((1, X.shape[1]), new)
        assert 0 <= model.predict(rows)[0] < n_clusters
        assert np.isfinite(model.transform(rows)).all()
