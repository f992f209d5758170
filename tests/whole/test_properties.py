"""Properties over generated data: any shape, scale, duplicates, float32."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from random_problems import run_problem

from eigencut import GPOD, Gaussian, GraphWarning

# Small integers make duplicates and symmetric ties; floats make everything else.
ELEMENTS = {
    "integers": st.integers(-3, 3).map(float),
    "floats": st.floats(-1e3, 1e3, width=32),
    "extreme": st.floats(-1e300, 1e300, allow_subnormal=True),
}
AFFINITIES = [Gaussian(), Gaussian("median"), Gaussian("neighbors", n_neighbors=3)]


@st.composite
def problems(draw):
    kind = draw(st.sampled_from(sorted(ELEMENTS)))
    shape = draw(st.tuples(st.integers(2, 25), st.integers(1, 4)))
    X = draw(arrays(np.float64, shape, elements=ELEMENTS[kind]))
    if kind != "extreme" and draw(st.booleans()):
        X = X.astype(np.float32)
    n_distinct = len(np.unique(X + 0, axis=0))
    n_clusters = draw(st.integers(1, min(n_distinct, 5)))
    model = GPOD(
        n_clusters,
        cut=draw(st.sampled_from(["ncut", "ratiocut"])),
        affinity=draw(st.sampled_from(AFFINITIES)),
        n_init=2,
    )
    return X, model


@given(problems())
def test_every_fit_keeps_its_promises(problem):
    X, model = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        model.fit(X)
    K = model.n_clusters
    assert np.isfinite(model.embedding_).all()
    assert ((model.labels_ >= 0) & (model.labels_ < K)).all()
    assert (np.diff(np.bincount(model.labels_, minlength=K)) <= 0).all()
    assert (model.predict(X) == model.labels_).all()
    scale = np.abs(model.embedding_).max()
    assert np.abs(model.transform(X) - model.embedding_).max() < 1e-8 * max(1, scale)
    alone = [model.predict(X[i : i + 1])[0] for i in range(len(X))]
    assert alone == model.labels_.tolist()
    same_place = (X[:, None] == X).all(axis=2)
    assert (model.labels_[:, None] == model.labels_)[same_place].all()


@given(problems(), st.integers(-40, 40))
def test_units_that_are_powers_of_two_change_nothing_at_all(problem, exponent):
    X, model = problem
    X = np.clip(X.astype(np.float64), -1e200, 1e200)
    X[np.abs(X) < 1e-200] = 0.0
    if len(np.unique(X, axis=0)) < model.n_clusters:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        labels = model.fit_predict(X)
        scaled = model.fit_predict(X * 2.0**exponent)
    assert (labels == scaled).all()


@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_rows_permutes_the_partition(problem, random):
    X, model = problem
    order = list(range(len(X)))
    random.shuffle(order)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        labels = model.fit_predict(X)
        permuted = model.fit_predict(X[order])
    together = labels[:, None] == labels
    assert (together[np.ix_(order, order)] == (permuted[:, None] == permuted)).all()


@given(problems(), st.floats(-1e12, 1e12), st.floats(-1e300, 1e300))
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_any_new_row_gets_a_label(problem, near, far):
    X, model = problem
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        model.fit(X)
    new = np.vstack([np.full(X.shape[1], near), np.full(X.shape[1], far)])
    labels = model.predict(new)
    assert ((labels >= 0) & (labels < model.n_clusters)).all()
    assert np.isfinite(model.transform(new)).all()
    assert not np.isnan(model.score_samples(new)).any()


def test_fits_at_random_are_answered_or_refused():
    """Affinities, metrics, cuts, weights and outliers; ``make soak`` has 5000 of them."""
    found = [run_problem(np.random.default_rng([29, i]), most_rows=120) for i in range(300)]
    fitted = {name for name, what in found if what == "fitted"}
    assert {"cosine", "hamming", "landmarks", "ranked", "gaussian", "auto"} <= fitted


@pytest.mark.parametrize("outlier", [4.7e18, 2e28])
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_a_new_row_far_out_of_a_narrow_bandwidth_overflows_nowhere(outlier):
    X = np.array([[outlier, 0.0], [1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", GraphWarning)
        model = GPOD(1, affinity=Gaussian("median")).fit(X)
    assert model.predict([[0.0, 0.0], [1.6e168, 1.6e168]]).tolist() == [0, 0]
