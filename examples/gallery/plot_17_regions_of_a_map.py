"""
Regions of a map
================

``eigencut.spatial.regions`` divides a map into regions of similar counties, each in one piece. Here
it nearly finds the five regions that we generated. ``GPOD`` on the same columns does not know the
map, so some counties of its clusters are scattered.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.collections import PolyCollection
from matplotlib.colors import ListedColormap
from scipy.spatial import Voronoi
from sklearn.metrics import adjusted_rand_score

import eigencut

# %%
# We generate a country of 400 counties. Income and age differ between five regions, and vary within
# each region.

rng = np.random.default_rng(4)
places = rng.random((400, 2))
mirrored = [
    places * [-1, 1],
    places * [1, -1],
    [2, 0] + places * [-1, 1],
    [0, 2] + places * [1, -1],
]
cells = Voronoi(np.vstack([places, *mirrored]))  # mirrored places make the outer border straight
shapes = [cells.vertices[cells.regions[cells.point_region[i]]] for i in range(400)]
borders = cells.ridge_points[(cells.ridge_points < 400).all(axis=1)]

centres = np.array([[0.2, 0.2], [0.8, 0.25], [0.5, 0.55], [0.15, 0.8], [0.85, 0.85]])
truth = ((places[:, np.newaxis] - centres) ** 2).sum(axis=2).argmin(axis=1)
counties = pd.DataFrame(
    {
        "income": np.array([20.0, 42, 30, 38, 22])[truth] + rng.normal(0, 4, 400),
        "age": np.array([35.0, 44, 50, 34, 46])[truth] + rng.normal(0, 3, 400),
    }
)

# %%
# Here ``contiguity`` is a list of the pairs of counties that touch. It can also be a sparse matrix
# or libpysal weights. For a GeoDataFrame, leave it out.

region = eigencut.spatial.regions(counties, ["income", "age"], 5, contiguity=borders)
cluster = eigencut.GPOD(5).fit(counties).labels_
print(counties.groupby(region).agg(["mean", "size"]).round(1))

# %%
# Left: the income. Middle and right: each colour is a region or a cluster. ARI is the agreement
# with the true regions: 1 is perfect.

shown = {
    "income": counties["income"],
    f"regions: ARI {adjusted_rand_score(truth, region):.2f}": region,
    f"clusters without the map: ARI {adjusted_rand_score(truth, cluster):.2f}": cluster,
}
five = ListedColormap(["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9"])
figure, axes = plt.subplots(1, 3, figsize=(12, 4.3), layout="constrained")
for ax, (title, values), colours in zip(axes, shown.items(), ["viridis", five, five], strict=True):
    ax.add_collection(PolyCollection(shapes, array=values, cmap=colours, edgecolors="white"))
    ax.set(title=title, xlim=(0, 1), ylim=(0, 1), aspect="equal", xticks=[], yticks=[])
plt.show()
