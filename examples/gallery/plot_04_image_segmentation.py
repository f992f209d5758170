"""
A photograph in segments
========================

``eigencut.image.segment`` divides a photograph of 273 000 pixels into segments in about two
seconds. It keeps areas that change gradually in one piece, such as the pagoda or the table.
k-means, on the same colours and places, divides these areas by brightness. SLIC makes connected
tiles of similar size.
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
    rows[:, 3:] /= 2  # the place counts half as much as the colour, as in segment
    return KMeans(K, n_init=1, random_state=0).fit_predict(rows).reshape(height, width)


# %%
# Each segment is shown in its mean colour.

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
# Without a number of segments, you often get only two or three: those that are clearly apart. With
# ``n_segments=800``, eigencut first makes about 800 small pieces, called superpixels, and joins
# them. This is faster, but borders are coarser.

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
