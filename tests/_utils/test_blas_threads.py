"""The threads of BLAS belong to the whole process: they are limited for a while, and given back."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from threadpoolctl import threadpool_info, threadpool_limits

from eigencut import GPOD
from eigencut._utils.running import blas_threads, for_each, threads

FOUND = 3  # threads of BLAS before anything is limited

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


def threads_of_blas():
    return {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def found():
    blas_threads.__init__()  # what a test left that failed would hide the next failure
    with threadpool_limits(FOUND, "blas"):
        if threads_of_blas() != {FOUND}:
            pytest.skip("this BLAS does not let its threads be set")
        yield


def test_limits_of_two_threads_that_overlap_are_given_back():
    """The first to begin is the first to end, as no two blocks of one thread are."""
    first, second = blas_threads(1), blas_threads(1)
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert threads_of_blas() == {1}
    second.__exit__(None, None, None)
    assert threads_of_blas() == {FOUND}


def test_limits_hold_and_end_in_whichever_thread_they_are_set():
    """threadpoolctl lets one thread set limits: the first that did, until somebody clears it."""
    with ThreadPoolExecutor(1) as pool:
        with blas_threads(2):
            pass
        other = blas_threads(1)
        pool.submit(other.__enter__).result()
        assert threads_of_blas() == {1}
        with blas_threads(1):
            pool.submit(other.__exit__, None, None, None).result()
            assert threads_of_blas() == {1}
        assert threads_of_blas() == {FOUND}

        def limited_by_others():
            with threadpool_limits(1, "blas"):
                return threads_of_blas()

        assert pool.submit(limited_by_others).result() == {1}


@pytest.mark.parametrize("method", ["transform", "predict_proba", "score_samples"])
def test_answers_in_other_threads_are_the_same_to_the_last_bit(method):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 8)) + 4 * rng.integers(0, 2, size=(1500, 1))
    ask = getattr(GPOD(3, affinity="gaussian", n_jobs=1).fit(X), method)
    expected = ask(X + 0.1)
    with ThreadPoolExecutor(4) as pool:
        assert all(np.array_equal(found, expected) for found in pool.map(ask, [X + 0.1] * 8))


@settings(max_examples=20)
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(0, 9)), min_size=1, max_size=12))
def test_the_smallest_limit_holds_in_whatever_order_they_end(limits):
    """Each limit begins in turn, and some earlier one ends; at last all have."""
    held = []
    with threadpool_limits(FOUND, "blas"):
        for limit, ends in limits:
            context = blas_threads(limit)
            context.__enter__()
            held.append((limit, context))
            if ends < len(held):
                held.pop(ends)[1].__exit__(None, None, None)
            assert threads_of_blas() == {min((one for one, _ in held), default=FOUND)}
        for _, context in held:
            context.__exit__(None, None, None)
        assert threads_of_blas() == {FOUND}


def test_an_error_gives_them_back():
    def fail(item):
        raise ValueError(item)

    with ExitStack() as stack:
        stack.enter_context(threads(2))
        with pytest.raises(ValueError, match="1"):
            for_each(fail, [1, 2, 3])
        assert threads_of_blas() == {2}
    assert threads_of_blas() == {FOUND}


@pytest.mark.parametrize("affinity", ["gaussian", "neighbors", "landmarks"])
def test_predictions_from_many_threads_leave_blas_as_it_was(affinity, moons):
    X = moons[0]
    model = GPOD(2, affinity=affinity, n_jobs=2).fit(X)
    expected = model.predict(X)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(model.predict, [X] * 64))
    assert all((labels == expected).all() for labels in found)
    assert threads_of_blas() == {FOUND}
