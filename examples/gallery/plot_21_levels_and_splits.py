"""
Several levels of one fit
=========================

A fit with ten clusters of digits also gives coarser levels, whose groups consist of whole clusters.
``SplitDisplay`` draws how groups split into clusters. It can also draw any other labellings of the
same rows.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from eigencut import GPOD
from eigencut.plotting import SplitDisplay

X, digit = load_digits(return_X_y=True)
model = GPOD(10).fit(X)
names = {}
for number in range(10):  # name each cluster by its most frequent digit
    name = f"mostly {np.bincount(digit[model.labels_ == number]).argmax()}"
    names[number] = name if name not in names.values() else f"{name}, too"
model.set_names(names)
SplitDisplay.from_estimator(model)
plt.show()

# %%
# Label rows at three levels: a line for each level, a column for each row.

levels = model.predict_levels(X[:8], (10, 4, 2))
print(levels)

# %%
# For comparison, five separate fits with two to six clusters. Their clusters need not be nested:
# with five clusters, two groups of rows join that were apart with four.

labellings = [GPOD(k).fit_predict(X) for k in range(2, 7)]
SplitDisplay.from_labels(labellings)
plt.show()
