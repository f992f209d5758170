"""
Customers in a mixed table
==========================

This table has numbers, words, ordered words, dates and missing values. ``TableModel`` recognizes
what each column holds, and finds the three kinds of customers that we generated. ``describe`` shows
what distinguishes the clusters.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, TableModel

# %%
# 900 generated customers of three kinds; the kind is not in the table.

rng = np.random.default_rng(0)
kind = rng.permutation(np.repeat([0, 1, 2], 300))
spends = np.array([20.0, 80.0, 250.0])[kind] * rng.lognormal(0, 0.25, 900)
age = np.clip(np.array([27.0, 48.0, 61.0])[kind] + rng.normal(0, 6, 900), 18, None)
lives = np.where(rng.random(900) < 0.75, kind, rng.integers(3, size=900))
moved = np.clip(kind + rng.integers(-1, 2, 900), 0, 2)
bought = np.where(rng.random(900) < 0.85, kind, moved)
days = (kind * 600 + rng.exponential(200, 900)).astype(int)
customers = pd.DataFrame(
    {
        "spends": spends.round(2),
        "age": age.round(),
        "town": np.array(["Rome", "Oslo", "Bonn"])[lives],
        "plan": np.array(["small", "medium", "large"])[bought],
        "joined": pd.Timestamp("2024-01-01") - pd.to_timedelta(days, unit="D"),
    }
)
customers.loc[rng.random(900) < 0.05, "age"] = np.nan
print(customers.head())

# %%
# ``TableModel`` cannot know the order of the plans, so give it. Also choose what to do with missing
# values: here the median replaces them.

model = TableModel(GPOD(3), columns={"plan": ["small", "medium", "large"]}, missing="median").fit(
    customers
)
print(model.summary())
print(f"ARI (agreement with the true kinds): {adjusted_rand_score(kind, model.labels_):.2f}")

# %%
# What distinguishes each cluster, and a typical customer:

print(model.describe(customers, n_columns=3, n_typical=1))

# %%
# Left: each colour is a cluster. Right: each cluster lives mainly in one town.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
colours = np.array(["#0072B2", "#D55E00", "#009E73"])[model.labels_]
axes[0].scatter(customers["age"], customers["spends"], s=12, c=colours)
axes[0].set(xlabel="age", ylabel="spends", yscale="log")
counts = pd.crosstab(model.labels_, customers["town"], normalize="index")
counts.plot.barh(stacked=True, ax=axes[1], color=["#56B4E9", "#E69F00", "#999999"])
axes[1].set(xlabel="share of the cluster", ylabel="cluster", xlim=(0, 1.35))
plt.show()
