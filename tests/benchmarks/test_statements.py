"""What is printed with a probability holds with it: a few repetitions, and the page's own."""

import json

import numpy as np
import pytest
from benchmarks.statements import (
    FAMILIES,
    FURTHER,
    SIZES,
    STATEMENTS,
    STUDY,
    Statement,
    cell,
    holds,
    statement_table,
)
from experiments.paper.markers import fill

from benchmarks import STUDIES

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_hold_in_a_few_repetitions(name):
    """12 of each; one that misses 0.95 in half of all cases is found with 0.99."""
    statement = STATEMENTS[name]
    family = next(iter((statement.families or FAMILIES).values()))
    found = [statement.run(family, SIZES[0], np.random.default_rng(seed)) for seed in range(12)]
    error = np.sqrt(statement.nominal * (1 - statement.nominal) / 12)
    sign = -1 if statement.is_level else 1
    assert sign * (np.mean(found) - statement.nominal) >= -2.5 * error


def test_the_page_is_made_of_results_in_which_statements_hold():
    results = json.loads(STUDY.stored.read_text(encoding="utf-8"))
    text = (STUDIES / "statements.md").read_text(encoding="utf-8")
    made = {"statements": statement_table(results)}
    assert fill(text, made) == text, "run: python -m benchmarks.statements"
    assert {line["statement"] for line in results["lines"]} == set(STATEMENTS)
    assert all(holds(line) for line in results["lines"])


def test_a_cell_that_is_worse_is_found():
    line = {"nominal": 0.95, "is_level": False, "simulated": [1.0, 0.9], "errors": [0.02, 0.02]}
    assert not holds(line) and holds(line, errors=3.0)
    assert holds(line | {"is_level": True, "nominal": 1.0})


def test_a_cell_that_seems_worse_is_repeated_and_all_repetitions_count():
    calls = []

    def run(family, m, rng):
        calls.append(m)
        return float(len(calls) > 20)

    found, error = cell(Statement("", 0.95, run), FAMILIES["uniform"], 40, 60)
    assert len(calls) == 60 + FURTHER
    assert found == pytest.approx(1 - 20 / (60 + FURTHER))
    assert error == pytest.approx(np.sqrt(0.95 * 0.05 / (60 + FURTHER)))
    calls[:] = [0] * 20
    assert cell(Statement("", 0.95, run), FAMILIES["uniform"], 40, 60)[0] == 1
    assert len(calls) == 80
