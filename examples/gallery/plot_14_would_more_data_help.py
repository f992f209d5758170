"""
Would more data help?
=====================

``learning_curve`` fits models on growing samples, and measures how much worse their clusters are
than those of all rows. Here twice as many rows would improve the cut by a fraction of a percent, so
you need no more rows.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from eigencut import GPOD, Gaussian
from eigencut.plotting import LearningCurveDisplay
from eigencut.theory import learning_curve

X, _ = make_moons(1200, noise=0.1, random_state=0)
model = GPOD(2, affinity=Gaussian(sigma=0.4)).fit(X)
curve = learning_curve(model, X, sizes=[60, 100, 160, 250, 400], n_repeats=6)
print(curve)

# %%
# Each dot is a fit; the line is fitted to their logarithms. The theory promises a slope of -1/2
# at least; near the best functions it is -1.

LearningCurveDisplay.from_curve(curve)
plt.show()
