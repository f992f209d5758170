"""
A budget of fifty labels
========================

A few known labels help most if a class consists of several clusters. Here each of three classes
consists of two blobs, so no clustering without labels can find the classes. With known labels,
cluster k is class k, and ``predict`` labels new rows.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs
from sklearn.metrics import accuracy_score
from sklearn.semi_supervised import LabelSpreading

from eigencut import GPOD

warnings.simplefilter("ignore", RuntimeWarning)  # of LabelSpreading, if no label reaches a row

X, blob = make_blobs(
    900, centers=[[0, 0], [4, 0], [8, 0], [0, 4], [4, 4], [8, 4]], cluster_std=0.8, random_state=0
)
truth = np.array([0, 1, 2, 1, 2, 0])[blob]  # opposite blobs are one class
X, X_new, truth, truth_new = X[:700], X[700:], truth[:700], truth[700:]

# %%
# For each number of labels, we draw the labelled rows at random, up to five times. Both methods get
# the same labels.

budgets = [6, 12, 25, 50, 100]
scores = {"eigencut": [], "LabelSpreading": []}
for budget in budgets:
    found = {name: [] for name in scores}
    for seed in range(5):
        asked = np.random.default_rng(seed).choice(len(X), budget, replace=False)
        known = np.full(len(X), -1)
        known[asked] = truth[asked]
        if len(np.unique(truth[asked])) < 3:
            continue
        model = GPOD(3).fit(X, known_labels=known)
        found["eigencut"].append(accuracy_score(truth_new, model.predict(X_new)))
        peer = LabelSpreading("knn", n_neighbors=15).fit(X, known)
        found["LabelSpreading"].append(accuracy_score(truth_new, peer.predict(X_new)))
    for name, values in found.items():
        scores[name].append(np.mean(values))

# %%
# Left: fifty labelled rows (circled), and the predicted classes of 200 new rows. Right: the share
# of new rows with the right class.

asked = np.random.default_rng(0).choice(len(X), 50, replace=False)
known = np.full(len(X), -1)
known[asked] = truth[asked]
model = GPOD(3).fit(X, known_labels=known)
palette = np.array(["#0072B2", "#D55E00", "#009E73"])
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
axes[0].scatter(*X_new.T, s=10, c=palette[model.predict(X_new)])
axes[0].scatter(*X[asked].T, s=55, facecolors=palette[truth[asked]], edgecolors="black")
axes[0].set(title="50 labels, 200 new rows", xticks=[], yticks=[])
for name, values in scores.items():
    axes[1].plot(budgets, values, "o-", label=name)
axes[1].set(xlabel="labels", ylabel="right class on new rows", ylim=(0, 1.02))
axes[1].legend(loc="lower right")
plt.show()
for name, values in scores.items():
    print(f"{name:15}", *(f"{value:.2f}" for value in values))
