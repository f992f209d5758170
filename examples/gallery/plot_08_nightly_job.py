"""
A nightly job: drift and update
===============================

New rows come in every night. ``drift`` tells you whether they resemble the earlier rows, and
``update`` adds them to the model. On the sixth night a new kind of rows appears. ``drift`` reports
it, and ``update`` makes it cluster 3. The other clusters keep their numbers.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from eigencut import GPOD, GraphWarning, Landmarks

warnings.simplefilter("ignore", GraphWarning)  # graphs in pieces: clusters are far apart here

rng = np.random.default_rng(0)
kinds = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 8.0]])


def night(number, n=600):
    known = kinds + np.array([0.08 * number, 0.0])  # all of them move a little to the right
    if number >= 6:
        known = np.vstack([known, [[14.0, 10.0]]])
    return known[rng.integers(len(known), size=n)] + rng.normal(size=(n, 2))


model = GPOD("auto", affinity=Landmarks(100)).fit(night(0, 4000))
told = []
for number in range(1, 11):
    rows = night(number)
    found = model.drift(rows)  # changes nothing
    model.update(rows, decay=0.9)  # what is older counts less
    told.append((number, found.p_value, found.without_support.now, rows, model.labels_))
    note = ", a new cluster" if found.new_cluster is not None else ""
    print(
        f"night {number}: p = {found.p_value:.2g}{note}; clusters {model.cluster_numbers_.tolist()}"
    )

# %%
# On the sixth night a quarter of the rows have no support: the alarm. The night after, the model
# knows them. Shares of clusters go on to differ, since the model remembers earlier nights, and so
# the p-value stays small for a while; ``decay`` says how fast it forgets. On the ninth night
# ``drift`` suspects one more cluster, a few rows at the edge of the young one. That is a false
# alarm, and ``update`` ignores it. So look at a suspicion before you act on it.

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
ax.set(xlabel="night", ylabel="rows without support, %", xticks=range(1, 11), ylim=(0, 32))
plt.show()
