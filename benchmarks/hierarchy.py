"""Which way to coarser cuts finds groups of clusters that are there: 3 groups of 3 clusters each.

Rules that join the clusters of a fit into nine (average link is that of ``hierarchy()``), next to
two ways that start anew: cutting in two again and again, and a fit into three. Seeds and families
are not those on which the rule was chosen (blobs in 4 dimensions, seeds 0 to 9). The figures go to
``benchmarks/results/hierarchy.json`` and into the table of ``benchmarks/studies/hierarchy.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.hierarchy            # a minute of one core
    OMP_NUM_THREADS=1 python -m benchmarks.hierarchy --quick    # one seed; pages are left alone
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import adjusted_rand_score

from benchmarks import RESULTS, STUDIES
from benchmarks.data import Array
from benchmarks.harness.markdown import table
from benchmarks.harness.options import parser, positive
from benchmarks.harness.page import update_page, write_text
from eigencut import GPOD
from eigencut.hierarchy.hierarchy import cluster_weights
from eigencut.inspection.assessment import cut_value

Labels = NDArray[np.intp]

N_ROWS, FIRST_SEED, PER_GROUP = 500, 5000, 3
STORED = RESULTS / "hierarchy.json"
FAMILIES = ("blobs d = 2", "blobs d = 8", "unequal sizes", "skewed rows", "overlapping")


def nested_blobs(family: str, seed: int) -> tuple[Array, Labels]:
    """Rows, and which of the three groups each belongs to."""
    rng = np.random.default_rng(seed)
    d = {"blobs d = 8": 8}.get(family, 2)
    angles = 2 * np.pi * (np.arange(9) / PER_GROUP + rng.random())
    group = np.arange(9) // PER_GROUP
    centres = np.zeros((9, d))
    centres[:, 0], centres[:, 1] = 4 * np.cos(angles), 4 * np.sin(angles)
    centres[:, 0] += 12 * np.cos(2 * np.pi * group / 3)
    centres[:, 1] += 12 * np.sin(2 * np.pi * group / 3)
    if family == "overlapping":  # neither the clusters nor the groups are apart
        centres *= 0.45
    shares = rng.dirichlet(np.full(9, 2.0 if family == "unequal sizes" else 30.0))
    cluster = rng.choice(9, N_ROWS, p=shares)
    noise = rng.normal(size=(N_ROWS, d))
    if family == "skewed rows":
        noise = rng.exponential(size=(N_ROWS, d)) * rng.choice([-1, 2], size=d)
    return centres[cluster] + noise, group[cluster]


def least_ncut(B: Array, mass: Array) -> Array:
    """What joining two groups takes from the sum of conductances."""
    leaves = B.sum(axis=1) - B.diagonal()
    both = (leaves[:, np.newaxis] + leaves - 2 * B) / (mass[:, np.newaxis] + mass)
    return np.asarray((leaves / mass)[:, np.newaxis] + leaves / mass - both)


def two_way_ncut(B: Array, mass: Array) -> Array:
    """The NCut between two groups, nothing else being there."""
    own = B.diagonal() + 1e-300
    return np.asarray(B / (own[:, np.newaxis] + B) + B / (own + B))


RULES: dict[str, Callable[[Array, Array], Array]] = {
    "least NCut": least_ncut,
    "two-way NCut": two_way_ncut,
}


def joined(model: GPOD, rule: Callable[[Array, Array], Array]) -> Labels:
    """Labels of the rows when clusters are joined by a rule until three groups are left."""
    found = cluster_weights(model.fitted_cut_)
    B, mass, group = found.weights.copy(), found.mass.copy(), np.arange(len(found.mass))
    assert found.means is not None
    means, count = found.means.copy(), found.rows.copy()
    while len(B) > 3:
        has_edges = np.triu(B, 1).any()  # without any, all rules go by the means
        apart = ((means[:, np.newaxis] - means) ** 2).sum(axis=2)
        gain = rule(B, mass) if has_edges else -apart
        gain = np.where(np.triu(np.ones_like(B), 1) > 0, gain, -np.inf)
        i, j = (int(place) for place in np.unravel_index(np.argmax(gain), gain.shape))
        B[i] += B[j]
        B[:, i] += B[:, j]
        mass[i] += mass[j]
        means[i] = (count[i] * means[i] + count[j] * means[j]) / (count[i] + count[j])
        count[i] += count[j]
        B, means = np.delete(np.delete(B, j, 0), j, 1), np.delete(means, j, 0)
        mass, count = np.delete(mass, j), np.delete(count, j)
        group = np.where(group == j, i, group)
        group = group - (group > j)
    return np.asarray(group[model.labels_])


def cut_in_two_twice(X: Array) -> Labels:
    """Recursive NCut: the half whose own cut is cheaper is cut next."""
    labels = GPOD(2, n_jobs=1).fit(X).labels_.copy()
    halves = []
    for k in (0, 1):
        inside = np.flatnonzero(labels == k)
        model = GPOD(2, n_jobs=1).fit(X[inside])
        halves.append((cut_value(model).value, inside[model.labels_ == 1]))
    labels[min(halves, key=lambda half: half[0])[1]] = 2
    return np.asarray(labels)


def measure(family: str, n_seeds: int) -> dict[str, list[float]]:
    """ARI with the three groups, of each way, for each seed."""
    found: dict[str, list[float]] = {}
    for seed in range(FIRST_SEED, FIRST_SEED + n_seeds):
        X, truth = nested_blobs(family, seed)
        model = GPOD(9, n_jobs=1).fit(X)
        ways = {"hierarchy()": model.hierarchy().labels(3)[model.labels_]}
        ways |= {name: joined(model, rule) for name, rule in RULES.items()}
        ways["recursive NCut"] = cut_in_two_twice(X)
        ways["a fit into 3"] = GPOD(3, n_jobs=1).fit(X).labels_
        for name, labels in ways.items():
            found.setdefault(name, []).append(float(adjusted_rand_score(truth, labels)))
    return found


def hierarchy_table(results: dict[str, Any]) -> str:
    ways = list(next(iter(results.values())))
    lines = [
        [family, *(f"{np.mean(of[way]):.2f}" for way in ways)] for family, of in results.items()
    ]
    return table(["3 groups of 3", *ways], lines)


def main() -> None:
    options = parser(
        __doc__,
        "benchmarks.hierarchy",
        quick="one seed; the page is left alone",
        out=f"where the JSON goes (benchmarks/results/{STORED.name}; nowhere if --quick)",
    )
    options.add_argument("--seeds", type=positive, default=10, metavar="N")
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    results: dict[str, Any] = {}
    for family in FAMILIES:
        results[family] = measure(family, 1 if asked.quick else asked.seeds)
        print(hierarchy_table({family: results[family]}), flush=True)
        if asked.out or not asked.quick:
            write_text(asked.out or STORED, json.dumps(results, indent=1) + "\n")
    if not asked.quick and asked.out is None:
        update_page(STUDIES / "hierarchy.md", {"hierarchy": hierarchy_table(results)})


if __name__ == "__main__":
    main()
