"""
On a Dask cluster
=================

The rows stay on the workers. Your own process only gets the landmarks, which are points that
represent the rows, and one small matrix. The model is the same, to the last bit, for any chunks of
the rows.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from dask.distributed import Client, LocalCluster
from sklearn.datasets import make_blobs

from eigencut import GPOD, Landmarks
from eigencut.integrations.dask import fit, predict

X, truth = make_blobs(60_000, 2, centers=6, cluster_std=0.7, random_state=4)

models = {}
with (
    LocalCluster(
        n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None
    ) as cluster,
    Client(cluster),
):
    for chunk in (20_000, 7_001):
        rows = da.from_array(X, chunks=(chunk, 2))
        models[chunk] = fit(GPOD(6, affinity=Landmarks(300)), rows)
    labels = predict(models[7_001], rows).compute()  # computes the labels on the workers

alone = GPOD(6, affinity=Landmarks(300)).fit(X)
for chunk, model in models.items():
    same = bool((model.eigenvalues_ == alone.eigenvalues_).all())
    print(f"chunks of {chunk} rows: the same eigenvalues as in memory, bit for bit: {same}")
print("the same labels:", bool((labels == alone.labels_).all()))

# %%
# Left: the chunk of each row, for chunks of 7001 rows. Right: the cluster of each row.

figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
shown = np.random.default_rng(0).choice(len(X), 6000, replace=False)
axes[0].scatter(*X[shown].T, s=3, c=shown // 7001, cmap="viridis")
axes[0].set_title("which chunk")
axes[1].scatter(*X[shown].T, s=3, c=labels[shown], cmap="tab10")
axes[1].set_title("which cluster")
for ax in axes:
    ax.set(xticks=[], yticks=[])
plt.show()
