"""Every mistake gets an error that names parameter, expectation, value and remedy."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.datasets import make_moons
from sklearn.exceptions import NotFittedError

from eigencut import GPOD, Gaussian, GraphWarning, Kernel, TableModel

X = make_moons(60, noise=0.05, random_state=0)[0]
SYMMETRIC = np.exp(-np.abs(np.subtract.outer(np.arange(6.0), np.arange(6))))


def asymmetric():
    W = SYMMETRIC.copy()
    W[0, 1] = 0.9
    return W


def with_value(value):
    Y = X.copy()
    Y[3, 1] = value
    return Y


FITS = {
    "n_clusters zero": (GPOD(0), X, "n_clusters must be an integer of at least 1. Got 0; use"),
    "n_clusters negative": (GPOD(-2), X, "n_clusters must be an integer .* Got -2"),
    "n_clusters fraction": (GPOD(2.5), X, "n_clusters must be an integer .* Got 2.5"),
    "n_clusters bool": (GPOD(True), X, "n_clusters must be an integer .* Got True"),
    "n_clusters word": (GPOD("two"), X, r"Got 'two'; .* 'auto', .* range\(2, 11\) or '2-10'"),
    "verbose word": (GPOD(2, verbose="yes"), X, "verbose must be True or False. Got 'yes'"),
    "no column": (
        TableModel(columns={"x1": "ignore", "x2": "ignore"}),
        X,
        "columns must leave at least one column to cluster. Got 'ignore' for all",
    ),
    "n_clusters above n": (
        GPOD(61),
        X,
        "n_clusters must be at most the number of different rows, 60. Got 61; lower it or add data",
    ),
    "too few different rows": (
        GPOD(3),
        np.repeat(X[:2], 10, axis=0),
        "n_clusters must be at most the number of different rows, 2. Got 3; lower it",
    ),
    "NaN": (
        GPOD(2),
        with_value(np.nan),
        r"X must be finite. Got NaN, a missing value, in row 3, column 1; use "
        r"TableModel\(GPOD\(...\), missing='median'\)",
    ),
    "NaN in a data frame": (
        GPOD(2),
        pd.DataFrame(with_value(np.nan), columns=["a", "b"]),
        "NaN, a missing value, in row 3, column 'b'; use TableModel",
    ),
    "pandas' NA": (
        GPOD(2),
        pd.DataFrame({"a": pd.array([1, None, 3], "Int64"), "b": [1.0, 2, 3]}),
        "NaN, a missing value, in row 1, column 'a'; use TableModel",
    ),
    "NaN in a sparse array": (
        GPOD(2),
        sparse.csc_array(with_value(np.nan)),
        "NaN, a missing value, in row 3, column 1; use TableModel",
    ),
    "NaN in a matrix": (
        GPOD(2, affinity="precomputed"),
        np.where(np.eye(6) > 0, np.nan, SYMMETRIC),
        "X must be finite. Got NaN, a missing value, in row 0, column 0; correct it",
    ),
    "infinity": (
        GPOD(2),
        with_value(np.inf),
        "X must be finite. Got infinity in row 3, column 1; correct or drop it",
    ),
    "one-dimensional": (GPOD(2), X[:, 0], "Expected 2D array, got 1D array instead"),
    "three-dimensional": (GPOD(2), np.ones((3, 3, 3)), "Found array with dim 3"),
    "no rows": (GPOD(2), X[:0], r"Found array with 0 sample\(s\)"),
    "no features": (GPOD(2), X[:, :0], r"0 feature\(s\)"),
    "sparse": (
        GPOD(2, affinity="gaussian"),
        sparse.csr_array(X),
        "X must be dense for GPOD with affinity='gaussian'. Got a sparse X; use "
        "affinity='neighbors' or 'landmarks', or X.toarray()",
    ),
    "complex": (GPOD(2), X.astype(complex), "Complex data not supported"),
    "words": (
        GPOD(2),
        np.array([["1", "2"], ["3", "tall"]]),
        "X must hold numbers only. Got 'tall' in row 1, column 1; drop or encode it",
    ),
    "a text column": (
        GPOD(2),
        pd.DataFrame({"a": [1.0, 2, 3], "town": ["x", "y", "z"]}),
        r"X must hold numbers only. Got the non-numeric column\(s\) 'town'; drop or encode them",
    ),
    "a polars text column": (
        GPOD(2),
        pl.DataFrame({"a": [1.0, 2, 3], "town": ["x", "y", "z"]}),
        "non-numeric column.* 'town'",
    ),
    "a date column": (
        GPOD(2),
        pd.DataFrame({"a": ["1", "2", "x"], "b": [1, 2, 3]}, dtype=object),
        "non-numeric column.* 'a'",
    ),
    "cut": (GPOD(2, cut="mincut"), X, "cut must be 'ncut' or 'ratiocut'. Got 'mincut'; use cut="),
    "extension": (
        GPOD(2, extension="nystrom"),
        X,
        "extension must be 'consistent' or 'paper'. Got 'nystrom'; use extension='consistent'",
    ),
    "affinity word": (
        GPOD(2, affinity="rbf"),
        X,
        "affinity must be one of 'auto', 'gaussian', .*'precomputed', .* Got 'rbf'; use",
    ),
    "affinity class": (GPOD(2, affinity=Gaussian), X, "affinity must be one of .* Got <class"),
    "affinity None": (GPOD(2, affinity=None), X, "affinity must be one of .* Got None"),
    "n_init": (
        GPOD(2, n_init=0),
        X,
        "n_init must be an integer of at least 1 and at most 10000. Got 0; use the",
    ),
    "n_jobs": (GPOD(2, n_jobs=0), X, "n_jobs must be a number of threads .* Got 0; use None"),
    "sigma zero": (
        GPOD(2, affinity=Gaussian(0)),
        X,
        "sigma must be a positive number or one of 'auto', .* Got 0; use sigma='auto'",
    ),
    "sigma negative": (GPOD(2, affinity=Gaussian(-1.0)), X, "sigma must be .* Got -1.0"),
    "sigma NaN": (GPOD(2, affinity=Gaussian(np.nan)), X, "sigma must be .* Got nan"),
    "sigma infinite": (GPOD(2, affinity=Gaussian(np.inf)), X, "sigma must be .* Got inf"),
    "sigma word": (GPOD(2, affinity=Gaussian("scott")), X, "sigma must be .* Got 'scott'"),
    "sigma None": (GPOD(2, affinity=Gaussian(None)), X, "sigma must be .* Got None"),
    "sigma without edges": (
        GPOD(2, affinity=Gaussian(1e-9)),
        X,
        "affinity must connect the rows. Got a graph of 60 different rows without a single edge. "
        r"Raise sigma \(now 1e-09\), or use sigma='auto'",
    ),
    "sigma complete": (
        GPOD(2, affinity=Gaussian(1e9)),
        X,
        r"sigma must be small enough to tell rows apart. Got 1e\+09, .* lower it",
    ),
    "scale": (
        GPOD(2, affinity=Gaussian("median", scale=0)),
        X,
        "scale must be a positive number. Got 0; leave it out",
    ),
    "scale word": (GPOD(2, affinity=Gaussian("local", scale="a")), X, "scale must be .* Got 'a'"),
    "sigma beyond floats": (GPOD(2, affinity=Gaussian(10**400)), X, "sigma must be .* Got 1000"),
    "random_state": (
        GPOD(2, random_state="x"),
        X,
        "random_state must be a non-negative integer, .* Got 'x'; use random_state=0",
    ),
    "n_jobs bool": (GPOD(2, n_jobs=True), X, "n_jobs must be a number of threads .* Got True"),
    "a datetime column": (
        GPOD(2),
        pd.DataFrame({"a": [1.0, 2], "day": pd.to_datetime(["2020-01-01", "2020-01-02"])}),
        "non-numeric column.* 'day'",
    ),
    "a lazy frame": (GPOD(2), pl.LazyFrame({"a": [1.0, 2]}), r"polars LazyFrame; call .collect"),
    "kernel complex": (
        GPOD(2, affinity=lambda A, B: np.ones((len(A), len(B))) * 1j),
        X,
        "function must return real numbers. Got dtype complex128; take the absolute value",
    ),
    "matrix of huge numbers": (
        GPOD(2, affinity="precomputed"),
        SYMMETRIC * 1e300,
        r"X must hold affinities of ordinary size .* Got 1e\+300 as the largest; divide all",
    ),
    "n_neighbors": (
        GPOD(2, affinity=Gaussian("local", n_neighbors=1)),
        X,
        "n_neighbors must be an integer of at least 2 .* Got 1; use the default",
    ),
    "matrix not square": (
        GPOD(2, affinity="precomputed"),
        np.ones((4, 3)),
        r"X must be a square matrix .* Got shape \(4, 3\); pass the n x n matrix",
    ),
    "matrix asymmetric": (
        GPOD(2, affinity="precomputed"),
        asymmetric(),
        r"X must be symmetric .* Got X\[0, 1\] = 0.9 and X\[1, 0\] = 0.367879; use \(X \+ X.T\)",
    ),
    "matrix negative": (
        GPOD(2, affinity="precomputed"),
        SYMMETRIC - 0.5,
        r"X must hold non-negative affinities .* Got X\[0, 5\] = -0.493\d+; use a similarity",
    ),
    "matrix without edges": (
        GPOD(2, affinity="precomputed"),
        np.eye(5),
        "affinity must connect the rows. .* Add affinities",
    ),
    "kernel negative": (
        GPOD(2, affinity=lambda A, B: A @ B.T),
        X,
        "function must return finite, non-negative weights. Got values from -",
    ),
    "kernel shape": (
        GPOD(2, affinity=lambda A, B: np.ones(3)),
        X,
        r"function must return an array of shape \(60, 60\) .* Got shape \(3,\)",
    ),
    "kernel asymmetric": (
        GPOD(2, affinity=lambda A, B: np.exp(A[:, :1] - B[:, 0])),
        X,
        "function must be symmetric: .* Got values that differ by up to",
    ),
    "kernel no function": (GPOD(2, affinity=Kernel(3)), X, "function must be callable .* Got 3"),
}


@pytest.mark.parametrize(("estimator", "data", "message"), FITS.values(), ids=FITS.keys())
def test_fit_says_what_is_wrong(estimator, data, message):
    with pytest.raises((TypeError, ValueError), match=message):
        estimator.fit(data)
    assert not hasattr(estimator, "labels_")


METHODS = ["predict", "transform", "score_samples", "score", "predict_batch"]


@pytest.mark.parametrize("method", METHODS)
def test_new_rows_are_checked(method):
    call = getattr(GPOD(2).fit(X), method)
    with pytest.raises(ValueError, match="X has 3 features, but GPOD is expecting 2 features"):
        call(np.ones((5, 3)))
    with pytest.raises(ValueError, match=r"NaN, .* in row 0, column 0; use TableModel"):
        call([[np.nan, 1.0], [1.0, 2.0]])
    with pytest.raises(ValueError, match=r"minimum of [12] is required by GPOD"):
        call(np.empty((0, 2)))
    with pytest.raises(ValueError, match="Expected 2D array, got 1D array"):
        call([1.0, 2.0])


@pytest.mark.parametrize("method", METHODS)
def test_before_fit(method):
    with pytest.raises(NotFittedError, match="This GPOD instance is not fitted yet"):
        getattr(GPOD(2), method)(X)


def test_predict_batch_and_score_have_their_own():
    model = GPOD(2).fit(X)
    with pytest.raises(ValueError, match=r"'random' or 'literal'. Got 'zeros'; use"):
        model.predict_batch(X, init="zeros")
    with pytest.raises(ValueError, match="minimum of 2 is required"):
        model.score(X[:1])


def test_new_affinities_must_not_be_negative():
    model = GPOD(2, affinity="precomputed").fit(SYMMETRIC)
    with pytest.raises(ValueError, match=r"non-negative affinities .* Got X\[0, 0\] = -1"):
        model.predict(-np.ones((1, 6)))


def test_warnings_point_at_the_line_of_the_user():
    far = np.vstack([X, X + 1e4])
    model = GPOD(2, affinity="gaussian")
    for call in (model.fit, model.fit_predict, model.fit_transform):
        with pytest.warns(GraphWarning, match="connected components") as caught:
            call(far)
        assert caught[0].filename == __file__


def test_a_failed_fit_leaves_the_fitted_model_usable():
    model = GPOD(2).fit(X)
    before = model.predict(X)
    model.set_params(n_clusters=100)
    with pytest.raises(ValueError, match="n_clusters must be at most"):
        model.fit(X)
    assert (model.predict(X) == before).all()


@pytest.mark.parametrize("number", [10**400, -(10**400), 10**5000], ids=["400", "-400", "5000"])
def test_integers_that_no_float_holds_are_called_too_large(number):
    rows = [[number, 1], *[[i, 2] for i in range(20)]]
    with pytest.raises(ValueError, match=r"below 1.8e308. Got a larger one in row 0, column 0"):
        GPOD(2).fit(rows)
    frame = pd.DataFrame(rows, columns=["a", "b"], dtype=object)
    with pytest.raises(ValueError, match=r"Column 'a' must hold numbers below 1.8e308. .* row 0;"):
        TableModel(GPOD(2)).fit(frame)


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
@pytest.mark.parametrize("affinity", ["auto", "neighbors", "landmarks", "gaussian"])
def test_a_number_is_found_for_rows_of_all_magnitudes(affinity):
    """Samples that they are compared with have fewer different rows than clusters."""
    rows = np.exp(np.linspace(-300, 300, 200))[:, np.newaxis]
    assert GPOD("auto", affinity=affinity).fit(rows).n_clusters_ >= 1
