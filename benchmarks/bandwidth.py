"""Measure the bandwidth rules of ``Gaussian`` on a varied collection of data sets.

Every rule is used through the public API: ``GPOD(n_clusters=K, cut=cut, affinity=Gaussian(...))``
is fitted on 75 % of the rows and predicts the other 25 %, and both are compared with the known
classes by the adjusted Rand index (ARI). The means go to ``benchmarks/results/bandwidth.json`` and
into the tables of ``docs/bandwidth.md``.

    OMP_NUM_THREADS=1 python benchmarks/bandwidth.py            # everything, some minutes
    OMP_NUM_THREADS=1 python benchmarks/bandwidth.py --quick    # one seed; docs are left alone

To add a rule, add a line to RULES; to add a data set, a line to DATASETS.
"""

from __future__ import annotations

import argparse
import csv
import json
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy
import sklearn
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

import eigencut
from eigencut import GPOD, Gaussian, GraphWarning

ROOT = Path(__file__).resolve().parents[1]
PAPER_DATA = ROOT.parent / "shared" / "data" / "paper"
RESULTS = ROOT / "benchmarks" / "results" / "bandwidth.json"
PAGE = ROOT / "docs" / "bandwidth.md"

CUTS = {"ncut": "NCut", "ratiocut": "RatioCut"}
GROUPS = ("shapes", "blobs", "real")  # summarized; the other groups are looked at set by set
SEEDS = 10
TEST_SHARE = 0.25
ROWS = 500  # of a synthetic data set
MOST_ROWS = 1100  # of a real data set; a random subset if it has more
SOLVABLE = 0.9  # a run counts for failures if some rule and cut get a training ARI above this
FAILED = 0.5  # and has failed with an ARI below this
TINY = 3  # a cluster of at most so many training rows is tiny

RULES: dict[str, Gaussian] = {
    "local, k=7, scale 0.5": Gaussian("local", n_neighbors=7, scale=0.5),
    "local, k=10, scale 0.5": Gaussian("local", n_neighbors=10, scale=0.5),
    "local, k=15, scale 0.5": Gaussian("local", n_neighbors=15, scale=0.5),
    "local, k=20, scale 0.5": Gaussian("local", n_neighbors=20, scale=0.5),
    "local, k=7, scale 0.71": Gaussian("local", n_neighbors=7, scale=0.71),
    "local, k=7, scale 1": Gaussian("local", n_neighbors=7, scale=1.0),
    "neighbors, k=10, scale 0.5": Gaussian("neighbors", n_neighbors=10, scale=0.5),
    "neighbors, k=10, scale 1": Gaussian("neighbors", n_neighbors=10, scale=1.0),
    "median, scale 0.1": Gaussian("median", scale=0.1),
    "median, scale 0.15": Gaussian("median", scale=0.15),
    "median, scale 0.3": Gaussian("median", scale=0.3),
    "median, scale 1": Gaussian("median", scale=1.0),
}
AUTO = "local, k=10, scale 0.5"  # what sigma="auto" stands for

Array = NDArray[np.float64]
Labels = NDArray[np.intp]
Labelled = tuple[Array, Labels, int]  # X, y, K; y = -1 marks noise, which no score looks at
DataSet = Callable[[int], Labelled]  # of a seed


# ---------------------------------------------------------------------------------- data: shapes


def circles(seed: int, *, factor: float, noise: float, n: int = ROWS) -> Labelled:
    return *datasets.make_circles(n, factor=factor, noise=noise, random_state=seed), 2


def moons(seed: int, *, noise: float, n: int = ROWS) -> Labelled:
    return *datasets.make_moons(n, noise=noise, random_state=seed), 2


