"""
A nightly job: drift and update
===============================

New rows come in every night. ``drift`` tells you whether they resemble the earlier rows, and
``update`` adds them to the model. On the sixth night a new kind of rows appears. ``drift`` reports
the new kind, and ``update`` makes it cluster 3. The other clusters keep their numbers.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from eigencut import GPOD, GraphWarning, Landmarks

warnings.simplefilter("ignore", GraphWarning)  # about clusters without edges between them

rng = np.random.default_rng(0)
kinds = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])


def night(number, n=600):
    known = kinds + np.array([0.08 * number, 0.0])  # all clusters move a little to the right
    if number >= 6:
        known = np.vstack([known, [[14.0, 10.0]]])
    return known[rng.integers(len(known), size=n)] + rng.normal(size=(n, 2))


model = GPOD("auto", affinity=Landmarks(100)).fit(night(0, 4000))
told = []
for number in range(1, 11):
    rows = night(number)
    found = model.drift(rows)  # changes nothing
    model.update(rows, decay=0.9)  # each earlier row counts as 0.9 rows
    told.append((number, found.p_value, found.without_support.now, rows, model.labels_))
    note = ", a new cluster" if found.new_cluster is not None else ""
    print(
        f"night {number}: p = {found.p_value:.2g}{note}; clusters {model.cluster_numbers_.tolist()}"
    )

# %%
# The bars show how many rows of each night are unlike all earlier rows. On the sixth night these
# are a quarter of the rows. From the seventh night on, the model knows the new kind. But the
# p-value stays small, because the new kind is more frequent now than in all earlier nights
# together. A smaller ``decay`` forgets earlier nights faster.

figure = plt.figure(figsize=(10, 5), layout="constrained")
above, below = figure.subfigures(2, 1)
axes = above.subplots(1, 4, sharex=True, sharey=True)
for ax, number in zip(axes, (1, 5, 6, 10), strict=True):
    _, _, _, rows, labels = told[number - 1]
    ax.scatter(*rows.T, s=3, c=np.array(["#0072B2", "#D55E00", "#009E73", "#CC79A7"])[labels])
    ax.set(title=f"night {number}", xticks=[], yticks=[])
ax = below.subplots()
ax.bar([t[0] for t in told], [100 * t[2] for t in told], color="0.6")
for number, p_value, share, *_ in told:
    ax.text(number, 100 * share + 0.5, f"p = {p_value:.1g}", ha="center", fontsize=8)
ax.set(xlabel="night", ylabel="rows unlike earlier rows, %", xticks=range(1, 11), ylim=(0, 32))
plt.show()
