"""Prints, as JSON, what threads other than the one that calls do during fits and predictions.

    python tests/whole/thread_use.py N_JOBS

Their processor time is that of the process without that of the calling thread: it tells of every
thread, whoever started it (Python, BLAS, OpenMP, C++) and whether or not it is still there.
"""

import json
import sys
import threading
import time
import warnings

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import laplacian_kernel
from threadpoolctl import threadpool_info

from eigencut import GPOD, Gaussian, Kernel, Landmarks, Neighbors, select


def rows(n_rows, n_features, seed=0):
    """Two groups, apart in every feature."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n_rows, n_features)) + 4 * rng.integers(0, 2, size=(n_rows, 1))


def affinities():
    """Every affinity and search, with rows enough for two threads to have work."""
    plane, many, wide = rows(1500, 2), rows(20_000, 2), rows(2400, 20)
    counts = sparse.csr_array(np.random.default_rng(0).poisson(0.3, size=(2500, 40)).astype(float))
    weights = np.exp(-cdist(wide, wide, "sqeuclidean") / 32)
    return {
        "auto": ("auto", many),
        "Gaussian": (Gaussian(4.0), wide),
        "Gaussian local": (Gaussian("local"), wide),
        "Gaussian local in the plane": (Gaussian("local"), plane),
        "Gaussian neighbors": (Gaussian("neighbors"), wide),
        "Kernel": (Kernel(laplacian_kernel), wide[:1500]),
        "Neighbors by a tree": (Neighbors(index="kdtree"), many),
        "Neighbors by brute force": (Neighbors(index="brute"), wide),
        "Neighbors approximately": (Neighbors(index="approximate"), wide),
        "Neighbors of sparse rows": (Neighbors(), counts),
        "Neighbors by manhattan": (Neighbors(metric="manhattan", index="brute"), wide),
        "Landmarks": (Landmarks(200), many),
        "Precomputed": ("precomputed", weights),
    }


class Watch:
    """The processor time of other threads, and the threads that Python started, in a block."""

    def __enter__(self):
        self.found = {"started": 0}
        self._before, self._start = self._time_of_others(), threading.Thread.start

        def start(thread):
            self.found["started"] += 1
            self._start(thread)

        threading.Thread.start = start
        return self

    def __exit__(self, *error):
        threading.Thread.start = self._start
        self.found["seconds"] = self._time_of_others() - self._before

    @staticmethod
    def _time_of_others():
        return time.process_time() - time.thread_time()


def watched(n_jobs, affinity, X):
    model = GPOD(4, affinity=affinity, n_jobs=n_jobs)
    with Watch() as fit:
        model.fit(X)
    with Watch() as new:
        model.predict(X)
        model.transform(X)
    return {"fit": fit.found, "predict": new.found}


def watched_select(n_jobs):
    with Watch() as found:
        select(rows(600, 20), range(2, 4), Gaussian("local"), n_jobs=n_jobs)
    return {"select": found.found}


def limits(n_jobs):
    """The threads that BLAS may use inside of a fit, where rules run."""
    found, wide = set(), rows(2000, 20)

    def sigma(X):
        found.update(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")
        return np.full(len(X), 2.0)

    GPOD(2, affinity=Gaussian(sigma), n_jobs=n_jobs).fit(wide).predict(wide)
    return {"blas": sorted(found)}


def main():
    n_jobs = int(sys.argv[1])
    warnings.simplefilter("ignore")
    GPOD(2, affinity=Neighbors(metric="manhattan"), n_jobs=1).fit(rows(500, 20))  # loads libraries
    use = {name: watched(n_jobs, *what) for name, what in affinities().items()}
    use["select"] = watched_select(n_jobs)
    print(json.dumps({"use": use, "limits": limits(n_jobs)}))


if __name__ == "__main__":
    main()
