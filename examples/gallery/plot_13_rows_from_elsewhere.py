"""
Rows from elsewhere
===================

A model has an answer for every row, and says how much that answer is worth. Far from the training
data the support falls, probabilities become equal, and with ``outliers="label"`` the label is -1.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from eigencut import GPOD

X, _ = make_moons(1500, noise=0.07, random_state=0)
rng = np.random.default_rng(1)
usual, _ = make_moons(200, noise=0.07, random_state=2)
elsewhere = rng.normal([2.2, 1.4], 0.15, size=(40, 2))
X_new = np.vstack([usual, elsewhere])

model = GPOD(2, outliers="label").fit(X)
labels = model.predict(X_new)
print(
    "labelled -1:",
    (labels[:200] < 0).sum(),
    "of 200 usual rows,",
    (labels[200:] < 0).sum(),
    "of 40 others",
)

# %%
# Left: labels; black are those without support. Right: the largest probability, which falls to a
# half where the training rows say nothing.

grid = np.stack(np.meshgrid(np.linspace(-1.8, 3, 220), np.linspace(-1.2, 2, 160)), axis=-1)
p = model.predict_proba(grid.reshape(-1, 2)).max(axis=1).reshape(160, 220)
figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
palette = np.array(["#0072B2", "#D55E00", "black"])  # -1 is the last
axes[0].scatter(*X.T, s=2, c="0.8")
axes[0].scatter(*X_new.T, s=14, c=palette[labels])
shown = axes[1].imshow(p, extent=(-1.8, 3, -1.2, 2), origin="lower", aspect="auto", cmap="magma")
axes[1].scatter(*X_new.T, s=5, c="white")
figure.colorbar(shown, ax=axes[1], label="largest probability")
for ax in axes:
    ax.set(xticks=[], yticks=[], xlim=(-1.8, 3), ylim=(-1.2, 2))
plt.show()
