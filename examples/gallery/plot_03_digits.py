"""
Handwritten digits
==================

``GPOD`` finds ten clusters of images without any label. Eight of them are nearly one digit each,
but most ones share a cluster with the eights. The model labels new images as well as the training
images. Images that it is unsure of are hard for people, too.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import train_test_split

from eigencut import GPOD

images, digits = load_digits(return_X_y=True)
X, X_new, y, y_new = train_test_split(images, digits, test_size=500, random_state=0)
model = GPOD(10).fit(X)
print(f"ARI on {len(X)} training images: {adjusted_rand_score(y, model.labels_):.2f}")
print(f"ARI on {len(X_new)} new images:  {adjusted_rand_score(y_new, model.predict(X_new)):.2f}")

# %%
# Each line shows the images of one cluster with the largest margins, which means the clearest
# labels. On the left you see the most frequent digit of the cluster, and how many of its images
# show this digit.

margins = model.predict_margin(X)
figure, axes = plt.subplots(10, 9, figsize=(7, 8))
for k, line in enumerate(axes):
    members = np.flatnonzero(model.labels_ == k)
    counts = np.bincount(y[members], minlength=10)
    typical = members[np.argsort(-margins[members])[:8]]
    line[0].text(
        1, 0.5, f"{counts.argmax()}: {counts.max()} of {counts.sum()}", ha="right", va="center"
    )
    for ax, row in zip(line[1:], typical, strict=True):
        ax.imshow(X[row].reshape(8, 8), cmap="gray_r")
    for ax in line:
        ax.axis("off")
figure.suptitle("The clearest images of each cluster")
plt.show()

# %%
# These are the new images that the model is least sure of. Above each image you see the most
# frequent digits of the two most probable clusters, with the probabilities.

names = [np.bincount(y[model.labels_ == k], minlength=10).argmax() for k in range(10)]
p = model.predict_proba(X_new)
unsure = np.argsort(p.max(axis=1))[:10]
figure, axes = plt.subplots(2, 5, figsize=(8, 4), layout="constrained")
for ax, row in zip(axes.flat, unsure, strict=True):
    first, second = np.argsort(-p[row])[:2]
    ax.imshow(X_new[row].reshape(8, 8), cmap="gray_r")
    ax.set_title(
        f"{names[first]} {p[row, first]:.0%}, {names[second]} {p[row, second]:.0%}", fontsize=9
    )
    ax.set_xlabel(f"truly {y_new[row]}", fontsize=8)
    ax.set(xticks=[], yticks=[])
plt.show()
