"""eigencut's landmarks: defaults, and a seed for the sample they are made of."""

from benchmarks.harness.method import Method, Work
from benchmarks.harness.problem import Problem
from benchmarks.methods._seeds import for_each_seed


def seeds(problem: Problem) -> Work:
    from eigencut import GPOD, Landmarks

    def labels_of(seed: int) -> object:
        affinity = Landmarks(random_state=seed)
        return GPOD(problem.n_clusters, affinity=affinity).fit(problem.X).labels_

    return for_each_seed(problem, labels_of)


METHOD = Method("eigencut, landmarks", {"seeds": seeds})
