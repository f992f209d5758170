"""Data that several tests share. Everything is generated; nothing is downloaded."""

import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import make_blobs, make_circles, make_moons

import eigencut.kernels
from browser import Browser, find_chromium
from eigencut.kernels.numpy_kernels import NumpyKernels
from eigencut.runtime.threads import threads

# The same examples in every run, so that a failure can be repeated. To look for new ones:
# HYPOTHESIS_PROFILE=explore python -m pytest tests/whole/test_properties.py
_PATIENT = dict(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeat", derandomize=True, max_examples=80, **_PATIENT)
settings.register_profile("explore", max_examples=2000, **_PATIENT)
# Of numbers only that trouble arithmetic: tests/whole/test_nasty_numbers.py.
settings.register_profile("nasty", max_examples=5000, **_PATIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

CUTS = ["ncut", "ratiocut"]
TOYS = {
    "circles": lambda n, seed: make_circles(n, factor=0.5, noise=0.05, random_state=seed),
    "moons": lambda n, seed: make_moons(n, noise=0.05, random_state=seed),
}


@pytest.fixture(params=CUTS)
def cut(request):
    return request.param


@pytest.fixture(params=["numpy", "native"])
def kernels(request, monkeypatch):
    """With the kernels in C, and without them."""
    if request.param == "numpy":
        monkeypatch.setattr(eigencut.kernels, "chosen", NumpyKernels())
    elif eigencut.kernels.chosen.name == "numpy":
        pytest.skip("the kernels in C were not compiled here")
    return eigencut.kernels.chosen


@pytest.fixture(scope="session")
def browser():
    """A Chromium without a window."""
    if find_chromium() is None:
        pytest.skip("Chromium was not found; install it: apt-get install chromium")
    with Browser() as found:
        yield found


@pytest.fixture
def moons():
    return make_moons(300, noise=0.05, random_state=0)


@pytest.fixture
def blobs():
    return make_blobs(240, 3, centers=4, cluster_std=1.5, random_state=1)


def in_threads(n_jobs, function, *arguments):
    # What a function returns, in a context of so many threads.
    with threads(n_jobs):
        return function(*arguments)


def same_partition(a, b):
    """Whether two labellings agree up to the names of the clusters."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len(set(np.asarray(a).tolist())) == len(set(np.asarray(b).tolist()))
