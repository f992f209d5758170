"""Leaving shares: what they are, and limits that hold at every size, with the default seed."""

import json

import numpy as np
import pytest
from sklearn.datasets import make_moons

from eigencut import GPOD, Gaussian, Kernel, Landmarks, Neighbors
from eigencut.extension.labelling import ClusterNumbers
from eigencut.inspection import assess
from eigencut.inspection.leaving import leaving_share
from eigencut.theory.betting import STAKES, limits_of_mean

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
CENTRES = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
AFFINITIES = {
    "gaussian": Gaussian(1.0),
    "neighbors": Neighbors(8),
    "contrast": Neighbors(8, density_contrast=1.0),
    "landmarks": Landmarks(30),
    "kernel": Kernel(lambda A, B: np.exp(-np.abs(A[:, None] - B).sum(axis=2))),
}


def draw(n, rng):
    return CENTRES[rng.integers(3, size=n)] + rng.normal(size=(n, 2))


def test_it_is_the_share_of_the_weight_to_other_clusters():
    X = draw(150, np.random.default_rng(0))
    model = GPOD(3, affinity=Gaussian(1.0)).fit(X[:100])
    labels, new = model.predict(X[100:]), X[100:]
    W = np.exp(-((new[:, None] - X[None, :100]) ** 2).sum(axis=2) / 2)
    leaves = (W * (model.labels_ != labels[:, None])).sum(axis=1) / W.sum(axis=1)
    found = leaving_share(model, new)
    expected = [leaves[labels == k].mean() for k in range(3)]
    np.testing.assert_allclose(found.mean, expected, rtol=1e-10)
    assert found.sizes.tolist() == np.bincount(labels).tolist()
    json.dumps(found.to_dict(), allow_nan=False)
    twice = leaving_share(model, new, sample_weight=np.full(50, 2))
    again = leaving_share(model, np.vstack([new, new]))
    np.testing.assert_allclose(twice.high, again.high, atol=1e-6)
    assert leaving_share(model, new, sample_weight=np.linspace(1, 2, 50)) is None


@pytest.fixture(scope="module", params=AFFINITIES)
def model_and_truth(request):
    rng = np.random.default_rng(300)
    model = GPOD(3, affinity=AFFINITIES[request.param], n_init=1, n_jobs=1).fit(draw(150, rng))
    return model, leaving_share(model, draw(6000, rng)).mean


@pytest.mark.parametrize("m", [20, 300])
def test_the_limits_of_all_clusters_hold(model_and_truth, m):
    (model, truth), rng = model_and_truth, np.random.default_rng(m)
    found = [leaving_share(model, draw(m, rng)) for _ in range(60)]
    held = [((one.low <= truth) & (truth <= one.high)).all() for one in found]
    # The standard error at 0.95 is 0.028.
    assert np.mean(held) >= 0.95 - 2 * 0.028
    width = np.mean([(one.high - one.low).sum() for one in found])
    assert width < {20: 2.9, 300: 0.5}[m]


def test_limits_are_where_the_fortune_reaches_its_limit():
    """By a grid of means, for values of every kind."""
    rng, grid = np.random.default_rng(0), np.linspace(0.0005, 0.9995, 1999)
    for y in (np.zeros(30), np.ones(9), rng.random(50), rng.integers(2, size=80) * 1.0, []):
        y = np.asarray(y, dtype=float)
        fortunes = [
            np.mean([[np.prod(1 + f * (values / mean - 1)) for f in STAKES]])
            for values, means in ((y, grid), (1 - y, 1 - grid))
            for mean in means
        ]
        above, below = np.array(fortunes).reshape(2, -1)
        kept = grid[(above < 2 / 0.05) & (below < 2 / 0.05)]
        low, high = limits_of_mean(y, 0.05)
        assert low == pytest.approx(kept.min(), abs=0.001)
        assert high == pytest.approx(kept.max(), abs=0.001)


def test_assess_says_it_first():
    X = make_moons(500, noise=0.05, random_state=0)[0]
    model = GPOD(2, affinity=Gaussian(0.2)).fit(X[:250])
    summary = assess(model, X[250:])
    first = str(summary).splitlines()[1]
    assert first == leaving_share(model, X[250:]).sentence
    assert first.startswith("On new data at most ")
    assert first.endswith(" % of any cluster's similarity goes to other clusters (95 % confidence)")
    assert summary.leaving.high.max() < 0.2
    assert float(first.split()[5]) / 100 >= summary.leaving.high.max()  # rounded up
    assert "On new data at most" not in str(assess(model))


def test_clusters_without_held_out_rows_are_named_by_their_numbers():
    X = np.vstack([draw(90, np.random.default_rng(0)), np.full((30, 2), 40.0)])
    X[:30] -= 40.0
    model = GPOD(3, affinity=Landmarks(12)).fit(X)
    some = X[model.predict(X) == 1]
    found = leaving_share(model, np.vstack([some, some, some]))
    assert found.sentence.endswith(". No held-out rows are in cluster 0, 2")
    assert "at most 100 %" not in found.sentence
    renumbered = GPOD(3, affinity=Landmarks(12)).fit(X)
    renumbered._renumber(np.arange(3), ClusterNumbers(np.array([1, 4, 6]), 7))
    found = leaving_share(renumbered, np.vstack([some, some, some]))
    assert found.sentence.endswith(". No held-out rows are in cluster 1, 6")
    assert [line.split()[0] for line in str(found).splitlines()[3:]] == ["1", "4", "6"]
