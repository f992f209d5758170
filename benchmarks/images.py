"""Photographs of scikit-image: our cuts beside ncut-pytorch.

``python -m benchmarks.images``, where scikit-image is installed. A table of studies/partners.md is
made of what it stores: of pixels by their features, beside ncut-pytorch. Where that is not
installed (it needs torch), what was measured of it before is kept. Seconds are of the processor.
"""

from __future__ import annotations

import json
import random
import time
import warnings
from collections.abc import Callable
from functools import partial
from importlib import import_module
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

import eigencut
from benchmarks.harness.markdown import table
from benchmarks.harness.memory import peaks_of
from benchmarks.harness.study import Results, Study
from eigencut._utils.arrays import Array

FEATURED = ("coffee", "astronaut")
_PARTS = (5, 10)


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
        how: dict[str, Any] = dict(shape=shape, scale=0, position=0)
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


def tables(results: Results) -> dict[str, str]:
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
    return {"pixels": table(of_pixels, pixels)}


STUDY = Study("images", "seeds", 3, measure, tables, page_name="partners")

if __name__ == "__main__":
    STUDY.run(__doc__)
