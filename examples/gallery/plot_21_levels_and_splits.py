"""
Several levels of one fit
=========================

Ten clusters of digits, and groups of them: coarser levels are made of whole clusters by the cut
itself. ``HierarchyDisplay`` draws how groups split.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from eigencut import GPOD
from eigencut.plotting import HierarchyDisplay

X, digit = load_digits(return_X_y=True)
model = GPOD(10).fit(X)
names = {}
for number in range(10):  # called by the digit that most of its rows are
    name = f"mostly {np.bincount(digit[model.labels_ == number]).argmax()}"
    names[number] = name if name not in names.values() else f"{name}, too"
model.set_names(names)
HierarchyDisplay.from_estimator(model)
plt.show()

# %%
# New rows get labels of all levels.

levels = model.predict_levels(X[:8], (10, 4, 2))
print(levels)
