"""Region graphs of scikit-image's bundled photographs: our normalized cut beside its own.

``python -m benchmarks.images``, where scikit-image is installed. Seconds are of the processor. NCut
is the mean over parts of cut / volume; scikit-image's figures are the range over seeds.
"""

from __future__ import annotations

import time
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import eigencut
from eigencut.runtime.arrays import Array

_PHOTOS = ("coffee", "astronaut", "chelsea")
_SIZES = (100, 400, 800)
_SEEDS = range(3)


def mean_ncut(rag: Any, labels: Array, parts: Array) -> float:
    """The mean over parts of what leaves a part, relative to its volume."""
    part_of_label = dict(zip(labels.ravel().tolist(), parts.ravel().tolist(), strict=True))
    of_node = {node: part_of_label[rag.nodes[node]["labels"][0]] for node in rag}
    names = sorted(set(of_node.values()))
    cut, volume = dict.fromkeys(names, 0.0), dict.fromkeys(names, 0.0)
    for part in of_node.values():
        volume[part] += 1.0  # of a region to itself
    for a, b, weight in rag.edges(data="weight"):
        for part in (of_node[a], of_node[b]):
            volume[part] += weight
            cut[part] += weight if of_node[a] != of_node[b] else 0.0
    return float(np.mean([cut[part] / volume[part] for part in names]))


def measured(cut: Any, labels: Array, rag: Any, seed: int | None) -> tuple[float, Array]:
    """Seconds of the processor, and the parts."""
    start = time.process_time()
    parts = cut(labels, rag, in_place=False, rng=seed)
    return time.process_time() - start, parts


def span(values: list[Any], form: str) -> str:
    """One value, or the least and the largest."""
    texts = [format(value, form) for value in (min(values), max(values))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def main() -> None:
    data, graph = import_module("skimage.data"), import_module("skimage.graph")
    slic = import_module("skimage.segmentation").slic
    for name in _PHOTOS:
        image = getattr(data, name)()
        for n_segments in _SIZES:
            labels = slic(image, n_segments=n_segments, compactness=30, start_label=0)
            rag = graph.rag_mean_color(image, labels, mode="similarity")
            seconds, ours = measured(eigencut.image.cut_normalized, labels, rag, None)
            runs = [measured(graph.cut_normalized, labels, rag, seed) for seed in _SEEDS]
            theirs = [parts for _, parts in runs]
            alike = [adjusted_rand_score(ours.ravel(), parts.ravel()) for parts in theirs]
            cells = [
                name,
                len(np.unique(labels)),
                f"{seconds:.2f}",
                span([took for took, _ in runs], ".2f"),
                len(np.unique(ours)),
                span([len(np.unique(parts)) for parts in theirs], "d"),
                f"{mean_ncut(rag, labels, ours):.2g}",
                span([mean_ncut(rag, labels, parts) for parts in theirs], ".2g"),
                span(alike, ".3f"),
            ]
            print(f"| {' | '.join(map(str, cells))} |", flush=True)


if __name__ == "__main__":
    main()
