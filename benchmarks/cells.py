"""Cells of scanpy's own data set: our cut of its graph beside Leiden, at equal numbers.

``python -m benchmarks.cells``, where scanpy and igraph are installed (make test-integrations). The
table of benchmarks/studies/partners.md is made of what it stores.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import eigencut
from benchmarks.harness.markdown import table
from benchmarks.harness.study import Results, Study

GRAPHS = ("bundled", "sc.pp.neighbors")
_RESOLUTIONS = np.arange(0.02, 2.5, 0.04)
_NUMBERS = range(3, 15)
_PACKAGES = ("scanpy", "anndata", "igraph")


def leiden_scores(scanpy: Any, adata: Any, n_seeds: int) -> dict[int, list[float]]:
    """Adjusted Rand indices of Leiden by the number of its clusters, over resolutions and seeds."""
    found = defaultdict(list)
    for seed in range(n_seeds):
        for resolution in _RESOLUTIONS:
            how = dict(resolution=resolution, random_state=seed, n_iterations=-1)
            scanpy.tl.leiden(adata, flavor="igraph", directed=False, **how)
            labels = adata.obs["leiden"]
            found[labels.nunique()].append(adjusted_rand_score(adata.obs["bulk_labels"], labels))
    return found


def of_defaults(scanpy: Any, adata: Any) -> dict[str, Any]:
    """Both with their own numbers of clusters: ours by "auto", Leiden's by its resolution of 1."""
    eigencut.scanpy.cluster(adata)
    scanpy.tl.leiden(adata, flavor="igraph", directed=False, n_iterations=2)
    found = {}
    for name in ("eigencut", "leiden"):
        labels = adata.obs[name]
        found[name] = float(adjusted_rand_score(adata.obs["bulk_labels"], labels))
        found[f"{name} clusters"] = int(labels.nunique())
    return found


def measure(n_seeds: int, quick: bool) -> Results:
    warnings.simplefilter("ignore")
    scanpy = import_module("scanpy")
    lines, defaults = [], {}
    for graph in GRAPHS[: 1 if quick else None]:
        adata = scanpy.datasets.pbmc68k_reduced()
        if graph != "bundled":
            scanpy.pp.neighbors(adata)
        leiden = leiden_scores(scanpy, adata, 1 if quick else n_seeds)
        for K in (k for k in _NUMBERS if k in leiden):
            eigencut.scanpy.cluster(adata, K)
            ours = adjusted_rand_score(adata.obs["bulk_labels"], adata.obs["eigencut"])
            line = {"graph": graph, "clusters": K, "eigencut": float(ours)}
            lines.append(line | {"leiden": float(np.mean(leiden[K])), "runs": len(leiden[K])})
        defaults[graph] = of_defaults(scanpy, adata)
    versions = {name: import_module(name).__version__ for name in _PACKAGES}
    return {"versions": versions, "lines": lines, "defaults": defaults}


def tables(results: Results) -> dict[str, str]:
    rows = [
        [
            line["graph"] if line["graph"] == "bundled" else f"`{line['graph']}`",
            str(line["clusters"]),
            f"{line['eigencut']:.3f}".lstrip("0"),
            f"{line['leiden']:.3f}".lstrip("0"),
        ]
        for line in results["lines"]
    ]
    return {"cells": table(["graph", "clusters", "eigencut", "Leiden"], rows)}


STUDY = Study("cells", "seeds", 3, measure, tables, page_name="partners")

if __name__ == "__main__":
    STUDY.run(__doc__)
