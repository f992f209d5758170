"""What the README and the pages of the documentation speak of."""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics.pairwise
from sklearn.datasets import make_blobs

import eigencut
from eigencut import GPOD, Gaussian, TableModel


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the README and the pages speak of: rows, a model of them, and files in a folder."""
    monkeypatch.chdir(tmp_path)
    rows, truth = make_blobs(460, 2, centers=3, random_state=0)
    X, new = rows[:400], rows[400:]
    frame = pd.DataFrame(X, columns=["x", "y"])
    Path("measurements").mkdir()
    frame.to_parquet("measurements/rows.parquet")
    frame["size"] = np.array(["S", "M", "L"])[truth[:400]]
    weights = sklearn.metrics.pairwise.rbf_kernel(rows, X)
    model = GPOD(3).fit(X)
    topics = np.random.default_rng(0).normal(size=(20, 30))
    embeddings = topics[np.arange(330) % 20] + 0.2 * np.random.default_rng(1).normal(size=(330, 30))
    model.save("m.eigencut")
    yield {
        "eigencut": eigencut,
        "sklearn": sklearn,
        "GPOD": GPOD,
        "Gaussian": Gaussian,
        "TableModel": TableModel,
        "model": model,
        "X": X,
        "X_new": new,
        "X_heldout": new,
        "X_today": new,
        "W": weights[:400],
        "W_new": weights[400:],
        "U": model.embedding_,
        "path": "measurements",
        "frame": frame,
        "w": np.linspace(1.0, 3.0, 400),
        "people": np.linspace(1.0, 3.0, 400),
        "y": np.where(np.arange(400) % 20 == 0, truth[:400], -1),
        "pairs": [(0, 1), (2, 3)],
        "embeddings": embeddings[:300],
        "new": embeddings[300:],
    }
    if "matplotlib.pyplot" in sys.modules:  # figures that pages draw
        sys.modules["matplotlib.pyplot"].close("all")
