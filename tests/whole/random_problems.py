"""Fits at random, over all that leads to other code: what the sanitizers and the soak run."""

import warnings

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist

from eigencut import GPOD, Gaussian, Landmarks, Neighbors, RankedNeighbors

DTYPES = ["float64", "float32", "float16", "int64", "int32", "int16", "uint8", "bool", ">f8"]

# Whose rows of the fit may get other labels: docs/architecture.md says why.
NOT_RECOGNIZED = {"approximate", "precomputed"}


def affinities(rng, n):
    """Every affinity and search, by name, with parameters at random."""
    k = int(rng.integers(1, max(2, min(n - 1, 30))))
    of_graph = dict(
        graph=rng.choice(["symmetric", "mutual"]), weights=rng.choice(["gaussian", "binary"])
    )
    p = int(rng.integers(1, n + 1))
    return {
        "auto": lambda: "auto",
        "gaussian": lambda: Gaussian(rng.choice(["median", "local", "neighbors", "auto"])),
        "brute": lambda: Neighbors(k, index="brute", **of_graph),
        "kdtree": lambda: Neighbors(k, index="kdtree", **of_graph),
        "approximate": lambda: Neighbors(k, index="approximate", **of_graph),
        "manhattan": lambda: Neighbors(k, metric="manhattan", **of_graph),
        "cosine": lambda: Neighbors(k, metric="cosine", **of_graph),
        "gaussian cosine": lambda: Gaussian(metric="cosine"),
        "hamming": lambda: Neighbors(k, metric="hamming", **of_graph),
        "ranked": lambda: RankedNeighbors(max(2, k)),
        "landmarks": lambda: Landmarks(p),
        "landmarks chebyshev": lambda: Landmarks(p, metric="chebyshev"),
        "precomputed": lambda: "precomputed",
        "sparse rows": lambda: Neighbors(k, **of_graph),
    }


def rows_of(rng, n, d, dtype):
    """Groups, with ties and rows that occur twice."""
    centres = rng.normal(scale=rng.choice([0.0, 1.0, 5.0]), size=(rng.integers(1, 8), d))
    X = rng.normal(size=(n, d)) + centres[rng.integers(0, len(centres), n)]
    if rng.random() < 0.3:
        X = np.round(X)
    if rng.random() < 0.3:
        X[rng.integers(0, n, n // 4)] = X[rng.integers(0, n, n // 4)]
    with np.errstate(all="ignore"):
        if np.dtype(dtype).kind in "iub":
            X = np.abs(X) * 20 if dtype == "uint8" else X * 20
        return X.astype(dtype)


def in_order(rng, X):
    """The same numbers, as an array of another layout."""
    kind = rng.choice(["C", "F", "rows skipped", "columns skipped", "backwards", "read-only"])
    if kind == "F":
        return np.asfortranarray(X)
    if kind == "rows skipped":
        return np.repeat(X, 2, axis=0)[::2]
    if kind == "columns skipped":
        return np.repeat(X, 3, axis=1)[:, ::3]
    if kind == "backwards":
        return X[::-1, ::-1].copy()[::-1, ::-1]
    if kind == "read-only":
        X = X.copy()
        X.flags.writeable = False
    return X


def random_problem(rng, most_rows=320, only=None):
    """A model, rows to fit it on and new rows, of up to 70 columns and 40 clusters."""
    n = int(rng.integers(2, most_rows))
    d = int(rng.integers(1, 71)) if rng.random() < 0.7 else int(rng.integers(1, 4))
    dtype = rng.choice(DTYPES)
    of_name = affinities(rng, n)
    name = rng.choice(sorted(of_name)) if only is None else only
    X = rows_of(rng, n, d, dtype)
    if name == "auto":  # also decides among affinities, which takes long for many rows
        X = X[:150]
    new = rows_of(rng, int(rng.integers(1, 80)), d, dtype)
    n_distinct = len(np.unique(X, axis=0))
    if name == "approximate" and n_distinct < 100:  # cells are for more rows than that
        name = "brute"
    n_clusters = int(rng.integers(1, 1 + min(40, n_distinct)))
    if name == "precomputed":
        between = [cdist(A.astype(float), X.astype(float)) for A in (X, new)]
        X, new = (1 / (1 + distances) for distances in between)
    X, new = in_order(rng, X), in_order(rng, new)
    if name == "sparse rows":
        X, new = sparse.csr_array(X.astype(float)), sparse.csr_array(new.astype(float))
    if "cosine" in name:  # rows of zeros have no direction
        X, new = (rows.astype(float) + 0.5 for rows in (X, new))
    model = GPOD(
        n_clusters,
        cut=rng.choice(["ncut", "ratiocut"]).item(),
        affinity=of_name[name](),
        outliers=rng.choice(["keep", "label"]).item(),
        n_init=1,
        n_jobs=int(rng.integers(1, 3)),
    )
    return name, model, X, new


def run_problem(rng, **options):
    """Fit and ask; returns the name of the affinity and what it came to.

    A refusal is a ValueError; labels out of range, or other ones for the rows of the fit, are an
    AssertionError.
    """
    name, model, X, new = random_problem(rng, **options)
    kinds = [None, rng.uniform(0.1, 3, X.shape[0]), rng.integers(0, 3, X.shape[0])]
    weight = None if name == "precomputed" else kinds[rng.integers(len(kinds))]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model.fit(X, sample_weight=weight)
        except ValueError as error:
            assert " must " in str(error), error
            return name, f"refused: {str(error)[:60]}"
        for labels in (model.labels_, model.predict(new)):
            least = -1 if model.outliers == "label" else 0
            assert labels.min() >= least and labels.max() < model.n_clusters, name
        assert np.isfinite(model.transform(new)).all(), name
        probabilities = model.predict_proba(new)
        assert np.abs(probabilities.sum(axis=1) - 1).max() < 1e-9, name
        found = model.predict(X)
        assert name in NOT_RECOGNIZED or (found == model.labels_).all(), name
        alone = [model.predict(X[i : i + 1])[0] for i in range(min(5, X.shape[0]))]
        assert alone == found[: len(alone)].tolist(), name
    return name, "fitted"
