"""
Rows from a folder of Parquet files
===================================

You can fit and label a million rows in twenty files without having all of them in memory. The model
is the same, to the last bit, as from a fit of the same rows in memory.
"""

import tempfile
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_moons

from eigencut import GPOD, Landmarks, Rows

folder = Path(tempfile.mkdtemp())
(folder / "rows").mkdir()
for number in range(20):
    X, _ = make_moons(50_000, noise=0.09, random_state=number)
    pd.DataFrame(X, columns=["x", "y"]).to_parquet(folder / "rows" / f"{number:02}.parquet")

# %%
# ``Rows`` are read in blocks: here twice for the fit, and once for the labels.

rows = Rows.from_file(folder / "rows")
start = time.process_time()
model = GPOD(2, affinity=Landmarks(500)).fit(rows)
model.predict_stream(rows, folder / "labels.npy")
print(f"fit and labels of a million rows: {time.process_time() - start:.1f} s of one processor")

# %%
# For comparison, this fits the same rows in memory.

everything = pd.read_parquet(folder / "rows").to_numpy()
in_memory = GPOD(2, affinity=Landmarks(500)).fit(everything)
labels = np.load(folder / "labels.npy")
print("the same labels:", bool((labels == in_memory.labels_).all()))
print(
    "the same eigenvalues, bit for bit:", bool((model.eigenvalues_ == in_memory.eigenvalues_).all())
)

# %%
# Each colour is a cluster, and dark regions have many rows. The crosses are the landmarks: 500
# points that represent all rows.

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
for k, colours in enumerate(("Blues", "Oranges")):
    ax.hexbin(
        *everything[labels == k].T, gridsize=120, cmap=colours, mincnt=1, bins="log", alpha=0.9
    )
ax.plot(*model.affinity_.landmarks_.T, "k+", ms=3, mew=0.6)
ax.set(xticks=[], yticks=[], title="1 000 000 rows, 500 landmarks")
plt.show()
