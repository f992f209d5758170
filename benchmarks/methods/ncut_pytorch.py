"""ncut-pytorch: Nystrom normalized cut in float32, the same sigma, its own k-way step."""

from typing import Any

from benchmarks.harness.method import Method, Work, require
from benchmarks.harness.problem import Problem


def _tensor(X: Any) -> Any:
    torch = require("torch")
    return torch.as_tensor(X, dtype=torch.float32)


def _fitted(problem: Problem) -> Any:
    K, ncut = problem.n_clusters, require("ncut_pytorch")
    model = ncut.Ncut(n_eig=K, sigma=float(problem.sigma), device="cpu")
    return model.fit(_tensor(problem.X)).kway_fit(n_clusters=K, n_eig=K)


def _labels(model: Any, X: Any, K: int) -> Any:
    return model.kway_transform(X, n_clusters=K, n_eig=K).argmax(1).numpy()


def fit(problem: Problem) -> Work:
    require("ncut_pytorch")
    X = _tensor(problem.X)
    return lambda: _labels(_fitted(problem), X, problem.n_clusters)


def predict(problem: Problem) -> Work:
    model, X_new = _fitted(problem), _tensor(problem.X_new)
    return lambda: _labels(model, X_new, problem.n_clusters)


METHOD = Method("ncut-pytorch", {"fit": fit, "predict": predict}, numbers_clusters_alike=False)
