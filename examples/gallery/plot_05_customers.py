"""
Customers in a mixed table
==========================

This table has numbers, words, ordered words, dates and missing values. ``TableModel`` recognizes
what each column holds, and the three clusters are nearly the three kinds of customers that made the
table. ``describe`` tells you what the clusters are in words that a colleague understands.
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
# Only the order of the plans must be given; what to do about gaps is a choice. (With ``"auto"``
# there are five clusters: customers who changed their plan are two of them.)

model = TableModel(GPOD(3), columns={"plan": ["small", "medium", "large"]}, missing="median").fit(
    customers
)
print(model.summary())
print(
    f"ARI with the kinds that the table was made of: {adjusted_rand_score(kind, model.labels_):.2f}"
)

# %%
# What they are:

print(model.describe(customers, n_columns=3, n_typical=1))

# %%
# Colours are clusters; crosses are customers whose margin is below a half.

figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
torn = model.predict_margin(customers) < 0.5
colours = np.array(["#0072B2", "#D55E00", "#009E73"])[model.labels_]
axes[0].scatter(customers["age"], customers["spends"], s=12, c=colours)
axes[0].scatter(customers["age"][torn], customers["spends"][torn], marker="x", s=45, c="black")
axes[0].set(xlabel="age", ylabel="spends", yscale="log")
counts = pd.crosstab(model.labels_, customers["town"], normalize="index")
counts.plot.barh(stacked=True, ax=axes[1], color=["#56B4E9", "#E69F00", "#999999"])
axes[1].set(xlabel="share of the cluster", ylabel="cluster", xlim=(0, 1.35))
plt.show()
