"""
Every picture of a model
========================

``eigencut.plotting`` draws clusters, eigenvalues, margins, similarities and more. You make each
display by ``from_estimator``, as in scikit-learn, and find the result in ``ax_`` and ``figure_``.
All plots on this page show one model of handwritten digits.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits

from eigencut import GPOD
from eigencut.plotting import (
    ClusterDisplay,
    CutValueDisplay,
    EmbeddingDisplay,
    HierarchyDisplay,
    MarginDisplay,
    SimilarityDisplay,
    SpectrumDisplay,
)

images = load_digits().data
X, X_new = images[:1400], images[1400:]
model = GPOD(10, solver="relaxed").fit(X)  # which has eigenvalues

# %%
# Clusters in a plane: 64 columns are projected, and the picture says how.

ClusterDisplay.from_estimator(model, X, X_new=X_new)
plt.show()

# %%
# Eigenvalues, and the gap behind the tenth.

SpectrumDisplay.from_estimator(model)
plt.show()

# %%
# Two eigenfunctions, and the axes that the rotation found.

EmbeddingDisplay.from_estimator(model, X)
plt.show()

# %%
# How sure the labels of new rows are.

MarginDisplay.from_estimator(model, X_new)
plt.show()

# %%
# What the clusters cost, on training rows and on rows left out.

CutValueDisplay.from_estimator(model, X_new)
plt.show()

# %%
# Similarities, sorted by cluster: blocks are clusters, and what lies beside them joins two.

SimilarityDisplay.from_estimator(model, X)
plt.show()

# %%
# Which clusters are one group in coarser cuts.

HierarchyDisplay.from_estimator(model)
plt.show()
