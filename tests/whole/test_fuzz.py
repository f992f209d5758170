"""The short form of ``make fuzz``: what is in the corpus, and some new cases."""

import random
from importlib import import_module

import pytest
from fuzz import judged, look

CASES = {"loader": 2000, "tables": 500, "arguments": 500, "frames": 300}


@pytest.fixture(params=CASES)
def target(request):
    return import_module(f"fuzz_{request.param}")


def test_what_is_in_the_corpus_is_answered_or_refused(target):
    target.begin()
    cases = sorted(target.CORPUS.glob(f"*{target.SUFFIX}"))
    assert len(cases) > 5
    wrong = {case.name: judged(target, case)[1] for case in cases}
    assert not {name: why for name, why in wrong.items() if why is not None}


def test_what_is_like_it_too(target):
    counts, kept = look(target, "short", cases=CASES[target.__name__.removeprefix("fuzz_")])
    assert not [why for _, why in kept]
    assert len(counts) > 1, "all cases came to the same"


def test_a_case_that_fails_is_kept(target, monkeypatch):
    def broken(path):
        raise KeyError("x")

    monkeypatch.setattr(target, "outcome", broken)
    _, kept = look(target, 0, cases=2)
    assert [why for _, why in kept] == ["KeyError: 'x'"] * 2


def test_tables_do_not_grow_without_limit(tmp_path):
    """One of 23 GB ended the search for cases."""
    tables, rng, path = import_module("fuzz_tables"), random.Random(0), tmp_path / "t.csv"
    for _ in range(1500):
        tables.make(rng, path)
        assert path.stat().st_size < 8 << 20
