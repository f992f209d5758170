"""What clustering methods offer beside labels of the rows they are fitted on: each claim is tried.

Every method gets the number of clusters where it takes one, and otherwise its defaults; but
``SpectralClustering`` gets its graph of neighbours, for its default bandwidth fits no such data (on
digits it did not end within ten minutes). HDBSCAN is the package of that name, which
can label new rows (scikit-learn's cannot).

    pip install hdbscan
    python -m benchmarks.peers            # half a minute; fills the table of the README
    python -m benchmarks.peers --quick    # prints it only
"""

from __future__ import annotations

import json
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans, SpectralClustering
from sklearn.datasets import load_digits, make_moons

from benchmarks import RESULTS
from benchmarks.data import ari
from benchmarks.harness.markdown import table
from benchmarks.harness.options import parser
from benchmarks.harness.page import update_page, write_text
from eigencut import GPOD, load

README = Path(__file__).parents[1] / "README.md"
STORED = RESULTS / "peers.json"
SEED = 7100

NO = "no"
MOONS, MOON = make_moons(2000, noise=0.1, random_state=SEED)
NEW, NEW_MOON = make_moons(1000, noise=0.1, random_state=SEED + 1)
DIGITS, DIGIT = load_digits(return_X_y=True)


class HDBSCAN:
    """The package's class and its function for new rows, behind one interface."""

    def __init__(self, n_clusters: int) -> None:
        self._package = import_module("hdbscan")
        self._model = self._package.HDBSCAN(prediction_data=True)

    def fit(self, X: Any) -> HDBSCAN:
        self._model.fit(X)
        self.labels_ = self._model.labels_
        return self

    def predict(self, X: Any) -> Any:
        return self._package.approximate_predict(self._model, X)[0]

    def predict_proba(self, X: Any) -> Any:
        return self._package.membership_vector(self._model, np.ascontiguousarray(X))


METHODS: dict[str, Callable[[int], Any]] = {
    "eigencut": GPOD,
    "SpectralClustering": lambda K: SpectralClustering(
        K, affinity="nearest_neighbors", random_state=0
    ),
    "HDBSCAN": HDBSCAN,
    "KMeans": lambda K: KMeans(K, random_state=0),
}


def percent(is_true: Any) -> str:
    share = 100 * np.mean(is_true)
    return "100 %" if share == 100 else f"{share:.1f} %"


def labels_of_moons(make: Callable[[int], Any]) -> str:
    return f"{ari(MOON, make(2).fit(MOONS).labels_):.2f}"


def labels_of_digits(make: Callable[[int], Any]) -> str:
    return f"{ari(DIGIT, make(10).fit(DIGITS).labels_):.2f}"


def new_rows(make: Callable[[int], Any]) -> str:
    model = make(2).fit(MOONS)
    return f"{ari(NEW_MOON, model.predict(NEW)):.2f}" if hasattr(model, "predict") else NO


def as_fitted(make: Callable[[int], Any]) -> str:
    model = make(10).fit(DIGITS)
    return percent(model.predict(DIGITS) == model.labels_) if hasattr(model, "predict") else NO


def every_row(make: Callable[[int], Any]) -> str:
    return percent(make(10).fit(DIGITS).labels_ >= 0)


def soft_labels(make: Callable[[int], Any]) -> str:
    model = make(2).fit(MOONS)
    if not hasattr(model, "predict_proba"):
        return NO
    return percent(model.predict_proba(NEW).argmax(axis=1) == model.predict(NEW))


def weights(make: Callable[[int], Any]) -> str:
    return "yes" if "sample_weight" in signature(make(2).fit).parameters else NO


def updates(make: Callable[[int], Any]) -> str:
    return "yes" if hasattr(make(2), "update") else NO


def files(make: Callable[[int], Any]) -> str:
    model = make(2).fit(MOONS)
    if not hasattr(model, "save"):
        return "pickle"
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        same = (load(path).predict(NEW) == model.predict(NEW)).all()
        return f"yes, {path.stat().st_size / 1000:.0f} kB" if same else NO


CLAIMS: dict[str, Callable[[Callable[[int], Any]], str]] = {
    "two moons, rows of the fit: ARI": labels_of_moons,
    "two moons, new rows: ARI": new_rows,
    "digits: ARI": labels_of_digits,
    "digits: rows that are in a cluster": every_row,
    "digits: rows for which `predict` equals `labels_`": as_fitted,
    "two moons, new rows: the likeliest cluster is that of `predict`": soft_labels,
    "`fit` takes weights of rows": weights,
    "`update` adds rows and keeps cluster numbers": updates,
    "two moons: a model file that runs no code": files,
}


def measure() -> dict[str, dict[str, str]]:
    found = {}
    for claim, tried in CLAIMS.items():
        started = time.perf_counter()
        found[claim] = {name: tried(make) for name, make in METHODS.items()}
        print(f"{claim} {found[claim]} {time.perf_counter() - started:.1f} s", flush=True)
    return found


def peers_table(results: dict[str, dict[str, str]]) -> str:
    rows = ([claim, *(line[name] for name in METHODS)] for claim, line in results.items())
    return table(["", *METHODS], rows)


def main() -> None:
    options = parser(
        __doc__,
        "benchmarks.peers",
        quick="prints the table; the README is left alone",
        out=f"where the JSON goes (benchmarks/results/{STORED.name}; nowhere if --quick)",
    )
    asked = options.parse_args()
    warnings.simplefilter("ignore")
    results = measure()
    print(peers_table(results))
    if asked.out or not asked.quick:
        write_text(asked.out or STORED, json.dumps(results, indent=1) + "\n")
    if not asked.quick and asked.out is None:
        update_page(README, {"peers": peers_table(results)})


if __name__ == "__main__":
    main()
