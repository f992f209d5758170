"""Whether no partition as good as the one certified is farther away than is said."""

import itertools
import math

import numpy as np
import pytest
from scipy.optimize import linear_sum_assignment
from sklearn.datasets import make_moons

from eigencut import GPOD, Gaussian, Neighbors
from eigencut.affinities.given import Precomputed
from eigencut.cut import CUTS
from eigencut.inspection import assess, certificate
from eigencut.inspection.certificate import certified

PARTITIONS = {
    (n, K): [
        np.array(labels)
        for labels in itertools.product(range(K), repeat=n)
        if len(set(labels)) == K and list(dict.fromkeys(labels)) == list(range(K))
    ]
    for n, K in ((9, 2), (8, 3))
}


def brute_cut(W, labels, K, cut):
    """Eqs. 4 and 5, pair by pair."""
    total = 0.0
    for k in range(K):
        mine = labels == k
        size = W[mine].sum() if cut == "ncut" else len(W) * mine.sum()
        total += W[mine][:, ~mine].sum() / size
    return total


def mass_elsewhere(mass, labels, other, K):
    together = np.zeros((K, K))
    np.add.at(together, (labels, other), mass)
    return 1 - together[linear_sum_assignment(together, maximize=True)].sum() / mass.sum()


@pytest.mark.parametrize("cut", ["ncut", "ratiocut"])
@pytest.mark.parametrize(("n", "K"), list(PARTITIONS))
def test_no_partition_as_good_is_farther_away(cut, n, K):
    """All partitions of graphs of 8 or 9 vertices; of the best and of others that are nearly so."""
    rng, n_bounds, largest = np.random.default_rng(0), 0, 0.0
    for strength in (0.0, 0.02, 0.05, 0.1, 0.2, 0.4) * 3:
        blocks = np.arange(n) % K
        W = rng.uniform(0.5, 1, (n, n)) * np.where(blocks[:, None] == blocks, 1, strength)
        W[-1] = rng.uniform(0.05, 0.1, n)  # a vertex that may as well be elsewhere
        W[:, -1] = W[-1]
        W = (W + W.T) / 2
        values = [brute_cut(W, labels, K, cut) for labels in PARTITIONS[n, K]]
        graph = Precomputed().fit_graph(W)
        mass = W.sum(axis=1) if cut == "ncut" else np.ones(n)
        for rank in (0, 1, 3):
            mine = int(np.argsort(values)[rank])
            found = certified(graph, CUTS[cut], PARTITIONS[n, K][mine], K)
            assert found.cut == pytest.approx(values[mine], abs=1e-12)
            assert found.relaxed <= min(values) + 1e-12
            if not found.holds:
                continue
            as_good = np.flatnonzero(np.array(values) <= values[mine] + 1e-12)
            away = [
                mass_elsewhere(mass, PARTITIONS[n, K][mine], PARTITIONS[n, K][other], K)
                for other in as_good
            ]
            n_bounds, largest = n_bounds + 1, max(largest, max(away))
            assert max(away) <= found.differs_at_most + 1e-9
    assert n_bounds >= 9  # it says something,
    # also where a partition as good does differ, if only in what hardly counts.
    assert largest > 0.01 or cut == "ratiocut"


def test_clusters_that_are_clear_have_a_certificate_and_halves_of_a_square_have_none():
    rng = np.random.default_rng(1)
    blobs = 6 * np.eye(3)[rng.integers(3, size=500)] + rng.normal(size=(500, 3))
    for affinity in (Gaussian(1.0), Neighbors(10), "auto"):
        found = certificate(GPOD(3, affinity=affinity).fit(blobs))
        assert 0 <= found.differs_at_most < 0.02 and found.per_cluster.max() < 0.1, affinity
        assert found.relaxed <= found.cut + 1e-12 and found.aside < 0.05
    square = GPOD(2, affinity=Gaussian(0.2)).fit(rng.random((400, 2)))
    found = certificate(square)
    assert math.isnan(found.differs_at_most) and "may be quite different" in str(found)


def test_more_pieces_than_clusters_have_no_certificate():
    rng = np.random.default_rng(0)
    X = np.vstack([rng.normal((40 * k, 0), size=(60, 2)) for k in range(4)])
    with pytest.warns(match="connected components"):
        model = GPOD(3, affinity=Neighbors(8)).fit(X)
    assert not certificate(model).holds


def test_assess_prints_it_where_it_holds():
    X, _ = make_moons(400, noise=0.05, random_state=0)
    model = GPOD(2, affinity=Gaussian(0.1)).fit(X[:300])
    summary = assess(model, X[300:])
    assert summary.certificate.holds
    assert summary.certificate.sentence in str(summary).splitlines()[:4]
    square = GPOD(2, affinity=Gaussian(0.2)).fit(np.random.default_rng(0).random((300, 2)))
    assert "No partition" not in str(assess(square))


def test_a_model_without_rows_is_refused():
    X, _ = make_moons(300, noise=0.05, random_state=0)
    with pytest.raises(ValueError, match="model must have kept its training rows"):
        certificate(GPOD(2, affinity="landmarks").fit(X))
