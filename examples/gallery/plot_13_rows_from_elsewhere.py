"""
Rows from elsewhere
===================

A model labels every row, and tells you how far to trust the label. For a row far from the training
rows, the similarity to the training rows is low, all clusters are equally probable, and with
``outliers="label"`` the label is -1.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from eigencut import GPOD
from eigencut.plotting import ClusterDisplay, SupportDisplay

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
# Crosses are new rows. Rows outside the dashed line are unlike the training rows.

ClusterDisplay.from_estimator(model, X, X_new=X_new)
plt.show()

# %%
# The similarity of training rows and new rows to the training rows. The rows from elsewhere are in
# the first bar.

SupportDisplay.from_estimator(model, X, X_new=X_new)
plt.show()

# %%
# Far from the training rows, both clusters have the probability 0.5.

p = model.predict_proba(X_new).max(axis=1)
print(f"largest probability: {p[:200].mean():.2f} on usual rows, {p[200:].mean():.2f} on others")
