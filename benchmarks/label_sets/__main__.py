"""Coverage and size of label sets on twelve generated families and three real sets.

In each repetition a model is fitted and its sets are calibrated on new rows; a further batch of ten
new rows is then predicted, and labelled by a refit with that batch. No row is used twice. The
figures go to ``benchmarks/results/label_sets.json`` and into a table of ``studies/risk.md``.

    OMP_NUM_THREADS=1 python -m benchmarks.label_sets            # a quarter of an hour of one core
    OMP_NUM_THREADS=1 python -m benchmarks.label_sets --quick    # two repetitions; pages left alone
"""

from __future__ import annotations

import json
import warnings
from typing import Any

import numpy as np
from sklearn.base import clone

from benchmarks import RESULTS, STUDIES
from benchmarks.harness.markdown import table
from benchmarks.harness.options import parser, positive
from benchmarks.harness.page import update_page, write_text
from benchmarks.label_sets.samples import GENERATED, REAL, Source
from eigencut import GPOD, Neighbors
from eigencut.inspection import label_sets
from eigencut.inspection.refits import renumbered

COVERAGE = 0.9
N_BATCHES, BATCH = 20, 10
REPETITIONS = 200
AFFINITY = Neighbors(15, graph="mutual", density_contrast=1.5)  # the default's first graph
STORED = RESULTS / "label_sets.json"


def repetition(source: Source, seed: int) -> dict[str, float]:
    """One model, its calibration, and a batch of new rows with a refit of its own."""
    n, held_out = source.n_training, N_BATCHES * BATCH
    X = source.draw(n + held_out + BATCH, seed)
    training, calibration, new = np.split(X, [n, n + held_out])
    estimator = GPOD(source.n_clusters, affinity=AFFINITY, n_init=1, n_jobs=1)
    model = clone(estimator).fit(training)
    calibrated = label_sets(model, calibration, training, n_batches=N_BATCHES, random_state=seed)
    sets = calibrated.predict_set(new, COVERAGE)
    refit = clone(estimator).fit(np.vstack([training, new]))
    numbers = renumbered(refit.labels_[:n], model.labels_, source.n_clusters)
    labels = numbers[refit.labels_[n:]]
    sizes = sets.sum(axis=1)
    return {
        "coverage": float(sets[np.arange(BATCH), labels].mean()),
        "agreement": float((model.predict(new) == labels).mean()),
        "mean_size": float(sizes.mean()),
        "single": float((sizes == 1).mean()),
    }


def measure(source: Source, n_repetitions: int) -> dict[str, Any]:
    runs = [repetition(source, seed) for seed in range(n_repetitions)]
    coverage = np.array([run["coverage"] for run in runs])
    means = {key: float(np.mean([run[key] for run in runs])) for key in runs[0]}
    return means | {
        "standard_error": float(coverage.std() / np.sqrt(len(runs))),
        "repetitions": n_repetitions,
        "n_clusters": source.n_clusters,
        "n_training": source.n_training,
        "separated": source.separated,
    }


def coverage_table(results: dict[str, Any]) -> str:
    header = ["rows", "K", "fitted on", "predict = refit", "coverage", "one cluster", "mean size"]
    lines = [
        [
            name + (", apart" if line["separated"] else ""),
            str(line["n_clusters"]),
            str(line["n_training"]),
            f"{line['agreement']:.1%}",
            f"{line['coverage']:.1%} ± {line['standard_error']:.1%}",
            f"{line['single']:.1%}",
            f"{line['mean_size']:.2f}",
        ]
        for name, line in results.items()
    ]
    return table(header, lines)


def main() -> None:
    options = parser(
        __doc__,
        "benchmarks.label_sets",
        quick="two repetitions; the page is left alone",
        out=f"where the JSON goes (benchmarks/results/{STORED.name}; nowhere if --quick)",
    )
    options.add_argument(
        "--only",
        nargs="+",
        metavar="NAME",
        help="of the families and sets; stored results of the others are kept",
    )
    options.add_argument("--repetitions", type=positive, default=REPETITIONS, metavar="N")
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    sources = GENERATED | REAL
    out = asked.out or STORED
    keeps = not asked.quick or asked.out is not None
    stored = json.loads(out.read_text(encoding="utf-8")) if asked.only and out.exists() else {}
    results: dict[str, Any] = stored
    for name in asked.only or sources:
        results[name] = measure(sources[name], 2 if asked.quick else asked.repetitions)
        print(coverage_table({name: results[name]}).splitlines()[-1], flush=True)
        if keeps:  # what is done survives an interruption
            write_text(out, json.dumps(results, indent=1) + "\n")
    if out == STORED and not asked.quick:
        update_page(STUDIES / "risk.md", {"label sets": coverage_table(in_order(results))})


def in_order(results: dict[str, Any]) -> dict[str, Any]:
    """Generated families first, in the order of the lists."""
    return {name: results[name] for name in (*GENERATED, *REAL) if name in results}


if __name__ == "__main__":
    main()
