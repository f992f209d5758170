"""benchmarks/studies/metrics.md agrees with the stored results, and with what it claims."""

import json

import numpy as np
from experiments.paper.markers import fill

from benchmarks import STUDIES, metrics


def stored():
    return json.loads(metrics.STORED.read_text(encoding="utf-8"))


def test_the_table_on_the_page_is_that_of_the_results():
    results = stored()
    assert set(results) == set(metrics.FAMILIES)
    text = (STUDIES / "metrics.md").read_text(encoding="utf-8")
    made = metrics.metrics_table(results)
    assert fill(text, {"metrics": made}) == text, "run: python -m benchmarks.metrics"


def test_the_metric_of_a_family_is_never_worse_than_euclidean():
    for name, line in stored().items():
        euclidean, own = (np.mean(line[of], axis=0)[0] for of in ("euclidean", line["metric"]))
        assert own > euclidean - 0.01, name


def test_one_fit_runs():
    make, metric = metrics.FAMILIES["places"]
    ari, seconds = metrics.measured(make, metric, seed=7)
    assert ari > 0.9 and seconds >= 0
