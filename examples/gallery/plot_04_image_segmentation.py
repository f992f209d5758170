"""
A photograph in pieces
======================

``eigencut.image.segment`` labels the 273 000 pixels of a photograph in two seconds, through
**landmarks**. Spectral clustering keeps areas that change gradually in one piece, such as the sky
or the table. k-means, on the same colours and places, divides by brightness, and SLIC makes
connected tiles of similar size.
"""

import time

import matplotlib.pyplot as plt
import numpy as np
from skimage import data
from skimage.color import label2rgb, rgb2lab
from skimage.segmentation import slic
from sklearn.cluster import KMeans
from sklearn.datasets import load_sample_image

import eigencut

photographs = {"china": load_sample_image("china.jpg"), "coffee": data.coffee()}
K = 8


def by_kmeans(image):
    height, width, _ = image.shape
    places = np.indices((height, width)).reshape(2, -1).T
    colours = rgb2lab(image).reshape(-1, 3)
    rows = np.column_stack([part / np.sqrt(part.var(axis=0).sum()) for part in (colours, places)])
    rows[:, 3:] /= 2  # place counts half, as above
    return KMeans(K, n_init=1, random_state=0).fit_predict(rows).reshape(height, width)


# %%
# Colour and, half as much, place. Each piece is shown in its mean colour.

figure, axes = plt.subplots(2, 4, figsize=(14, 5.4), layout="constrained")
for row, (name, image) in zip(axes, photographs.items(), strict=True):
    start = time.process_time()
    segments = eigencut.image.segment(image, K)
    print(f"{name}: {segments.size} pixels, {time.process_time() - start:.1f} s of one processor")
    pieces = {
        f"eigencut, {K} clusters": segments,
        f"k-means, {K} clusters": by_kmeans(image),
        "SLIC, about 40 segments": slic(image, n_segments=40, start_label=0),
    }
    row[0].imshow(image)
    row[0].set_title(name)
    for ax, (title, labels) in zip(row[1:], pieces.items(), strict=True):
        ax.imshow(label2rgb(labels, image, kind="avg", bg_label=-1))
        ax.set_title(title)
for ax in axes.flat:
    ax.axis("off")
plt.show()

# %%
# Without a number it finds what is clearly apart, often no more than two or three pieces.
# Superpixels first (``n_segments``) make borders smoother.

china = photographs["china"]
ways = {
    "n_clusters='auto'": eigencut.image.segment(china),
    "n_segments=800": eigencut.image.segment(china, K, n_segments=800),
}
figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
for ax, (title, labels) in zip(axes, ways.items(), strict=True):
    ax.imshow(label2rgb(labels, china, kind="avg", bg_label=-1))
    ax.set_title(title)
    ax.axis("off")
plt.show()
