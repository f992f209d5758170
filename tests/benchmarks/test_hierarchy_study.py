"""benchmarks/studies/hierarchy.md agrees with the stored results, and with what it claims."""

import json

import numpy as np
from experiments.paper.markers import fill

from benchmarks import STUDIES, hierarchy


def test_the_table_on_the_page_is_that_of_the_results():
    results = json.loads(hierarchy.STORED.read_text(encoding="utf-8"))
    assert set(results) == set(hierarchy.FAMILIES)
    text = (STUDIES / "hierarchy.md").read_text(encoding="utf-8")
    made = hierarchy.hierarchy_table(results)
    assert fill(text, {"hierarchy": made}) == text, "run: python -m benchmarks.hierarchy"


def test_starting_anew_finds_groups_no_better():
    results = json.loads(hierarchy.STORED.read_text(encoding="utf-8"))
    means = {way: np.mean([of[way] for of in results.values()]) for way in results["blobs d = 2"]}
    assert max(means["recursive NCut"], means["a fit into 3"]) <= means["hierarchy()"] + 0.01
