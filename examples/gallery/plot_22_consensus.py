"""
One labelling from many
=======================

Twenty runs of k-means find 30 to 49 clusters each, and no run finds the three rings. The consensus
of the runs finds the rings. The agreement shows for which rows the runs disagree.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import eigencut

rng = np.random.default_rng(0)
ring = np.repeat([0, 1, 2], [150, 350, 600])
angle = rng.uniform(0, 2 * np.pi, len(ring))
radius = np.array([0.3, 1.8, 3.2])[ring] + 0.22 * rng.normal(size=len(ring))
X = radius[:, np.newaxis] * np.column_stack([np.cos(angle), np.sin(angle)])

runs = [KMeans(k, n_init=1, random_state=k).fit_predict(X) for k in range(30, 50)]
found = eigencut.consensus(runs, 3)
print("one run:  ", round(np.mean([adjusted_rand_score(ring, run) for run in runs]), 2))
print("consensus:", round(adjusted_rand_score(ring, found.labels), 2))

figure, axes = plt.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
axes[0].scatter(*X.T, s=6, c=runs[0], cmap="tab20")
axes[0].set_title("a run of k-means")
axes[1].scatter(*X.T, s=6, c=found.labels, cmap="viridis")
axes[1].set_title("consensus of twenty")
points = axes[2].scatter(*X.T, s=6, c=found.agreement, cmap="magma", vmin=0, vmax=1)
axes[2].set_title("agreement")
figure.colorbar(points, ax=axes[2])
for ax in axes:
    ax.set(xticks=[], yticks=[], aspect="equal")
plt.show()
