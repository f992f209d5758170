"""
Are the clusters real?
======================

Every method finds two clusters in a uniform square if you ask for two. ``significance`` fits the
model again on simulated rows that form one cluster, and compares the cuts. The moons are far easier
to cut than these rows, but the square is not.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from eigencut import GPOD
from eigencut.inspection import significance

sets = {
    "uniform square": np.random.default_rng(1).random((250, 2)),
    "moons": make_moons(250, noise=0.08, random_state=0)[0],
}

figure, axes = plt.subplots(2, 2, figsize=(10, 5.4), layout="constrained", width_ratios=[1, 1.6])
for (left, right), (name, X) in zip(axes, sets.items(), strict=True):
    model = GPOD(2).fit(X)
    result = significance(model, X, n_null=39)
    print(name, result, sep="\n\n", end="\n\n")
    left.scatter(*X.T, s=8, c=model.labels_, cmap="coolwarm")
    left.set(title=name, xticks=[], yticks=[])
    for null, values in result.null_statistics.items():
        right.hist(np.log10(values + 1e-6), bins=15, alpha=0.6, label=f"samples of: {null}")
    right.axvline(np.log10(result.statistic + 1e-6), c="black", lw=2, label="these rows")
    right.set(title=f"p = {result.p_value:.3f}", xlabel="cut value, log10")
    right.legend(fontsize=8)
plt.show()

# %%
# A small p-value says that there is more than one cluster, not that there are two. And the number
# must not have been chosen on the same rows.
