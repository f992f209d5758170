"""
How many clusters?
==================

``select`` gives each number of clusters K a score. A high score means that K clusters are clearly
separate. One high peak means that one K is clear. Two peaks mean that the clusters form groups. No
peak means that the rows may be one cluster.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_moons

import eigencut
from eigencut import GPOD, GraphWarning
from eigencut.plotting import HierarchyDisplay

warnings.simplefilter("ignore", GraphWarning)  # "The rows look like one cluster", and others

rng = np.random.default_rng(0)
triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.87]])
grid = np.array([[a, b] for a in range(3) for b in range(3)][:7])
sets = {
    "seven blobs": make_blobs(700, centers=grid, cluster_std=0.13, random_state=3)[0],
    "moons": make_moons(600, noise=0.07, random_state=0)[0],
    "three groups of three": np.vstack(
        [
            6 * group + 2.2 * part + 0.45 * rng.normal(size=(80, 2))
            for group in triangle
            for part in triangle
        ]
    ),
    "one heap": rng.normal(size=(600, 2)),
}

# %%
# Above: the clusters that ``GPOD("auto")`` finds. Below: the score of each K.

figure, axes = plt.subplots(2, len(sets), figsize=(12, 5.4), layout="constrained")
for (above, below), (name, X) in zip(axes.T, sets.items(), strict=True):
    table = eigencut.select(X, n_clusters=range(2, 13))
    best = {}
    for choice in table.choices:
        best[choice.n_clusters] = max(choice.score, best.get(choice.n_clusters, -np.inf))
    model = GPOD("auto").fit(X)
    above.scatter(*X.T, s=5, c=model.labels_, cmap="tab20")
    above.set(title=f"{name}: K = {model.n_clusters_}", xticks=[], yticks=[])
    below.bar(list(best), list(best.values()), color="0.6")
    below.axhline(0, c="black", lw=0.6)
    below.set(xlabel="K", ylim=(-2, 6.5))
axes[1, 0].set_ylabel("score")
plt.show()

# %%
# The scores of the three groups of three have peaks at 3 and at 9. The tree shows how the 9
# clusters form 3 groups.

model = GPOD(9).fit(sets["three groups of three"])
HierarchyDisplay.from_estimator(model)
plt.show()
