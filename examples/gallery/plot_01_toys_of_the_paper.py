"""
The toys of the paper
=====================

Both cuts, fitted on 2000 circles and moons, label 500 rows that they have not seen without a
mistake. This is Figure 1 of the paper; nothing but the number of clusters is given.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD

SETS = {
    "circles": lambda n, seed: make_circles(n, factor=0.5, noise=0.05, random_state=seed),
    "moons": lambda n, seed: make_moons(n, noise=0.05, random_state=seed),
}

figure, axes = plt.subplots(2, 3, figsize=(10, 6.4), layout="constrained")
for line, (name, make) in zip(axes, SETS.items(), strict=True):
    X, _ = make(2000, 0)
    X_new, truth = make(500, 1)
    line[0].scatter(*X.T, s=3, c="0.4")
    line[0].set_title(f"{name}: 2000 training rows")
    for ax, cut in zip(line[1:], ("ncut", "ratiocut"), strict=True):
        model = GPOD(2, cut=cut).fit(X)
        labels = model.predict(X_new)
        ax.scatter(*X_new.T, s=9, c=labels, cmap="coolwarm")
        ax.set_title(f"{cut}: 500 new rows, ARI {adjusted_rand_score(truth, labels):.2f}")
for ax in axes.flat:
    ax.set(xticks=[], yticks=[], aspect="equal")
plt.show()
