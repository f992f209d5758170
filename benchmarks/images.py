"""Photographs of scikit-image: our cuts beside its own, and beside ncut-pytorch.

``python -m benchmarks.images``, where scikit-image is installed. Two tables of studies/partners.md
are made of what it stores: of region graphs, beside ``skimage.graph.cut_normalized``; and of
pixels by their features, beside ncut-pytorch. Where that is not installed (it needs torch), what
was measured of it before is kept.

Seconds are of the processor. NCut is the mean over parts of cut / volume; scikit-image's figures
are of several seeds.
"""

from __future__ import annotations

import json
import random
import time
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy.sparse.linalg import ArpackError
from sklearn.metrics import adjusted_rand_score

import eigencut
from benchmarks.harness.markdown import table
from benchmarks.harness.memory import peaks_of
from benchmarks.harness.study import Results, Study
from eigencut._utils.arrays import Array

PHOTOS = ("coffee", "astronaut", "chelsea")
FEATURED = ("coffee", "astronaut")
_SIZES = (100, 400, 800)
_PARTS = (5, 10)


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


def of_region_graphs(n_seeds: int, quick: bool) -> list[dict[str, Any]]:
    data, graph = import_module("skimage.data"), import_module("skimage.graph")
    slic = import_module("skimage.segmentation").slic
    lines = []
    for name in PHOTOS:
        image = getattr(data, name)()
        for n_segments in _SIZES[: 1 if quick else None]:
            labels = slic(image, n_segments=n_segments, compactness=30, start_label=0)
            rag = graph.rag_mean_color(image, labels, mode="similarity")
            seconds, ours = measured(eigencut.image.cut_normalized, labels, rag, None)
            runs = []
            for seed in range(n_seeds):
                with suppress(ArpackError):  # it gives up on some seeds
                    runs.append(measured(graph.cut_normalized, labels, rag, seed))
            found = {"photograph": name, "regions": len(np.unique(labels))}
            found |= {"their seeds": n_seeds, "their failures": n_seeds - len(runs)}
            found |= {"seconds": seconds, "their seconds": [took for took, _ in runs]}
            found |= {"parts": len(np.unique(ours))}
            found |= {"their parts": [len(np.unique(parts)) for _, parts in runs]}
            found |= {"ncut": mean_ncut(rag, labels, ours)}
            found |= {"their ncut": [mean_ncut(rag, labels, parts) for _, parts in runs]}
            alike = [adjusted_rand_score(ours.ravel(), parts.ravel()) for _, parts in runs]
            lines.append(found | {"alike": [float(value) for value in alike]})
    return lines


def features_of(name: str) -> tuple[Array, tuple[int, int]]:
    """Brightness, edges and texture of every channel at four scales, standardized."""
    image = getattr(import_module("skimage.data"), name)()
    make = import_module("skimage.feature").multiscale_basic_features
    found = make(image, channel_axis=-1, sigma_min=1, sigma_max=8)
    rows = found.reshape(-1, found.shape[2])
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    return rows.astype(np.float32), image.shape[:2]


def repeated(run: Callable[[int], Any], n_seeds: int) -> tuple[list[Any], float, float | None]:
    """What each seed gives, the median of the seconds, and the peak of memory with the first."""
    took: list[float] = []
    found: list[Any] = []

    def once(seed: int = 0) -> None:
        start = time.process_time()
        found.append(run(seed))
        took.append(time.process_time() - start)

    peak = peaks_of(once).get("memory_mb")
    for seed in range(1, n_seeds):
        once(seed)
    return found, float(np.median(took)), peak


