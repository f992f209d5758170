"""Writes the golden files of the current format version: models that later versions must load.

    python tests/io/golden/make.py

Run it once for a new format version, and for a new kind of affinity; never to change a file that is
there already.
"""

import json
from pathlib import Path

import numpy as np

from eigencut import GPOD, Gaussian, Landmarks, Neighbors, RankedNeighbors
from eigencut.io.model_format import VERSION
from eigencut.tables.table_model import TableModel

HERE = Path(__file__).parent


def rows(n, seed):
    """Three groups in the plane."""
    rng = np.random.default_rng(seed)
    centers = np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    return (centers[rng.integers(0, 3, n)] + rng.normal(size=(n, 2))).round(2)


def with_units(X):
    """And a column of noise in a smaller unit."""
    noise = np.random.default_rng(3).normal(size=len(X))
    return np.column_stack([X, np.round(1000 * noise)])


def weights(A, B):
    return np.exp(-((A[:, np.newaxis] - B) ** 2).sum(2) / 2)


TRAINING, NEW = rows(24, 0), rows(40, 1)
FEW = TRAINING[:12]
MODELS = {
    "gaussian_local": (GPOD(3, affinity=Gaussian("local", n_neighbors=4)), TRAINING, NEW),
    "gaussian_number": (GPOD(3, cut="ratiocut", affinity=Gaussian(1.5)), TRAINING, NEW),
    "landmarks": (GPOD(3, affinity=Landmarks(12)), TRAINING, NEW),
    "neighbors": (GPOD(3, affinity=Neighbors(8)), TRAINING, NEW),
    "precomputed": (GPOD(2, affinity="precomputed"), weights(FEW, FEW), weights(NEW, FEW)),
    "ranked_neighbors": (GPOD(3, affinity=RankedNeighbors(8)), TRAINING, NEW),
    "scaled": (GPOD(3), with_units(rows(36, 0)), with_units(NEW)),
    "sizes": (GPOD(3, affinity=Landmarks(12), min_cluster_size="equal"), TRAINING, NEW),
    "table": (
        TableModel(GPOD(3, affinity=Gaussian(0.7)), scale="minmax", missing="median"),
        TRAINING,
        NEW,
    ),
}
# The version in which a kind was first written, if not 1.
SINCE = {"ranked_neighbors": 2, "scaled": 2, "sizes": 2}
OLDEST = [name for name in MODELS if name not in SINCE]  # there are files of version 1 of these


def main():
    for name, (model, training, new) in MODELS.items():
        path = HERE / f"v{VERSION}_{name}.eigencut"
        if not path.exists():
            model.fit(training).save(path)
            expected = {"predict": model.predict(new).tolist()}
            expected["score_samples"] = model.score_samples(new).tolist()
            path.with_suffix(".json").write_text(json.dumps(expected) + "\n")


if __name__ == "__main__":
    main()
