"""
The toys of the paper
=====================

As in Figure 1 of the paper, ``GPOD`` is fitted on 2000 rows that form circles or moons. With each
of its two cuts, ``ncut`` and ``ratiocut``, it labels 500 new rows without a mistake. You only give
the number of clusters.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD
from eigencut.plotting import ClusterDisplay

SETS = {
    "circles": lambda n, seed: make_circles(n, factor=0.5, noise=0.05, random_state=seed),
    "moons": lambda n, seed: make_moons(n, noise=0.05, random_state=seed),
}

figure, axes = plt.subplots(2, 2, figsize=(11, 8), layout="constrained")
for line, (name, make) in zip(axes, SETS.items(), strict=True):
    X, _ = make(2000, 0)
    X_new, truth = make(500, 1)
    for ax, cut in zip(line, ("ncut", "ratiocut"), strict=True):
        model = GPOD(2, cut=cut).fit(X)
        score = adjusted_rand_score(truth, model.predict(X_new))
        ClusterDisplay.from_estimator(model, X, X_new=X_new, ax=ax)
        ax.set_title(f"{name}, {cut}: ARI {score:.2f} on new rows")
plt.show()