def of_features(n_seeds: int, quick: bool) -> list[dict[str, Any]]:
    """Pixels by their features, which both take as they are; and how alike seeds are."""
    torch, ncut = import_module("torch"), import_module("ncut_pytorch")
    torch.set_num_threads(1)

    def ours(rows: Array, shape: tuple[int, int], K: int, seed: int) -> Any:
        how: dict[str, Any] = dict(shape=shape, channels="features", scale=0, position=0)
        return np.ravel(eigencut.image.segment(rows, K, random_state=seed, **how))

    def theirs(rows: Array, shape: tuple[int, int], K: int, seed: int) -> Any:
        for set_seed in (torch.manual_seed, np.random.seed, random.seed):
            set_seed(seed)  # torch's alone does not make it the same again
        vectors = ncut.Ncut(n_eig=K).fit_transform(torch.from_numpy(rows))
        return np.asarray(ncut.kway_ncut(vectors).argmax(1))

    ways: dict[str, Callable[..., Any]] = {"eigencut": ours, "ncut-pytorch": theirs}
    few = features_of(FEATURED[0])[0][:2000]
    for way in ways.values():
        way(few, (40, 50), 3, 0)  # what is loaded lazily is loaded
    lines = []
    for name in FEATURED[: 1 if quick else None]:
        rows, shape = features_of(name)
        for K in _PARTS[: 1 if quick else None]:
            first: dict[str, Any] = {}
            for method, way in ways.items():
                runs, took, peak = repeated(partial(way, rows, shape, K), n_seeds)
                seeds = [adjusted_rand_score(runs[0], other) for other in runs[1:]]
                first[method] = runs[0]
                line = {"photograph": name, "pixels": len(rows), "channels": rows.shape[1]}
                line |= {"K": K, "method": method, "seconds": took}
                line |= {"memory_mb": peak, "seeds alike": [float(value) for value in seeds]}
                line["alike"] = float(adjusted_rand_score(first["eigencut"], runs[0]))
                lines.append(line)
    return lines


def measure(n_seeds: int, quick: bool) -> Results:
    warnings.simplefilter("ignore")
    found: Results = {"versions": {"scikit-image": version("scikit-image")}}
    found["region graphs"] = of_region_graphs(n_seeds, quick)
    if find_spec("ncut_pytorch") is not None:
        found["features"] = of_features(n_seeds, quick)
        found["versions"] |= {name: version(name) for name in ("ncut-pytorch", "torch")}
        return found
    print("ncut-pytorch is not installed: its table stays as it was measured before.")
    kept = json.loads(STUDY.stored.read_text(encoding="utf-8"))
    found["features"] = kept["features"]
    found["versions"] = kept["versions"] | found["versions"]
    return found


def span(values: list[Any], form: str) -> str:
    """One value, or the least and the largest."""
    if not values:
        return "-"
    texts = [format(value, form) for value in (min(values), max(values))]
    return texts[0] if texts[0] == texts[1] else " to ".join(texts)


def failed(line: dict[str, Any]) -> str:
    """With how many seeds scikit-image finds nothing, for ARPACK raises an error."""
    count = line["their failures"]
    return f", {count} of {line['their seeds']} failed" if count else ""


def tables(results: Results) -> dict[str, str]:
    theirs = "scikit-image"
    head = ["photograph", "regions", "processor seconds", theirs, "parts", theirs, "NCut", theirs]
    graphs = [
        [
            line["photograph"],
            str(line["regions"]),
            f"{line['seconds']:.2f}",
            span(line["their seconds"], ".2f"),
            str(line["parts"]),
            span(line["their parts"], "d") + failed(line),
            f"{line['ncut']:.2g}",
            span(line["their ncut"], ".2g"),
            span(line["alike"], ".3f"),
        ]
        for line in results["region graphs"]
    ]
    of_pixels = ["photograph", "pixels", "channels", "parts", "method", "processor seconds"]
    of_pixels += ["memory, MB", "alike over seeds", "alike with ours"]
    pixels = [
        [
            line["photograph"],
            str(line["pixels"]),
            str(line["channels"]),
            str(line["K"]),
            line["method"],
            f"{line['seconds']:.1f}",
            "-" if line["memory_mb"] is None else f"{line['memory_mb']:.0f}",
            span(line["seeds alike"], ".3f"),
            "" if line["method"] == "eigencut" else f"{line['alike']:.3f}",
        ]
        for line in results["features"]
    ]
    return {"region graphs": table([*head, "alike"], graphs), "pixels": table(of_pixels, pixels)}


STUDY = Study("images", "seeds", 3, measure, tables, page_name="partners")

if __name__ == "__main__":
    STUDY.run(__doc__)
