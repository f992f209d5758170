"""
Seven pictures of a model
=========================

``eigencut.plotting`` draws clusters, eigenvalues, margins, similarities and more. As in
scikit-learn, ``from_estimator`` draws a plot, and you find the result in ``ax_`` and ``figure_``.
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
model = GPOD(10, solver="relaxed").fit(X)  # a relaxed cut, which has eigenvalues

# %%
# Clusters: the axes are the first two principal components of the 64 columns.

ClusterDisplay.from_estimator(model, X, X_new=X_new)
plt.show()

# %%
# Eigenvalues: the band marks the gap after the tenth.

SpectrumDisplay.from_estimator(model)
plt.show()

# %%
# Rows as points, in coordinates from eigenvectors. Each arrow is the direction of a cluster.

EmbeddingDisplay.from_estimator(model, X)
plt.show()

# %%
# Margins of new rows: 0 is between two clusters, and 1 is clear.

MarginDisplay.from_estimator(model, X_new)
plt.show()

# %%
# Cut values: which share of each cluster's similarity leads to other clusters, on training rows and
# on new rows.

CutValueDisplay.from_estimator(model, X_new)
plt.show()

# %%
# Similarities, with rows sorted by cluster. Each block on the diagonal is a cluster. Dots elsewhere
# are similar rows of different clusters.

SimilarityDisplay.from_estimator(model, X)
plt.show()

# %%
# Hierarchy: which clusters join into larger groups.

HierarchyDisplay.from_estimator(model)
plt.show()
