"""The five tables of docs/accuracy.md, and the README's table of speed, from the stored results.

    OMP_NUM_THREADS=1 python -m benchmarks.accuracy        # seconds; nothing but real K is measured

Every other figure is read from ``benchmarks/results``; the page names the command that measures it.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.preprocessing import StandardScaler

from benchmarks import RESULTS, ROOT
from benchmarks.data import ari
from benchmarks.harness.markdown import table
from benchmarks.harness.page import update_page, write_text
from eigencut import GPOD

PAGE = ROOT / "docs" / "accuracy.md"
README = ROOT / "README.md"
REAL = {
    "iris": load_iris,
    "wine": load_wine,
    "breast cancer": load_breast_cancer,
    "digits": load_digits,
}
PEERS = {
    "eigencut": "eigencut",
    "k-means": "k-means",
    "mixture": "Gaussian mixture",
    "sklearn kNN": "scikit-learn spectral",
    "genieclust": "Genie",
    "lumbermark": "Lumbermark",
    "umap": "UMAP + k-means",
}
SUITES = {
    "shapes": "shapes in the plane and in space",
    "tables": "real tables",
    "texts": "texts, as embeddings",
}
SIZES = {"moons .08": "moons", "overlapping blobs": "blobs in the plane", "blobs d = 16": "blobs"}


def stored(name: str) -> Any:
    return json.loads((RESULTS / f"{name}.json").read_text(encoding="utf-8"))


def measure_real() -> dict[str, dict[str, float]]:
    """K that ``"auto"`` finds on real data, and the ARI of it and of the true K."""
    found = {}
    for name, load in REAL.items():
        X, y = load(return_X_y=True)
        X = X if name == "digits" else StandardScaler().fit_transform(X)
        K = len(np.unique(y))
        auto, given = GPOD("auto").fit(X), GPOD(K).fit(X)
        scores = {"ARI": ari(y, auto.labels_), "ARI of the true K": ari(y, given.labels_)}
        found[name] = {"K": K, "found": auto.n_clusters_, **scores}
    return found


def quality_table(results: dict[str, Any]) -> str:
    """Mean ARI of each method on each public suite."""
    rows = [
        [f"{title} ({len(results[suite]['eigencut']['ari'])} sets)"]
        + [mean(results[suite][peer]["ari"].values()) for peer in PEERS]
        for suite, title in SUITES.items()
    ]
    return table(["mean ARI", *PEERS.values()], rows)


def number_table(generated: dict[str, Any], real: dict[str, Any]) -> str:
    """How often K is found, and what it costs where it is not."""
    rows = []
    for title, wanted in (("kinds used for tuning", False), ("other kinds", True)):
        found = [
            line
            for name, of in generated["known"].items()
            if name.endswith(", held out") == wanted
            for line in of["found"]
        ]
        right = sum(truth == K for K, truth, _ in found)
        rows.append([f"generated, {title}", "2 to 30", f"right in {right} of {len(found)}"])
        rows[-1] += [mean(score for _, _, score in found), ""]
    one = [K for of in generated["one"].values() for K in of["found"]]
    rows.append(["generated, one cluster", "1", f"right in {one.count(1)} of {len(one)}", "", ""])
    for name, of in real.items():
        scores = [f"{of['ARI']:.2f}", f"{of['ARI of the true K']:.2f}"]
        rows.append([name, f"{of['K']}", f"{of['found']}", *scores])
    head = ["data", "true K", 'K that `"auto"` finds', 'ARI with `"auto"`', "ARI with K given"]
    return table(head, rows)


def words_table(mixed: dict[str, Any], texts: dict[str, Any]) -> str:
    """Tables with words, and texts, beside k-means and the best other method."""
    rows = []
    titles = {
        "chosen on": "generated tables with words, used for tuning",
        "held out": "other generated tables with words",
        "real": "real tables with words",
    }
    for group, title in titles.items():
        sets = list(mixed["methods"][group].values())
        means = {name: np.mean([of[name]["ari"] for of in sets]) for name in sets[0]}
        ours, theirs = means.pop("eigencut"), means.pop("k-means, one-hot")
        best = max(means, key=lambda name: means[name])
        first = f"{title} ({len(sets)} sets)"
        rows.append([first, f"{ours:.2f}", f"{theirs:.2f}", f"{means[best]:.2f} ({best})"])
    for name in ("WordNet glosses", "docstrings", "ICD-10 diagnoses"):
        of = texts["samples"][name]["methods"]
        umap = of["UMAP + HDBSCAN or KMeans, best of 4"]["ari"]
        scores = [f"{of['GPOD']['ari']:.2f}", f"{of['KMeans']['ari']:.2f}", f"{umap:.2f} (UMAP)"]
        rows.append([f"texts: {name}", *scores])
    return table(["mean ARI", "eigencut", "k-means", "best of the other methods"], rows)


def sure_table(results: dict[str, Any]) -> str:
    """Probabilities, and how often refits agree with the label."""
    rows = [
        [name, f"{of['n_training']:,}", f"{of['said']:.2f}", f"{of['agreed']:.2f}"]
        for name, of in results["sets"].items()
    ]
    head = ["data", "training rows", "mean probability", "share of labels that refits repeat"]
    return table(head, rows)


def speed_table(results: list[dict[str, Any]], rows: Iterable[int]) -> str:
    """The default beside scikit-learn's spectral clustering of neighbours."""
    asked = set(rows)
    lines = [
        [
            f"{SIZES.get(of['set'], of['set'])}, {of['rows']:,} rows",
            f"{of['eigencut ms'] / 1000:.2f} s",
            f"{of['scikit-learn ms'] / 1000:.2f} s",
            f"{of['eigencut ARI']:.2f}",
            f"{of['scikit-learn ARI']:.2f}",
        ]
        for of in results
        if of["rows"] in asked
    ]
    head = ["data", "eigencut: time", "scikit-learn: time", "eigencut: ARI", "scikit-learn: ARI"]
    return table(head, lines)


def mean(scores: Iterable[float]) -> str:
    return f"{np.mean(list(scores)):.2f}"


def page_tables() -> dict[str, str]:
    speed = stored("default_speed")
    return {
        "quality": quality_table(stored("suites")),
        "number": number_table(stored("automatic_k"), stored("real_k")),
        "words": words_table(stored("mixed_tables"), stored("embeddings")),
        "probabilities": sure_table(stored("probabilities")),
        "default speed": speed_table(speed, rows=[500, 1797, 2000, 10_000]),
    }


def readme_tables() -> dict[str, str]:
    speed = speed_table(stored("default_speed"), rows=[1797, 10_000])
    return {"default speed": speed}


def main() -> None:
    warnings.simplefilter("ignore")
    write_text(RESULTS / "real_k.json", json.dumps(measure_real(), indent=1) + "\n")
    update_page(PAGE, page_tables())
    update_page(README, readme_tables())


if __name__ == "__main__":
    main()
