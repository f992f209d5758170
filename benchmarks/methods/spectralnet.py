"""SpectralNet: a neural network that learns the embedding; its defaults, one seed."""

from contextlib import redirect_stderr, redirect_stdout
from io import StringIO

from benchmarks.harness.method import Method, Work, require
from benchmarks.harness.problem import Problem


def fit(problem: Problem) -> Work:
    torch, spectralnet = require("torch"), require("spectralnet")
    X = torch.as_tensor(problem.X, dtype=torch.float32)

    def work() -> object:
        torch.manual_seed(0)
        hidden = [1024, 1024, 512, problem.n_clusters]
        model = spectralnet.SpectralNet(problem.n_clusters, spectral_hiddens=hidden)
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):  # progress bars
            model.fit(X)
            return model.predict(X)

    return work


METHOD = Method("SpectralNet", {"fit": fit}, numbers_clusters_alike=False)
