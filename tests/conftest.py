"""Data that several tests share. Everything is generated; nothing is downloaded."""

import copy
import dataclasses
import os
import shutil
import sys

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from sklearn.datasets import make_blobs, make_circles, make_moons

import eigencut.kernels
from browser import Browser, find_chromium
from eigencut._utils.running import threads
from eigencut.auto.policy import POLICY
from eigencut.kernels.numpy_kernels import NumpyKernels

# The same examples in every run, so that a failure can be repeated. To look for new ones:
# HYPOTHESIS_PROFILE=explore python -m pytest tests/whole/test_properties.py
_PATIENT = dict(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("repeat", derandomize=True, max_examples=80, **_PATIENT)
settings.register_profile("explore", max_examples=2000, **_PATIENT)
# Of numbers only that trouble arithmetic: tests/whole/test_nasty_numbers.py.
settings.register_profile("nasty", max_examples=5000, **_PATIENT)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeat"))

# They run over and over what other tests run too. Which lines that are is not measured, for to
# measure takes half of the time again.
REPEATS = (
    *("test_fuzz", "test_properties", "test_nasty_numbers", "test_nasty_inputs", "test_crafted"),
    *("test_copies", "test_leaving", "test_contrasts", "test_default_graph"),
    *("test_measured_excess", "test_invariants", "test_approximate_neighbors", "test_paper"),
)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.stem in REPEATS:
            item.add_marker("no_cover")


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


@pytest.fixture(scope="session")
def first_names(tmp_path_factory):
    """What the README and the pages speak of: rows, a model of them, and files in a folder."""
    import pandas as pd
    import sklearn.metrics.pairwise

    import eigencut
    from eigencut import GPOD, Gaussian, TableModel

    rows, truth = make_blobs(460, 2, centers=3, random_state=0)
    X, new = rows[:400], rows[400:]
    frame = pd.DataFrame(X, columns=["x", "y"])
    folder = tmp_path_factory.mktemp("names")
    (folder / "measurements").mkdir()
    frame.to_parquet(folder / "measurements" / "rows.parquet")
    frame["size"] = np.array(["S", "M", "L"])[truth[:400]]
    weights = sklearn.metrics.pairwise.rbf_kernel(rows, X)
    model = GPOD(3).fit(X)
    topics = np.random.default_rng(0).normal(size=(20, 30))
    embeddings = topics[np.arange(330) % 20] + 0.2 * np.random.default_rng(1).normal(size=(330, 30))
    model.save(folder / "m.eigencut")
    modules = {
        "eigencut": eigencut,
        "sklearn": sklearn,
        "GPOD": GPOD,
        "Gaussian": Gaussian,
        "TableModel": TableModel,
    }
    values = {
        "model": model,
        "relaxed": GPOD(3, solver="relaxed").fit(X),
        "X": X,
        "X_new": new,
        "X_heldout": new,
        "X_today": new,
        "W": weights[:400],
        "W_new": weights[400:],
        "U": model.embedding_,
        "path": "measurements",
        "frame": frame,
        "w": np.linspace(1.0, 3.0, 400),
        "people": np.linspace(1.0, 3.0, 400),
        "y": np.where(np.arange(400) % 20 == 0, truth[:400], -1),
        "pairs": [(0, 1), (2, 3)],
        "embeddings": embeddings[:300],
        "new": embeddings[300:],
    }
    return folder, modules, values


@pytest.fixture
def names(first_names, tmp_path, monkeypatch):
    """A copy of them, in a folder of their own."""
    folder, modules, values = first_names
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    yield modules | copy.deepcopy(values)
    if "matplotlib.pyplot" in sys.modules:  # figures that pages draw
        sys.modules["matplotlib.pyplot"].close("all")


def in_threads(n_jobs, function, *arguments):
    # What a function returns, in a context of so many threads.
    with threads(n_jobs):
        return function(*arguments)


def same_partition(a, b):
    """Whether two labellings agree up to the names of the clusters."""
    pairs = set(zip(np.asarray(a).tolist(), np.asarray(b).tolist(), strict=True))
    return len(pairs) == len(set(np.asarray(a).tolist())) == len(set(np.asarray(b).tolist()))


def change_auto_policy(monkeypatch, **changes):
    """Give every module of eigencut.auto other thresholds."""
    changed = dataclasses.replace(POLICY, **changes)
    for module in ("budget", "choose", "graph", "n_clusters", "select", "spectrum"):
        monkeypatch.setattr(f"eigencut.auto.{module}.POLICY", changed)
