"""dask-ml's SpectralClustering: Nystrom on 100 rows, its default."""

import numpy as np

from benchmarks.harness.method import Method, Work, require
from benchmarks.harness.problem import Problem


def fit(problem: Problem) -> Work:
    cluster = require("dask_ml.cluster")
    model = cluster.SpectralClustering(problem.n_clusters, gamma=problem.gamma, random_state=0)
    return lambda: np.asarray(model.fit(problem.X).labels_)


METHOD = Method("dask-ml", {"fit": fit}, numbers_clusters_alike=False)
