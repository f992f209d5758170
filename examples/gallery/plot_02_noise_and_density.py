"""
Noise, and why dense places count more
======================================

With **density contrast**, more rows make the clusters of these noisy moons better; without it,
they make them worse. A plain graph of neighbours is cut straight through one moon, because this cut
crosses few edges. Density contrast makes edges in dense regions heavier, so the cheapest cut runs
through the gap. The default uses density contrast.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, GraphWarning, Neighbors

warnings.simplefilter("ignore", GraphWarning)  # single rows of noise do not become clusters
rng = np.random.default_rng(0)


def noisy_moons(n, seed):
    """Moons whose gap is nearly closed, and a tenth of rows anywhere (truth -1)."""
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
# Left: the clusters of 5000 rows. Right: how the score grows with the number of rows. Rows that
# are noise do not count in the score, because no cluster is right for them.

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
