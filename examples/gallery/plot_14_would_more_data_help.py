"""
Would more data help?
=====================

``learning_curve`` fits models on growing samples, and measures how much worse they are than a model
of all rows (the excess risk). Here twice as many rows would lower the risk by less than one
percent, so you need no more rows.
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
# Each dot is a fit on a sample, and the solid line is fitted to the dots. The dashed line has the
# slope -1/2 of the bounds in the paper. The measured excess risk falls faster.

LearningCurveDisplay.from_curve(curve)
plt.show()
