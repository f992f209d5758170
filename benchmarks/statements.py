"""Whether what is printed with a probability holds with it: coverage and levels by simulation.

Every repetition draws its own rows, fits its own model and uses default seeds. A cell that is worse
than is said by more than two standard errors is repeated further, and all repetitions count. The
figures go to
``benchmarks/results/statements.json`` and into the table of ``benchmarks/studies/statements.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.statements
    OMP_NUM_THREADS=1 python -m benchmarks.statements --quick    # 5 repetitions; pages stay
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.datasets import make_moons

from benchmarks.data import Array
from benchmarks.excess_bound import excess_bound
from benchmarks.harness.markdown import table
from benchmarks.harness.study import Study
from eigencut import GPOD, Gaussian
from eigencut.inspection import (
    label_sets,
    significance,
)
from eigencut.inspection.describe import cluster_rule, columns_of, contrasts
from eigencut.inspection.leaving import leaving_share
from eigencut.inspection.refits import renumbered
from eigencut.theory.curves import _line as line_of

SIZES = (40, 120, 400)
N_TRAINING = 120
N_TRUTH = 3000
FURTHER = 800  # repetitions of a cell that seems worse than is said

Rng = np.random.Generator


@dataclass(frozen=True)
class Family:
    """Rows of a distribution, how many clusters are asked for, and the width of the weights."""

    draw: Callable[[int, Rng], Array]
    n_clusters: int
    sigma: float

    def model(self, rng: Rng, n: int = N_TRAINING) -> Any:
        return GPOD(self.n_clusters, affinity=Gaussian(self.sigma), n_init=1, n_jobs=1).fit(
            self.draw(n, rng)
        )


def _blobs(shares: Array, distance: float) -> Callable[[int, Rng], Array]:
    centres = distance * np.eye(len(shares))
    return lambda n, rng: (
        centres[rng.choice(len(shares), n, p=shares)] + rng.normal(size=(n, len(shares)))
    )


FAMILIES = {
    "blobs": Family(_blobs(np.full(3, 1 / 3), 4.0), 3, 1.5),
    "unequal blobs": Family(_blobs(np.array([0.7, 0.2, 0.1]), 3.0), 3, 1.5),
    "moons": Family(
        lambda n, rng: make_moons(n, noise=0.15, random_state=int(rng.integers(1 << 30)))[0], 2, 0.4
    ),
    "uniform": Family(lambda n, rng: rng.random((n, 2)), 2, 0.2),
}


# Rows that are one cluster, for which p-values of clusters are to hold.
def _normal(d: int) -> Family:
    return Family(lambda n, rng: rng.normal(size=(n, d)), 2, math.sqrt(d))


NULLS = {f"normal, d = {d}": _normal(d) for d in (1, 2, 5, 10)}


def _leaving(family: Family, m: int, rng: Rng) -> float:
    model = family.model(rng)
    truth = leaving_share(model, family.draw(N_TRUTH, rng))
    found = leaving_share(model, family.draw(m, rng))
    return _within(truth, found)


def _within(truth: Any, found: Any) -> float:
    seen = truth.sizes > 0
    return float(((found.low <= truth.mean) & (truth.mean <= found.high))[seen].all())


def _excess(family: Family, m: int, rng: Rng) -> float:
    X, H, R, P = (family.draw(size, rng) for size in (m, m, m, 800))
    given: dict[str, Any] = {"n_clusters": family.n_clusters, "sigma": family.sigma}
    found = excess_bound(X, H, R, **given)
    # The same functions on many rows, against the best of these rows, which are a little better.
    held = excess_bound(X, P, R, **given, tau=found.tau).held_out
    best = excess_bound(P, H, R, **given, tau=found.tau).empirical
    return float(best - held <= found.bound)


def _drift(part: str) -> Callable[[Family, int, Rng], float]:
    def small(family: Family, m: int, rng: Rng) -> float:
        found = family.model(rng).drift(family.draw(m, rng))
        p = {"shares": found.p_shares, "all": found.p_value}.get(part)
        if part == "columns":
            p = min(column.p_value for column in found.columns)
        return float((getattr(found, part).p_value if p is None else p) <= 0.05)

    return small


def _significance(family: Family, n: int, rng: Rng) -> float:
    model = family.model(rng, n)
    return float(significance(model, n_null=19).p_value <= 0.05)


def _sets(family: Family, m: int, rng: Rng) -> float:
    """The share of new rows whose label, in a refit, is in their set."""
    X, batch, K = family.draw(60, rng), m // 10, family.n_clusters
    model = GPOD(K, affinity=Gaussian(family.sigma), n_init=1, n_jobs=1).fit(X)
    sets = label_sets(model, family.draw(10 * batch, rng), X, n_batches=10)
    new = family.draw(batch, rng)
    rows = np.vstack([X, new])
    labels = GPOD(K, affinity=Gaussian(family.sigma), n_init=1, n_jobs=1).fit(rows).predict(rows)
    numbers = renumbered(labels[:60], model.labels_, K)
    held = sets.predict_set(new, coverage=0.8)[np.arange(batch), numbers[labels[60:]]]
    return float(held.mean())


def _contrasts(family: Family, n: int, rng: Rng) -> float:
    """Whether no interval is reported of columns that do not depend on clusters: none holds 0."""
    labels = family.model(rng, n).labels_
    frame = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    found = [one for of in contrasts(columns_of(frame), labels, family.n_clusters) for one in of]
    return float(not found)


def _rules(family: Family, n: int, rng: Rng) -> float:
    """The share of intervals that hold the precision, or the coverage, of a rule on new rows."""
    model, new, held = family.model(rng, n), family.draw(N_TRUTH, rng), []
    labels, columns = model.predict(new), columns_of(pd.DataFrame(model.affinity_.rows_))
    by_name = {column.name: column for column in columns_of(pd.DataFrame(new))}
    for k in range(family.n_clusters):
        rule = cluster_rule(columns, model.fitted_cut_.partition.labels == k)
        if rule is None:
            continue
        tests = [by_name[one.column].meets(one.relation, one.value) for one in rule.conditions]
        meets, mine = np.all(tests, axis=0), labels == k
        for (low, high), of in ((rule.precision_interval, meets), (rule.coverage_interval, mine)):
            held.append(low <= (meets & mine).sum() / max(of.sum(), 1) <= high)
    return float(np.mean(held)) if held else 1.0


def _line(family: Family, n: int, rng: Rng) -> tuple[Any, Array]:
    """Sizes, and an excess risk of slope -1: fits scatter as a column of the family does."""
    sizes = np.array([n, 2 * n, 4 * n], dtype=np.intp)
    scatter = family.draw(12, rng)[:, 0] - family.draw(N_TRUTH, rng)[:, 0].mean()
    return sizes, np.exp(-np.log(sizes)[:, np.newaxis] + scatter.reshape(3, 4))


def _slope(family: Family, n: int, rng: Rng) -> float:
    _, (low, high), _ = line_of(*_line(family, n, rng))
    return float(low <= -1 <= high)


@dataclass(frozen=True)
class Statement:
    """What is said, with what probability, and whether it is so in one repetition."""

    guarantee: str
    nominal: float
    run: Callable[[Family, int, Rng], float]
    is_level: bool = False  # a probability of error, which may be smaller but not larger
    families: Any = None


STATEMENTS = {
    "leaving_share": Statement("limits of all clusters hold together", 0.95, _leaving),
    "excess_bound": Statement("the excess risk is not larger", 0.95, _excess),
    "label_sets": Statement("a set holds the label of a refit", 0.8, _sets),
    "describe": Statement("of reported intervals, this share holds", 0.95, _contrasts),
    "describe: rules": Statement("intervals of precision and coverage hold", 0.95, _rules),
    "learning_curve": Statement("the interval holds the slope, if the line does", 0.95, _slope),
    "drift: without support": Statement("p <= 0.05", 0.05, _drift("without_support"), True),
    "drift: shares": Statement("p <= 0.05", 0.05, _drift("shares"), True),
    "drift: cut value": Statement("p <= 0.05", 0.05, _drift("cut_value"), True),
    "drift: columns": Statement("p <= 0.05 of any column", 0.05, _drift("columns"), True),
    "drift": Statement("p <= 0.05", 0.05, _drift("all"), True),
    "significance": Statement("p <= 0.05", 0.05, _significance, True, NULLS),
}


def cell(statement: Statement, family: Family, m: int, n_repeats: int) -> tuple[float, float]:
    """Return the share of repetitions in which a statement is true, and its standard error."""

    def run(seeds: range) -> list[float]:
        return [statement.run(family, m, np.random.default_rng([m, seed])) for seed in seeds]

    found, said = run(range(n_repeats)), statement.nominal
    if not holds(line_of_cells(statement, [_summary(found, said)])):
        found += run(range(n_repeats, n_repeats + FURTHER))
    return _summary(found, said)


def _summary(found: list[float], nominal: float) -> tuple[float, float]:
    # The error if what is claimed were just true; all that was seen may be alike.
    return float(np.mean(found)), math.sqrt(nominal * (1 - nominal) / len(found))


def line_of_cells(statement: Statement, cells: list[tuple[float, float]]) -> dict[str, Any]:
    simulated, errors = map(list, zip(*cells, strict=True))
    said = {"nominal": statement.nominal, "is_level": statement.is_level}
    return said | {"simulated": simulated, "errors": errors}


def measure(n_repeats: int, quick: bool) -> dict[str, Any]:
    n_repeats = 5 if quick else n_repeats
    lines = []
    for name, statement in STATEMENTS.items():
        for family, rows in (statement.families or FAMILIES).items():
            cells = [cell(statement, rows, m, n_repeats) for m in SIZES]
            lines.append({"statement": name, "family": family} | line_of_cells(statement, cells))
    return {"repeats": n_repeats, "lines": lines}


def holds(line: dict[str, Any], errors: float = 2.0) -> bool:
    """Whether no cell of a line is worse than is said by more than so many standard errors."""
    sign = -1 if line["is_level"] else 1
    excess = sign * (np.array(line["simulated"]) - line["nominal"])
    return bool((excess >= -errors * np.array(line["errors"])).all())


def statement_table(results: dict[str, Any]) -> str:
    header = ["statement", "what is guaranteed", "nominal", "family"]
    header += [f"{m} rows" for m in SIZES]
    rows = []
    for line in results["lines"]:
        each = zip(line["simulated"], line["errors"], strict=True)
        cells = [f"{value:.3f} ± {error:.3f}" for value, error in each]
        guarantee = STATEMENTS[line["statement"]].guarantee
        said = f"{'≤' if line['is_level'] else '≥'} {line['nominal']:g}"
        rows.append([line["statement"], guarantee, said, line["family"], *cells])
    return table(header, rows)


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    return {"statements": statement_table(results)}


STUDY = Study("statements", "repeats", 60, measure, make_tables)

if __name__ == "__main__":
    STUDY.run(__doc__)
