"""The study of mixed tables: its encoding is the library's, and its pages are its results."""

import json

import numpy as np
import pytest
from benchmarks.mixed_tables.__main__ import STUDY, methods_table
from benchmarks.mixed_tables.encodings import CHOSEN, ENCODINGS, encoded
from benchmarks.mixed_tables.families import CHOSEN_ON, HELD_OUT, MixedTable
from benchmarks.mixed_tables.methods import METHODS, numbers_and_words
from experiments.paper.markers import fill
from scipy.spatial.distance import pdist
from sklearn.metrics import adjusted_rand_score

from benchmarks import STUDIES
from eigencut import GPOD, TableModel

FAMILIES = CHOSEN_ON | HELD_OUT


@pytest.mark.parametrize("name", ["moons and colours", "devices"])
def test_the_chosen_encoding_is_that_of_the_library(name):
    """Where no word is rare."""
    table = FAMILIES[name](1)
    model = TableModel(GPOD(table.n_clusters)).fit(table.frame)
    assert not any(column.n_rare for column in model.preparation_.categories.columns)
    rows, _ = model.prepare(table.frame)
    assert pdist(rows) == pytest.approx(pdist(encoded(table, ENCODINGS[CHOSEN])), abs=1e-8)


@pytest.mark.parametrize("name", FAMILIES)
def test_families_can_be_made_again_and_are_mixed(name):
    first, again, other = (FAMILIES[name](seed) for seed in (1, 1, 2))
    assert first.frame.equals(again.frame) and not first.frame.equals(other.frame)
    numbers, words = numbers_and_words(first)
    assert np.isfinite(numbers).all() and numbers.shape[1] and words.shape[1]
    assert numbers.shape[1] + words.shape[1] == first.frame.shape[1]


@pytest.mark.parametrize("method", [name for name in METHODS if name != "k-prototypes"])
def test_methods_find_what_is_plain(method):
    clusters = np.arange(90) % 3
    table = CHOSEN_ON["customers"](0)
    frame = table.frame.iloc[:90].assign(n0=9.0 * clusters, c0=np.array(list("abc"))[clusters])
    plain = MixedTable(frame[["n0", "c0"]], clusters)
    assert adjusted_rand_score(clusters, METHODS[method](plain, 0)) == 1


def test_pages_are_the_results():
    results = json.loads(STUDY.stored.read_text(encoding="utf-8"))
    assert fill(text := STUDY.page.read_text(encoding="utf-8"), STUDY.tables(results)) == text
    page = (STUDIES / "tables.md").read_text(encoding="utf-8")
    assert fill(page, {"methods": methods_table(results)}) == page