def spirals(seed: int, *, arms: int, n: int = ROWS) -> Labelled:
    """Arms that wind 1.3 times around the origin, with a little noise."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % arms
    radius = 1.3 * 2 * np.pi * np.sqrt(rng.uniform(0.05, 1, n))
    angle = radius + 2 * np.pi * y / arms
    X = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)]) / 8
    return X + 0.02 * rng.normal(size=X.shape), y, arms


def bridged_rings(seed: int) -> Labelled:
    """Two rings, and a chain of eight rows from one to the other."""
    X, y, K = circles(seed, factor=0.4, noise=0.03)
    chain = np.column_stack([np.linspace(0.48, 0.92, 8), np.zeros(8)])
    return np.vstack([X, chain]), np.append(y, np.full(8, -1)), K


def core_in_ring(seed: int) -> Labelled:
    """A dense core, a quarter of the rows, inside a broad and sparse ring."""
    rng = np.random.default_rng(seed)
    n_core, n_ring = ROWS // 4, ROWS - ROWS // 4
    angle, radius = rng.uniform(0, 2 * np.pi, n_ring), np.sqrt(rng.uniform(1, 9, n_ring))
    ring = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    X = np.vstack([0.1 * rng.normal(size=(n_core, 2)), ring])
    return X, np.repeat([0, 1], [n_core, n_ring]), 2


def anisotropic(seed: int, *, n: int = ROWS) -> Labelled:
    """Three parallel Gaussians, five times as wide as high, five of the smaller spreads apart."""
    X, y, K = blobs(seed, centers=[[0, 0], [0, 5], [0, 10]], n=n)
    return X @ np.diag([4, 0.8]) @ np.array([[0.8, 0.6], [-0.6, 0.8]]), y, K


# ----------------------------------------------------------------------------------- data: blobs


def blobs(
    seed: int,
    *,
    centers: Any,
    spreads: Iterable[float] | None = None,
    shares: Iterable[float] | None = None,
    n: int = ROWS,
) -> Labelled:
    """Round Gaussians; spreads are standard deviations, shares relative sizes."""
    rng = np.random.default_rng(seed)
    centers = np.asarray(centers, dtype=float)
    K = len(centers)
    share = np.ones(K) if shares is None else np.array(list(shares))
    spread = np.ones(K) if spreads is None else np.array(list(spreads))
    y = np.repeat(np.arange(K), (n * share / share.sum()).astype(int))
    return centers[y] + spread[y, np.newaxis] * rng.normal(size=(len(y), centers.shape[1])), y, K


def random_blobs(seed: int, *, K: int, d: int, separation: float) -> Labelled:
    """Unit Gaussians around random centers.

    Separation is the least distance of two centers in the plane, the typical one in higher
    dimensions.
    """
    rng = np.random.default_rng([K, d, seed])
    if d > 2:
        return blobs(seed, centers=rng.normal(size=(K, d)) * separation / np.sqrt(2 * d))
    side = 0.8 * separation * np.sqrt(K)
    while True:
        centers = rng.uniform(-side, side, (K, d))
        apart = np.linalg.norm(centers[:, np.newaxis] - centers, axis=2)
        if apart[~np.eye(K, dtype=bool)].min() >= separation:
            return blobs(seed, centers=centers)


def rounded_blobs(seed: int) -> Labelled:
    """Integer coordinates: most rows have duplicates."""
    X, y, K = blobs(seed, centers=[[0, 0], [8, 0], [0, 8], [8, 8]])
    return np.round(X), y, K


def in_noise(seed: int, *, of: DataSet, share: float = 0.05) -> Labelled:
    """A data set with uniform noise over its bounding box and a tenth beyond."""
    X, y, K = of(seed)
    rng = np.random.default_rng([1, seed])
    m, low, high = int(share * len(X)), X.min(axis=0), X.max(axis=0)
    margin = (high - low) / 10
    noise = rng.uniform(low - margin, high + margin, (m, X.shape[1]))
    return np.vstack([X, noise]), np.append(y, np.full(m, -1)), K


def with_outliers(seed: int, *, distance: float) -> Labelled:
    """Three blobs six apart, and four rows at that distance from them, in random directions."""
    X, y, K = blobs(seed, centers=[[0, 0], [6, 0], [0, 6]], n=400)
    angle = np.random.default_rng([2, seed]).uniform(0, 2 * np.pi, 4)
    outliers = 2 + distance * np.column_stack([np.cos(angle), np.sin(angle)])
    return np.vstack([X, outliers]), np.append(y, np.full(4, -1)), K


# ------------------------------------------------------------------------------------ data: real


def real(seed: int, *, load: Callable[[], tuple[Array, Labels]]) -> Labelled:
    """A standardized real data set, or a random subset of it; K is the number of classes."""
    X, y = load()
    rows = np.random.default_rng(seed).permutation(len(X))[:MOST_ROWS]
    return StandardScaler().fit_transform(X[rows]), y[rows], len(np.unique(y))


def bundled(load: Callable[..., tuple[Array, Labels]]) -> DataSet:
    return partial(real, load=partial(load, return_X_y=True))


@cache
def read_paper_data(name: str) -> tuple[Array, Labels]:
    """Rows of numbers and a class; a header and rows with missing values are left out."""
    with (PAPER_DATA / f"{name}.data").open(newline="") as file:
        rows = [row for row in csv.reader(file) if row and "?" not in row]
    if name == "mammographic":
        rows = rows[1:]
    X = np.array([row[:-1] for row in rows], dtype=float)
    return X, np.unique([row[-1] for row in rows], return_inverse=True)[1]


def paper(name: str) -> DataSet:
    return partial(real, load=partial(read_paper_data, name))


UNEQUAL_3 = [10, 1, 1]
SPREADS_3 = [0.3, 1, 2.5]

DATASETS: dict[str, tuple[str, DataSet]] = {
    "circles 0.3, noise 0.03": ("shapes", partial(circles, factor=0.3, noise=0.03)),
    "circles 0.3, noise 0.1": ("shapes", partial(circles, factor=0.3, noise=0.1)),
    "circles 0.5, noise 0.03": ("shapes", partial(circles, factor=0.5, noise=0.03)),
    "circles 0.5, noise 0.05": ("shapes", partial(circles, factor=0.5, noise=0.05)),
    "circles 0.5, noise 0.1": ("shapes", partial(circles, factor=0.5, noise=0.1)),
    "circles in noise": ("shapes", partial(in_noise, of=partial(circles, factor=0.4, noise=0.04))),
    "rings with a bridge": ("shapes", bridged_rings),
    "core in a ring": ("shapes", core_in_ring),
    "moons, noise 0.05": ("shapes", partial(moons, noise=0.05)),
    "moons, noise 0.08": ("shapes", partial(moons, noise=0.08)),
    "moons, noise 0.1": ("shapes", partial(moons, noise=0.1)),
    "moons in noise": ("shapes", partial(in_noise, of=partial(moons, noise=0.05))),
    "2 spirals": ("shapes", partial(spirals, arms=2)),
    "3 spirals": ("shapes", partial(spirals, arms=3)),
    "wide anisotropic blobs": ("shapes", anisotropic),
    "3 segments of a line": (
        "shapes",
        partial(blobs, centers=[[0], [6], [15]], spreads=[1, 0.7, 1.5]),
    ),
    "3 blobs, d=2": ("blobs", partial(random_blobs, K=3, d=2, separation=6)),
    "5 blobs, d=2": ("blobs", partial(random_blobs, K=5, d=2, separation=6)),
    "8 blobs, d=2": ("blobs", partial(random_blobs, K=8, d=2, separation=6)),
    "4 blobs, d=5": ("blobs", partial(random_blobs, K=4, d=5, separation=9)),
    "8 blobs, d=5": ("blobs", partial(random_blobs, K=8, d=5, separation=14)),
    "3 blobs, d=16": ("blobs", partial(random_blobs, K=3, d=16, separation=7)),
    "6 blobs, d=16": ("blobs", partial(random_blobs, K=6, d=16, separation=8)),
    "8 far blobs, d=16": ("blobs", partial(random_blobs, K=8, d=16, separation=16)),
    "4 blobs, d=50": ("blobs", partial(random_blobs, K=4, d=50, separation=8)),
    "8 blobs, d=50": ("blobs", partial(random_blobs, K=8, d=50, separation=10)),
    "8 far blobs, d=50": ("blobs", partial(random_blobs, K=8, d=50, separation=30)),
    "unequal sizes, d=2": (
        "blobs",
        partial(blobs, centers=[[0, 0], [7, 0], [0, 7]], shares=UNEQUAL_3),
    ),
    "unequal sizes, d=5": ("blobs", partial(blobs, centers=7 * np.eye(3, 5), shares=UNEQUAL_3)),
    "unequal densities, d=2": (
        "blobs",
        partial(blobs, centers=[[0, 0], [5, 0], [0, 12]], spreads=SPREADS_3),
    ),
    "unequal densities, d=5": (
        "blobs",
        partial(blobs, centers=np.diag([5.0, 7, 16]) @ np.eye(3, 5), spreads=SPREADS_3),
    ),
    "blobs in noise, d=2": (
        "blobs",
        partial(in_noise, of=partial(random_blobs, K=4, d=2, separation=7)),
    ),
    "blobs in noise, d=5": (
        "blobs",
        partial(in_noise, of=partial(random_blobs, K=4, d=5, separation=12)),
    ),
    "rounded blobs": ("blobs", rounded_blobs),
    "iris": ("real", bundled(datasets.load_iris)),
    "wine": ("real", bundled(datasets.load_wine)),
    "breast cancer": ("real", bundled(datasets.load_breast_cancer)),
    "digits": ("real", bundled(datasets.load_digits)),
    "ionosphere": ("real", paper("ionosphere")),
    "balance": ("real", paper("balance")),
    "sonar": ("real", paper("sonar")),
    "diabetes": ("real", paper("diabetes")),
    "banknote": ("real", paper("banknote")),
    "mammographic": ("real", paper("mammographic")),
    "outliers at 8": ("outliers", partial(with_outliers, distance=8)),
    "outliers at 30": ("outliers", partial(with_outliers, distance=30)),
    "outliers at 1000": ("outliers", partial(with_outliers, distance=1000)),
}
SIZES = (300, 1100)
GROWING: dict[str, Callable[..., Labelled]] = {
    "moons, noise 0.1": partial(moons, noise=0.1),
    "circles 0.5, noise 0.1": partial(circles, factor=0.5, noise=0.1),
    "3 spirals": partial(spirals, arms=3),
    "wide anisotropic blobs": anisotropic,
}
DATASETS |= {
    f"{name}, {n} rows": ("sizes", partial(function, n=n))
    for name, function in GROWING.items()
    for n in SIZES
}
SIZE_RULES = (
    "local, k=7, scale 0.5",
    "local, k=10, scale 0.5",
    "local, k=20, scale 0.5",
    "neighbors, k=10, scale 0.5",
    "neighbors, k=10, scale 1",
    "median, scale 0.1",
)
WEAK = (
    "moons, noise 0.1",
    "circles 0.5, noise 0.1",
    "wide anisotropic blobs",
    "3 spirals",
    "outliers at 8",
    "outliers at 30",
    "outliers at 1000",
)


# --------------------------------------------------------------------------------------- measuring


@dataclass(frozen=True)
class Run:
    """One fit: a data set and seed, a rule, a cut, and what came of it."""

    dataset: str
    group: str
    seed: int
    rule: str
    cut: str
    n_train: int
    n_clusters: int
    train_ari: float
    new_ari: float
    smallest: int  # rows of the smallest cluster
    n_components: int
    error: str = ""  # of a fit that raised one: it scores 0

    @property
    def has_tiny_cluster(self) -> bool:
        return not self.error and self.smallest <= TINY


def ari(y: Labels, labels: Labels) -> float:
    known = y >= 0
    return float(adjusted_rand_score(y[known], labels[known]))


def measure(name: str, seed: int) -> Iterator[Run]:
    """All rules and cuts on one data set."""
    group, function = DATASETS[name]
    X, y, K = function(seed)
    X, X_new, y, y_new = train_test_split(X, y, test_size=TEST_SHARE, random_state=seed)
    for cut in CUTS:
        for rule, affinity in RULES.items():
            run = partial(Run, name, group, seed, rule, cut, len(X), K)
            try:
                model = GPOD(n_clusters=K, cut=cut, affinity=affinity, n_jobs=1).fit(X)
                labels, labels_new = model.labels_, model.predict(X_new)
            except (ValueError, ArithmeticError) as error:  # no edges, or no accurate eigenvectors
                yield run(0.0, 0.0, 0, 0, str(error))
                continue
            smallest = int(np.bincount(labels, minlength=K).min())
            scores = ari(y, labels), ari(y_new, labels_new)
            yield run(*scores, smallest, model.n_components_found_)


def measure_all(n_seeds: int) -> tuple[list[Run], list[str]]:
    """All runs, and the names of data sets whose files are missing."""
    runs: list[Run] = []
    skipped: list[str] = []
    for name in DATASETS:
        start = time.perf_counter()
        try:
            for seed in range(n_seeds):
                runs.extend(measure(name, seed))
        except FileNotFoundError:
            skipped.append(name)
            print(f"{name}: skipped, its file is not there")
            continue
        print(f"{name}: {time.perf_counter() - start:.1f} s", flush=True)
    return runs, skipped


# ------------------------------------------------------------------------------------- summarizing


def mean_scores(runs: list[Run]) -> dict[str, float]:
    return {
        "train": round(float(np.mean([run.train_ari for run in runs])), 4),
        "new": round(float(np.mean([run.new_ari for run in runs])), 4),
    }


def solvable_runs(runs: list[Run]) -> set[tuple[str, int]]:
    """Synthetic data sets and seeds that some rule and cut solve."""
    return {
        (run.dataset, run.seed)
        for run in runs
        if run.group in ("shapes", "blobs") and run.train_ari > SOLVABLE
    }


def summarize_rule(runs: list[Run], solvable: set[tuple[str, int]]) -> dict[str, Any]:
    """Means over each group (its sets have equally many runs), and counts of what went wrong."""
    counted = [run for run in runs if run.group in GROUPS]
    judged = [run for run in counted if (run.dataset, run.seed) in solvable]
    groups = {group: [run for run in counted if run.group == group] for group in GROUPS}
    return {
        **{group: mean_scores(members) for group, members in groups.items()},
        "failures_train": sum(run.train_ari < FAILED for run in judged),
        "failures_new": sum(run.new_ari < FAILED for run in judged),
        "tiny_clusters": sum(run.has_tiny_cluster for run in counted),
        "disconnected": sum(run.n_components > 1 for run in counted),
        "more_components_than_clusters": sum(run.n_components > run.n_clusters for run in counted),
        "errors": sum(bool(run.error) for run in counted),
    }


def summarize_dataset(runs: list[Run]) -> dict[str, Any]:
    tiny = sum(run.has_tiny_cluster for run in runs)
    return {**mean_scores(runs), "tiny_clusters": tiny}


def split(runs: list[Run], field: str) -> dict[str, list[Run]]:
    """The runs by the value of a field."""
    parts: dict[str, list[Run]] = {}
    for run in runs:
        parts.setdefault(getattr(run, field), []).append(run)
    return parts


def summarize(runs: list[Run], skipped: list[str], n_seeds: int) -> dict[str, Any]:
    """What goes to the JSON file; the tables are made from it."""
    solvable = solvable_runs(runs)
    counted = {(run.dataset, run.seed) for run in runs if run.group in GROUPS}
    return {
        "settings": {
            "test_share": TEST_SHARE,
            "solvable_above": SOLVABLE,
            "failed_below": FAILED,
            "tiny_at_most": TINY,
            "rules": {rule: affinity.get_params() for rule, affinity in RULES.items()},
            "auto": AUTO,
        },
        "seeds": list(range(n_seeds)),
        "versions": {
            "eigencut": eigencut.__version__,
            "numpy": np.__version__,
            "scipy": scipy.__version__,
            "scikit-learn": sklearn.__version__,
            "python": platform.python_version(),
        },
        "datasets": {
            run.dataset: {"group": run.group, "n_train": run.n_train, "n_clusters": run.n_clusters}
            for run in runs
        },
        "skipped": skipped,
        "n_runs": len(counted),
        "n_solvable": len(solvable),
        "summary": {
            cut: {
                rule: summarize_rule(members, solvable)
                for rule, members in split(of_cut, "rule").items()
            }
            for cut, of_cut in split(runs, "cut").items()
        },
        "by_dataset": {
            name: {
                cut: {
                    rule: summarize_dataset(members)
                    for rule, members in split(of_cut, "rule").items()
                }
                for cut, of_cut in split(of_dataset, "cut").items()
            }
            for name, of_dataset in split(runs, "dataset").items()
        },
        "errors": [asdict(run) for run in runs if run.error],
    }


# ------------------------------------------------------------------------------------------ tables


def markdown(header: list[str], rows: Iterable[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def pair(scores: dict[str, float]) -> str:
    return f"{scores['train']:.2f} / {scores['new']:.2f}"


def rule_name(rule: str) -> str:
    return f"**{rule}**" if rule == AUTO else rule


def cut_table(results: dict[str, Any], cut: str) -> str:
    header = ["rule", *GROUPS, "failures", "tiny clusters", "in more than K pieces"]
    rows = [
        [
            rule_name(rule),
            *(pair(line[group]) for group in GROUPS),
            f"{line['failures_train']} / {line['failures_new']}",
            str(line["tiny_clusters"]),
            str(line["more_components_than_clusters"]),
        ]
        for rule, line in results["summary"][cut].items()
    ]
    n_sets = sum(entry["group"] in GROUPS for entry in results["datasets"].values())
    caption = (
        f"{CUTS[cut]}: {n_sets} data sets, {len(results['seeds'])} seeds, {results['n_runs']} fits "
        f"per rule; failures are out of {results['n_solvable']}."
    )
    n_errors = sum(line["errors"] for line in results["summary"][cut].values())
    if n_errors:
        caption += f" Fits that raised an error and count as 0: {n_errors}."
    if results["skipped"]:
        caption += f" Left out, for want of their files: {', '.join(results['skipped'])}."
    return f"{caption}\n\n{markdown(header, rows)}"


def weakness_table(results: dict[str, Any]) -> str:
    """sigma="auto" and the rule that does best in hindsight, on single data sets."""
    header = ["data set", "cut", "auto", "tiny clusters", "best other rule", "its ARI", "its tiny"]
    rows = []
    for name in WEAK:
        for cut, title in CUTS.items():
            rules = results["by_dataset"][name][cut]
            best = max((rule for rule in rules if rule != AUTO), key=lambda r: rules[r]["train"])
            auto, other = rules[AUTO], rules[best]
            tiny = str(auto["tiny_clusters"]), str(other["tiny_clusters"])
            rows.append([name, title, pair(auto), tiny[0], best, pair(other), tiny[1]])
    return markdown(header, rows)


def size_table(results: dict[str, Any]) -> str:
    """Training ARI of NCut / RatioCut as the number of rows grows."""
    rows = []
    for name in GROWING:
        for n in SIZES:
            cuts = results["by_dataset"][f"{name}, {n} rows"]
            cells = [
                " / ".join(f"{cuts[cut][rule]['train']:.2f}" for cut in CUTS) for rule in SIZE_RULES
            ]
            rows.append([name, str(n), *cells])
    return markdown(["data set", "rows", *map(rule_name, SIZE_RULES)], rows)


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    return {
        **{cut: cut_table(results, cut) for cut in CUTS},
        "weaknesses": weakness_table(results),
        "sizes": size_table(results),
    }


def update_page(page: Path, tables: dict[str, str]) -> None:
    """Replace what stands between ``<!-- table: name -->`` and ``<!-- end -->``."""
    text = page.read_text(encoding="utf-8")
    for name, table in tables.items():
        begin, end = f"<!-- table: {name} -->", "<!-- end -->"
        before, found_begin, rest = text.partition(begin)
        _, found_end, after = rest.partition(end)
        if not (found_begin and found_end):
            sys.exit(f"{page.name} must contain {begin} and, after it, {end}.")
        text = f"{before}{begin}\n{table}\n{end}{after}"
    page.write_text(text, encoding="utf-8")


# -------------------------------------------------------------------------------------------- main


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--quick", action="store_true", help="one seed; the page in docs is left alone"
    )
    parser.add_argument(
        "--seeds", type=int, default=SEEDS, metavar="N", help=f"seeds per data set ({SEEDS})"
    )
    parser.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="where the JSON goes (benchmarks/results/bandwidth.json; nowhere if --quick)",
    )
    arguments = parser.parse_args()
    if arguments.seeds < 1:
        parser.error("--seeds must be at least 1")
    return arguments


def main() -> None:
    arguments = parse_arguments()
    n_seeds = 1 if arguments.quick else arguments.seeds
    out = arguments.out or (None if arguments.quick else RESULTS)
    warnings.simplefilter("ignore", GraphWarning)
    start = time.perf_counter()
    runs, skipped = measure_all(n_seeds)
    results = summarize(runs, skipped, n_seeds)
    tables = make_tables(results)
    print(*tables.values(), sep="\n\n")
    if out:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    if not arguments.quick:
        update_page(PAGE, tables)
    print(f"{len(runs)} fits in {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
