"""Cells of scanpy's own data set: our cut of its graph beside Leiden, at equal numbers.

``python -m benchmarks.cells``, where scanpy and igraph are installed (make test-integrations).
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import eigencut

_RESOLUTIONS = np.arange(0.02, 2.5, 0.04)
_SEEDS = range(3)
_NUMBERS = range(3, 15)


def leiden_scores(scanpy: Any, adata: Any) -> dict[int, list[float]]:
    """Adjusted Rand indices of Leiden by the number of its clusters, over resolutions and seeds."""
    found = defaultdict(list)
    for seed in _SEEDS:
        for resolution in _RESOLUTIONS:
            how = dict(resolution=resolution, random_state=seed, n_iterations=-1)
            scanpy.tl.leiden(adata, flavor="igraph", directed=False, **how)
            labels = adata.obs["leiden"]
            found[labels.nunique()].append(adjusted_rand_score(adata.obs["bulk_labels"], labels))
    return found


def main() -> None:
    warnings.simplefilter("ignore")
    scanpy = import_module("scanpy")
    for graph in ("bundled", "sc.pp.neighbors"):
        adata = scanpy.datasets.pbmc68k_reduced()
        if graph != "bundled":
            scanpy.pp.neighbors(adata)
        leiden = leiden_scores(scanpy, adata)
        for K in [*(k for k in _NUMBERS if k in leiden), "auto"]:
            eigencut.scanpy.cluster(adata, K)
            ours = adjusted_rand_score(adata.obs["bulk_labels"], adata.obs["eigencut"])
            theirs = f"{np.mean(leiden[K]):.3f}" if K in leiden else "-"
            print(f"| {graph} | {K} | {ours:.3f} | {theirs} |", flush=True)


if __name__ == "__main__":
    main()
