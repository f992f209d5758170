"""Whether a low margin tells of a wrong label."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import spearmanr

from benchmarks.data.real import read_digits
from benchmarks.harness.markdown import table
from benchmarks.selection import JOBS
from eigencut import GPOD

MOST_TRAINING_ROWS = 3000
CLASSIFIED = ("PenDigits", "USPS", "Letters", "digits")


def measure_margins(name: str, most_rows: int) -> dict[str, Any]:
    """Clusters named by the majority of their training rows; errors of held-out rows by margin."""
    X, y = read_digits(name)
    y = np.unique(y, return_inverse=True)[1]
    K = int(y.max()) + 1
    order = np.random.default_rng(0).permutation(len(X))
    training, rest = np.split(order, [min(len(X) // 2, most_rows)])
    model = GPOD(K, n_jobs=JOBS).fit(X[training])
    counts = np.zeros((K, K), dtype=int)
    np.add.at(counts, (model.labels_, y[training]), 1)
    is_wrong = counts.argmax(axis=1)[model.predict(X[rest])] != y[rest]
    margin = model.predict_margin(X[rest])
    deciles = np.array_split(np.argsort(margin, kind="stable"), 10)
    return {
        "n_clusters": K,
        "training_rows": len(training),
        "new_rows": len(rest),
        "error": round(float(is_wrong.mean()), 4),
        "by_decile": [round(float(is_wrong[part].mean()), 4) for part in deciles],
        "median_margin": [round(float(np.median(margin[part])), 4) for part in deciles],
        "spearman": round(float(spearmanr(margin, is_wrong).statistic), 4),
    }


def margin_table(results: dict[str, Any]) -> str:
    header = ["data", "K", "training / new rows", "error", "Spearman"]
    deciles = ["lowest tenth", *map(str, range(2, 10)), "highest tenth"]
    rows = [
        [
            name,
            str(line["n_clusters"]),
            f"{line['training_rows']} / {line['new_rows']}",
            f"{100 * line['error']:.1f} %",
            f"{line['spearman']:.2f}",
            *(f"{100 * error:.0f}" for error in line["by_decile"]),
        ]
        for name, line in results["margins"].items()
    ]
    text = table([*header, *deciles], rows)
    if results["skipped"]:
        text += f"\n\nLeft out, for want of their files: {', '.join(results['skipped'])}."
    return text
