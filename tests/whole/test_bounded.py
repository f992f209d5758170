"""One number, or a few bytes, cost neither memory nor time: they are refused with a sentence."""

import itertools
import re
import resource
import time

import numpy as np
import pytest
from scipy.sparse import coo_array, csr_array
from sklearn.base import clone

from eigencut import (
    GPOD,
    Gaussian,
    Landmarks,
    Neighbors,
    RankedNeighbors,
    Rows,
    TableModel,
    pod,
    select,
)

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

X = np.random.default_rng(0).normal(size=(60, 2))


@pytest.fixture(autouse=True)
def little_is_taken():
    """No more than half a gigabyte of memory and a few seconds."""
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    usual = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (8 << 30, usual[1]))  # an error, before all is taken
    yield
    resource.setrlimit(resource.RLIMIT_AS, usual)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 500_000
    assert time.process_time() - start < 20


@pytest.mark.parametrize("n_init", [2**63, 10**400, 10_001])
def test_starts_are_bounded(n_init):
    said = "n_init must be an integer of at least 1 and at most 10000. Got "
    with pytest.raises(ValueError, match=said):
        GPOD(2, n_init=n_init).fit(X)
    with pytest.raises(ValueError, match=said):
        pod(X, n_init=n_init)


@pytest.mark.parametrize("columns", [range(2, 10**9), range(10**40)])
def test_a_range_is_no_list_of_columns(columns):
    with pytest.raises(ValueError, match="columns must be None, a list of different names"):
        TableModel(GPOD(2), columns=columns).fit(X)


@pytest.mark.parametrize("candidates", [range(2, 10**9), range(10**40), itertools.count(2)])
def test_candidates_are_bounded(candidates):
    with pytest.raises(ValueError, match="n_clusters must hold at most 1000 candidates"):
        GPOD(candidates).fit(X)


@pytest.mark.parametrize("before", [b"", b"a,b\n1,2\n", b"a,b\n" + b"1,2\n" * 9000])
@pytest.mark.parametrize("cell", [b"3,4\n", b"x"])
def test_a_quote_that_does_not_end(before, cell, tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(before + b'"' + cell * ((80 << 20) // len(cell)))
    pattern = r"is not a table: .*(quoted cell|longer than 64 MiB)"
    with pytest.raises(ValueError, match=pattern):
        list(Rows.from_file(path))


@pytest.mark.parametrize("shape", [(2 * 10**9, 2), (2, 2 * 10**9), (10**8, 10**8)])
def test_a_sparse_array_is_no_larger_than_what_it_stores(shape):
    claims = coo_array(([1.0, 2.0], ([0, 1], [0, 1])), shape=shape)
    for ask in (
        GPOD(2).fit,
        GPOD(2, affinity="landmarks").fit,
        GPOD(2, affinity="precomputed").fit,
        GPOD(2).fit(csr_array(X)).predict,
        select,
    ):
        said = r"X must store a number in more of its rows and columns\. Got 2 entries in shape "
        with pytest.raises(ValueError, match=said):
            ask(claims)


def test_half_precision_has_a_number_of_clusters():
    centres = np.repeat([[0.0, 0, 0], [30, 0, 0], [0, 30, 0]], 70, axis=0)
    rows = (centres + np.random.default_rng(0).normal(size=(210, 3))).astype(np.float16)
    assert GPOD("auto", affinity=Landmarks(40)).fit(rows).n_clusters_ == 3


@pytest.mark.parametrize("sigma", [0.01, 0.001, 1e-5])
@pytest.mark.parametrize("seed", range(4))
def test_rows_apart_have_no_number_of_clusters(sigma, seed):
    rows = np.random.default_rng(seed).normal(size=(200, 2))
    try:
        found = GPOD("auto", affinity=Gaussian(sigma)).fit(rows)
    except ValueError as error:
        assert re.match("affinity must connect the rows.* Raise sigma", str(error)), error
    else:
        assert found.labels_.max() < found.n_clusters_


def parameters():
    """Each parameter of a model and its affinity, but those that take any number."""
    for kind in (GPOD, Gaussian, Neighbors, RankedNeighbors, Landmarks, TableModel):
        model = kind(2) if kind is GPOD else kind()
        for name in set(model.get_params(deep=False)) - {"n_jobs", "n_neighbors", "verbose"}:
            for number in (10**400, -(10**400)):
                if (kind, name, number) != (Landmarks, "random_state", 10**400):
                    yield clone(model).set_params(**{name: number}), name


@pytest.mark.parametrize(("model", "name"), sorted(parameters(), key=lambda one: one[1]))
def test_very_long_integers_are_no_parameters(model, name):
    model = model if isinstance(model, (GPOD, TableModel)) else GPOD(2, affinity=model)
    with pytest.raises(ValueError, match=f"^{name} (of Landmarks )?must be "):
        model.fit(X)


def test_very_long_integers_are_no_weights():
    with pytest.raises(ValueError, match="sample_weight must hold real numbers"):
        GPOD(2).fit(X, sample_weight=[10**400] * 60)
