"""
Noise between the clusters
==========================

Noise fills the gap between these moons. On a plain graph of neighbours, the best cut divides each
moon, because such a cut crosses few edges. **Density contrast** makes edges in dense regions
heavier, so the best cut runs through the gap. The default of ``GPOD`` uses density contrast.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, GraphWarning, Neighbors

warnings.simplefilter("ignore", GraphWarning)  # about parts of the graph with few rows
rng = np.random.default_rng(0)


def noisy_moons(n, seed):
    """Return moons with a noisy gap, and n / 10 rows anywhere (with the true label -1)."""
    X, y = make_moons(n, noise=0.12, random_state=seed)
    anywhere = rng.uniform([-1.5, -1.0], [2.5, 1.5], size=(n // 10, 2))
    return np.vstack([X, anywhere]), np.append(y, np.full(n // 10, -1))


ways = {
    "no contrast": Neighbors(15, density_contrast=0.0),
    "contrast 1, mutual (as in the default)": Neighbors(15, graph="mutual", density_contrast=1.0),
}
sizes = [500, 1000, 2000, 5000, 10_000]
scores = {name: [] for name in ways}
for n in sizes:
    X, y = noisy_moons(n, seed=1)
    for name, affinity in ways.items():
        model = GPOD(2, affinity=affinity).fit(X)
        scores[name].append(adjusted_rand_score(y[y >= 0], model.labels_[y >= 0]))

# %%
# Left and middle: the clusters of 5000 rows. Right: agreement with the true moons, 1 is perfect.
# More rows help with density contrast only. Rows with the true label -1 do not count.

figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
X, y = noisy_moons(5000, seed=1)
for ax, (name, affinity) in zip(axes, ways.items(), strict=False):
    ax.scatter(*X.T, s=2, c=GPOD(2, affinity=affinity).fit(X).labels_, cmap="coolwarm")
    ax.set(title=name, xticks=[], yticks=[])
for name, values in scores.items():
    axes[2].plot(sizes, values, "o-", label=name)
axes[2].set(xscale="log", xlabel="rows", ylabel="adjusted Rand index", ylim=(-0.05, 1.05))
axes[2].legend(loc="center left", fontsize=8)
plt.show()
