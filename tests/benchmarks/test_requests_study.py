"""benchmarks/studies/requests.md agrees with the stored results, and with what it claims."""

import json

import numpy as np
from experiments.paper.markers import fill

from benchmarks import STUDIES, requests

RESULTS = json.loads(requests.STORED.read_text(encoding="utf-8"))


def test_the_table_on_the_page_is_that_of_the_results():
    text = (STUDIES / "requests.md").read_text(encoding="utf-8")
    made = requests.requests_table(RESULTS)
    assert fill(text, {"requests": made}) == text, "run: python -m benchmarks.requests"


def test_eigencut_is_not_worse_than_others():
    for task, methods in RESULTS.items():
        means = {method: np.mean(one["ari"]) for method, one in methods.items()}
        assert means["eigencut"] >= max(means.values()) - 0.03, task
    assert max(RESULTS["consensus: 1 000 000 rows"]["eigencut"]["s"]) < 10
