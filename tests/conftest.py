"""Data that several tests share. Everything is generated; nothing is downloaded."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_circles, make_moons

CUTS = ["ncut", "ratiocut"]
TOYS = {
    "circles": lambda n, seed: make_circles(n, factor=0.5, noise=0.05, random_state=seed),
    "moons": lambda n, seed: make_moons(n, noise=0.05, random_state=seed),
}


@pytest.fixture(params=CUTS)
def cut(request):
    return request.param


@pytest.fixture
def moons():
    return make_moons(300, noise=0.05, random_state=0)


@pytest.fixture
def blobs():
    return make_blobs(240, 3, centers=4, cluster_std=1.5, random_state=1)


def same_partition(a, b):
    """Whether two labellings agree up to the names of the clusters."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len(set(np.asarray(a).tolist())) == len(set(np.asarray(b).tolist()))
