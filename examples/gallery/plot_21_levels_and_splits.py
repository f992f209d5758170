"""
Several levels of one fit
=========================

One fit of ten clusters of digits also gives coarser levels, whose groups consist of whole clusters.
``SplitDisplay`` draws how groups split. It can draw any labellings of the same rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from eigencut import GPOD
from eigencut.plotting import SplitDisplay

X, digit = load_digits(return_X_y=True)
model = GPOD(10).fit(X)
names = {}
for number in range(10):  # called by the digit that most of its rows are
    name = f"mostly {np.bincount(digit[model.labels_ == number]).argmax()}"
    names[number] = name if name not in names.values() else f"{name}, too"
model.set_names(names)
SplitDisplay.from_estimator(model)
plt.show()

# %%
# New rows get labels of all levels.

levels = model.predict_levels(X[:8], (10, 4, 2))
print(levels)

# %%
# Fits with two to six clusters are not nested: bands cross where rows change company.

labellings = [GPOD(k).fit_predict(X) for k in range(2, 7)]
SplitDisplay.from_labels(labellings)
plt.show()
