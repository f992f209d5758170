"""Regions of libpysal's maps: ours beside spopt's, at equal numbers, columns and neighbours.

``python -m benchmarks.regions``, where libpysal, geopandas and spopt are installed.
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

_MAPS = {
    "Mexico": ("mexicojoin.shp", [f"PCGDP{year}" for year in range(1940, 2001, 10)], (3, 5, 8)),
    "Georgia": ("G_utm.shp", ["PctRural", "PctBach", "PctEld", "PctPov", "PctBlack"], (5, 10)),
}
_REPEATS = 3


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


def main() -> None:
    warnings.simplefilter("ignore")
    read_file = import_module("geopandas").read_file
    libpysal = import_module("libpysal")
    print("| map | regions | method | found | smallest | variance within | in pieces | seconds |")
    print("|---|---|---|---|---|---|---|---|")
    for name, (path, columns, numbers) in _MAPS.items():
        frame = read_file(libpysal.examples.get_path(path))
        weights = libpysal.weights.Queen.from_dataframe(frame, use_index=False)
        touching = csr_array(weights.sparse)
        X = frame[columns].to_numpy(dtype=float)
        for K in numbers:
            for method, run in ways(frame, columns, weights, K).items():
                labels, took = run(), []
                for _ in range(_REPEATS):
                    start = time.process_time()
                    run()
                    took.append(time.process_time() - start)
                sizes = np.unique(labels, return_counts=True)[1]
                row = [name, K, method, len(sizes), sizes.min(), f"{share_within(X, labels):.3f}"]
                row += [n_disconnected(touching, labels), f"{np.median(took):.3f}"]
                print("|", " | ".join(map(str, row)), "|", flush=True)


if __name__ == "__main__":
    main()
