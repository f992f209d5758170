"""
A photograph in pieces
======================

68 000 pixels are segmented in a second through **landmarks**. Spectral clustering keeps what
changes gradually in one piece, as water and the hills behind it; k-means divides by brightness,
and mixes leaves with walls; SLIC makes connected tiles of similar size. None of them knows what a
pagoda is.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image

from eigencut import GPOD, Landmarks

image = load_sample_image("china.jpg")[::2, ::2] / 255.0
height, width, _ = image.shape

# %%
# A pixel is five numbers: its colour and, a little, its place.

down, right = np.mgrid[:height, :width] / width
pixels = np.column_stack([image.reshape(-1, 3), 0.5 * down.ravel(), 0.5 * right.ravel()])
K = 8
start = time.process_time()
model = GPOD(K, affinity=Landmarks(400)).fit(pixels)
took = time.process_time() - start
print(f"{len(pixels)} pixels, {took:.1f} s of one processor")

pieces = {
    f"eigencut, {K} clusters": model.labels_,
    f"k-means, {K} clusters": KMeans(K, n_init=3, random_state=0).fit_predict(pixels),
}
try:
    from skimage.segmentation import slic

    pieces["SLIC, about 40 segments"] = slic(image, n_segments=40, start_label=0).ravel()
except ImportError:
    print("pip install scikit-image, to see SLIC beside")

# %%
# Each piece in its mean colour.


def mean_colours(labels):
    shown = np.zeros((len(labels), 3))
    for k in np.unique(labels):
        shown[labels == k] = image.reshape(-1, 3)[labels == k].mean(axis=0)
    return shown.reshape(image.shape)


figure, axes = plt.subplots(2, 2, figsize=(10, 7), layout="constrained")
axes[0, 0].imshow(image)
axes[0, 0].set_title("the photograph")
for ax, (name, labels) in zip(axes.flat[1:], pieces.items(), strict=False):
    ax.imshow(mean_colours(labels))
    ax.set_title(name)
for ax in axes.flat:
    ax.axis("off")
plt.show()

# %%
# The model is of pixels, not of this photograph: it labels another one.

flower = load_sample_image("flower.jpg")[::2, ::2] / 255.0
down, right = np.mgrid[: flower.shape[0], : flower.shape[1]] / width
others = np.column_stack([flower.reshape(-1, 3), 0.5 * down.ravel(), 0.5 * right.ravel()])
without = model.score_samples(others) < np.quantile(model.score_samples(pixels), 0.01)
print(f"{without.mean():.0%} of the flower's pixels are unlike any of China's")
