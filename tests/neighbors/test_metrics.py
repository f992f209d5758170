"""Metrics against scipy and scikit-learn: distances, searches, landmarks, and refusals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.spatial.distance import cdist

from eigencut.neighbors.metrics import METRICS, Space, are_unit_vectors, places_on_earth
from eigencut.neighbors.search import NearestLandmarks, allowed_indexes, build_index
from metric_data import DISTANCES, EARTH, rows_for

ALL = tuple(METRICS)


def test_these_are_all():
    assert tuple(DISTANCES) == ALL


@pytest.mark.parametrize("metric", ALL)
def test_distances_are_those_of_others(metric):
    A, B = rows_for(metric, 80)[0], rows_for(metric, 60, seed=1)[0]
    space = Space(A, METRICS[metric])
    unit = 2.0**space.exponent
    found = unit * space.metric.all_pairs(space.points(A), space.points(B))
    expected = DISTANCES[metric](A, B)
    assert np.abs(found - expected).max() < 1e-7 * expected.max()  # 1 - cos has half the digits
    of_pairs = unit * space.metric.between(space.points(A[:60]), space.points(B))
    assert np.abs(of_pairs - np.diagonal(found)).max() < 1e-14 * expected.max()


@pytest.mark.parametrize("metric", ALL)
def test_searches_find_what_all_distances_say(metric):
    rows, new = np.unique(rows_for(metric, 400)[0], axis=0), rows_for(metric, 90, seed=1)[0]
    space = Space(rows, METRICS[metric])
    points, queries = space.points(rows), space.points(new)
    every = METRICS[metric].all_pairs(queries, points)
    nearest = np.argsort(every, axis=1, kind="stable")[:, :7]  # of equal ones the first
    for name in set(allowed_indexes(metric, is_sparse=False)) - {"approximate"} | {"auto"}:
        distances, numbers = build_index(name, points, space)[1].query(queries, 7)
        assert (numbers == nearest).all()
        expected = np.take_along_axis(every, nearest, 1)
        assert np.abs(distances - expected).max() <= 1e-13 * every.max()


@pytest.mark.parametrize("n_points", [40, 150])
@pytest.mark.parametrize("metric", ALL)
def test_nearest_landmarks(metric, n_points):
    points = METRICS[metric].points(np.unique(rows_for(metric, n_points)[0], axis=0))
    search = NearestLandmarks(points, 4, metric=METRICS[metric])
    X = rows_for(metric, 70, seed=1)[0]
    nearest, squared = search(X)
    every = METRICS[metric].all_pairs(METRICS[metric].points(X), points)
    found = np.take_along_axis(every, nearest, 1)
    assert np.abs(np.sqrt(squared) * 2.0**search.exponent - found).max() < 1e-9 * every.max()
    best = np.sort(every, axis=1)[:, :4]
    assert np.abs(np.sort(found, axis=1) - best).max() < 1e-9 * every.max()


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e150, 1e300])
@pytest.mark.parametrize("metric", ["cosine", "manhattan", "chebyshev", "hamming"])
def test_neighbours_do_not_depend_on_units(metric, scale):
    rows, new = rows_for(metric, 100)[0], rows_for(metric, 50, seed=1)[0]
    found = []
    for unit in (1.0, scale):
        space = Space(rows * unit, METRICS[metric])
        index = build_index("brute", space.points(rows * unit), space)[1]
        found.append(index.query(space.points(new * unit), 5)[1])
    assert (found[0] == found[1]).all()


small = st.integers(0, 3).map(float)


@given(arrays(float, (6, 5), elements=small), arrays(float, (4, 5), elements=small))
def test_codes_and_sets_to_the_last_bit(A, B):
    assert (METRICS["hamming"].all_pairs(A, B) == cdist(A, B, "hamming")).all()
    A, B = (A > 1).astype(float), (B > 1).astype(float)
    found = METRICS["jaccard"].all_pairs(A, B)
    common = np.array([[np.sum((a > 0) & (b > 0)) for b in B] for a in A])
    together = np.array([[np.sum((a > 0) | (b > 0)) for b in B] for a in A])
    assert (found == (together - common) / np.maximum(together, 1)).all()  # empty sets are equal
    each = [[METRICS["jaccard"].between(a[None], b[None])[0] for b in B] for a in A]
    assert (found == each).all()


@given(arrays(float, (5, 2), elements=st.floats(-89.9, 89.9)), st.sampled_from([0.0, 360.0]))
def test_places_are_on_the_globe_wherever_longitude_begins(X, turn):
    points = places_on_earth(X)
    assert np.abs(np.linalg.norm(points, axis=1) - EARTH).max() < 1e-8
    X[:, 1] -= 90
    turned = X + np.array([0.0, turn])
    assert np.abs(places_on_earth(turned) - places_on_earth(X)).max() < 1e-8


@pytest.mark.parametrize(
    "metric, rows, message",
    [
        ("cosine", [[1.0, 0.0], [0.0, 0.0]], "row of zeros .* Got zeros in row 1; drop"),
        ("jaccard", [[1.0, 0.5]], r"must hold 0 and 1 .* Got 0.5 in row 0, column 1; pass X > 0"),
        ("haversine", [[1.0, 2.0, 3.0]], "two columns .* Got 3; choose"),
        (
            "haversine",
            [[91.0, 2.0]],
            "latitude from -90 to 90 .* first column .* Got 91 in row 0, column 0; give",
        ),
        (
            "haversine",
            [[9.0, -200.0]],
            "longitude from -180 to 360 .* Got -200 in row 0, column 1; give",
        ),
    ],
)
def test_rows_that_have_no_place(metric, rows, message):
    with pytest.raises(ValueError, match=message):
        METRICS[metric].points(np.array(rows))


def test_unit_vectors_are_recognized():
    X = np.random.default_rng(0).normal(size=(1000, 30))
    unit = X / np.linalg.norm(X, axis=1, keepdims=True)
    assert are_unit_vectors(unit) and are_unit_vectors(unit.astype(np.float16).astype(float))
    assert not are_unit_vectors(X) and not are_unit_vectors(np.ones((5, 1)))
    assert not are_unit_vectors(1.01 * unit)
    assert not are_unit_vectors(np.full((5, 3), 66, dtype=np.int8))
