"""Studies of docs/risk.md: the page agrees with the stored results, and a repetition runs."""

import json

import numpy as np
import pytest
from benchmarks.label_sets import __main__ as label_sets
from benchmarks.label_sets.samples import GENERATED, REAL

from benchmarks import DOCS, significance
from eigencut.paper.markers import fill


def page():
    return (DOCS / "risk.md").read_text(encoding="utf-8")


def stored(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_coverage_on_the_page_is_that_of_the_results():
    made = label_sets.coverage_table(label_sets.in_order(stored(label_sets.STORED)))
    text = page()
    assert fill(text, {"label sets": made}) == text, "run: python -m benchmarks.label_sets"


def test_p_values_on_the_page_are_those_of_the_results():
    made = significance.significance_table(stored(significance.STORED))
    text = page()
    assert fill(text, {"significance": made}) == text, "run: python -m benchmarks.significance"


def test_coverage_was_never_a_point_below_nominal():
    lines = stored(label_sets.STORED)
    assert set(lines) <= {*GENERATED, *REAL}
    for line in lines.values():
        assert line["repetitions"] == 200
        assert line["coverage"] >= label_sets.COVERAGE - 0.01


@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_a_repetition_of_separated_blobs():
    found = label_sets.repetition(GENERATED["four blobs"], 1)
    assert found["coverage"] == found["agreement"] == 1.0
    assert 1 <= found["mean_size"] <= 4


@pytest.mark.parametrize("name", significance.KINDS)
def test_kinds_are_samples_of_as_many_rows(name):
    draw, _, _ = significance.KINDS[name]
    assert len(draw(1)) == significance.N_ROWS
    assert not np.array_equal(draw(1), draw(2))
