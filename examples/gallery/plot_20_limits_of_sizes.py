"""
Clusters of limited size
========================

Four vans deliver parcels, and each van takes 20 % to 30 % of the parcels. ``GPOD`` finds the four
towns, and moves parcels that fit another van almost as well, until the limits hold. New parcels
follow the same rule.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs

from eigencut import GPOD
from eigencut.plotting import ClusterDisplay

centres = [[0, 0], [4, 4], [8, 0], [4, -4]]
parcels, _ = make_blobs([340, 200, 160, 100], centers=centres, cluster_std=0.9, random_state=0)
free = GPOD(4).fit(parcels)
limited = GPOD(4, max_cluster_size=0.3, min_cluster_size=0.2).fit(parcels)

figure, axes = plt.subplots(1, 2, figsize=(12, 4.6), layout="constrained")
for ax, model, title in zip(axes, (free, limited), ("no limits", "20 % to 30 % each"), strict=True):
    ClusterDisplay.from_estimator(model, parcels, ax=ax)
    ax.set_title(title)
plt.show()

# %%
# The shares of the vans: the limits hold exactly for the parcels of the fit, and approximately for
# those of tomorrow.

tomorrow, _ = make_blobs([340, 200, 160, 100], centers=centres, cluster_std=0.9, random_state=1)
for name, labels in (("today", limited.labels_), ("tomorrow", limited.predict(tomorrow))):
    print(f"{name:10}", np.bincount(labels) / len(labels))
