"""Updates of one model from several threads lose no row."""

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from eigencut import GPOD, Landmarks, Neighbors, TableModel

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

BATCHES, ROWS = 24, 40


@pytest.fixture(autouse=True)
def threads_take_turns_often():
    usual = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(usual)


def batches(n_groups=2):
    rng = np.random.default_rng(0)
    shape = (BATCHES, ROWS, 1)
    return rng.normal(size=(BATCHES, ROWS, 2)) + 9 * rng.integers(0, n_groups, size=shape)


def n_rows(model):
    return model.gpod.affinity_.n_rows_


@pytest.mark.parametrize("affinity", [Landmarks(20), Neighbors(5)], ids=["landmarks", "neighbors"])
@pytest.mark.parametrize("kind", ["gpod", "table"])
def test_no_row_is_lost(kind, affinity):
    first, *others = batches()
    model = GPOD(2, affinity=affinity, n_jobs=1)
    model = TableModel(model) if kind == "table" else model
    model.fit(first)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(model.update, others))
    assert n_rows(model) == BATCHES * ROWS


def test_nor_by_a_first_partial_fit():
    model = GPOD(2, affinity=Landmarks(20), n_jobs=1)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(model.partial_fit, batches()))
    assert n_rows(model) == BATCHES * ROWS
