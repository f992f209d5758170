"""
Are the clusters real?
======================

Every method finds two clusters in a uniform square if you ask for two. ``significance`` also fits
the model on simulated rows that form one cluster, and compares how easily they can be cut. The
moons are far easier to cut than the simulated rows. The square is not.
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
# The black line is the cut value of the rows, and the bars are those of simulated rows: smaller is
# easier to cut. A p-value of at most 0.05 means that there is more than one cluster. It does not
# mean that there are two. If you chose the number of clusters on the same rows, the p-value is too
# small.
