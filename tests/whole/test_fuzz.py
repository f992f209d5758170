"""The short form of ``make fuzz``: what is in the corpus, and some new cases."""

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
