"""Regions of libpysal's maps: ours beside spopt's, at equal numbers, columns and neighbours.

``python -m benchmarks.regions``, where libpysal, geopandas and spopt are installed. The table of
benchmarks/studies/partners.md is made of what it stores.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from importlib import import_module
from typing import Any

import numpy as np
from scipy.sparse import csgraph, csr_array

import eigencut
from benchmarks.harness.markdown import table
from benchmarks.harness.study import Results, Study

_MAPS = {
    "Mexico": ("mexicojoin.shp", [f"PCGDP{year}" for year in range(1940, 2001, 10)], (3, 5, 8)),
    "Georgia": ("G_utm.shp", ["PctRural", "PctBach", "PctEld", "PctPov", "PctBlack"], (5, 10)),
}
_PACKAGES = ("geopandas", "libpysal", "spopt")


def share_within(X: Any, labels: Any) -> float:
    """What of the variance of the standardized columns is within regions."""
    Z = (X - X.mean(axis=0)) / X.std(axis=0)
    means = np.array([Z[labels == k].mean(axis=0) for k in np.unique(labels)])
    place = np.unique(labels, return_inverse=True)[1]
    return float(((Z - means[place]) ** 2).sum() / (Z**2).sum())


def n_disconnected(touching: csr_array, labels: Any) -> int:
    """How many regions are in pieces."""
    parts = (
        csgraph.connected_components(touching[labels == k][:, labels == k], directed=False)[0]
        for k in np.unique(labels)
    )
    return sum(n > 1 for n in parts)


def ways(frame: Any, columns: list[str], weights: Any, K: int) -> dict[str, Callable[[], Any]]:
    """A name, and what returns labels."""
    spopt = import_module("spopt.region")
    # spopt takes the columns as they are: it is given what ours makes of them itself.
    scaled = frame.copy()
    scaled[columns] = (frame[columns] - frame[columns].mean()) / frame[columns].std(ddof=0)

    def solved(model: Any) -> Any:
        model.solve()
        return np.asarray(model.labels_)

    def k_means() -> Any:
        values = scaled[columns].to_numpy()
        return solved(spopt.RegionKMeansHeuristic(values, K, weights, seed=0))

    return {
        "eigencut": lambda: eigencut.spatial.regions(
            frame, columns, K, contiguity=weights
        ).to_numpy(),
        "spopt Skater": lambda: solved(spopt.Skater(scaled, weights, columns, n_clusters=K)),
        "spopt WardSpatial": lambda: solved(
            spopt.WardSpatial(scaled, weights, columns, n_clusters=K)
        ),
        "spopt RegionKMeansHeuristic": k_means,
    }


def measure(n_repeats: int, quick: bool) -> Results:
    warnings.simplefilter("ignore")
    read_file = import_module("geopandas").read_file
    libpysal = import_module("libpysal")
    lines = []
    for name, (path, columns, numbers) in _MAPS.items():
        frame = read_file(libpysal.examples.get_path(path))
        weights = libpysal.weights.Queen.from_dataframe(frame, use_index=False)
        touching = csr_array(weights.sparse)
        X = frame[columns].to_numpy(dtype=float)
        for K in numbers[: 1 if quick else None]:
            for method, run in ways(frame, columns, weights, K).items():
                labels, took = run(), []
                for _ in range(1 if quick else n_repeats):
                    start = time.process_time()
                    run()
                    took.append(time.process_time() - start)
                sizes = np.unique(labels, return_counts=True)[1]
                line = {"map": name, "regions": K, "method": method, "found": len(sizes)}
                line |= {"smallest": int(sizes.min()), "within": share_within(X, labels)}
                line |= {"in pieces": n_disconnected(touching, labels)}
                lines.append(line | {"seconds": round(float(np.median(took)), 4)})
    versions = {name: import_module(name).__version__ for name in _PACKAGES}
    return {"versions": versions, "lines": lines}


def tables(results: Results) -> dict[str, str]:
    head = ["map", "regions", "method", "found", "smallest", "variance within", "in pieces"]
    rows = [
        [
            *(str(line[name]) for name in head[:5]),
            f"{line['within']:.3f}",
            str(line["in pieces"]),
            f"{line['seconds']:.3f}",
        ]
        for line in results["lines"]
    ]
    return {"regions": table([*head, "seconds"], rows)}


STUDY = Study("regions", "repeats", 3, measure, tables, page_name="partners")

if __name__ == "__main__":
    STUDY.run(__doc__)
