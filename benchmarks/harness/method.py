"""A method: a way to do a task, ours or a peer's. One file in ``benchmarks/methods`` each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.harness.problem import Problem

FOLDER = Path(__file__).parents[1] / "methods"

Work = Callable[[], Any]  # what is timed


class NotInstalled(Exception):
    """Something a method needs is not there; the method is then left out, and said to be."""


def require(module: str) -> Any:
    """The module, or ``NotInstalled``."""
    try:
        return import_module(module)
    except ImportError as error:
        raise NotInstalled(module) from error


@dataclass(frozen=True)
class Clocked:
    """A result that brings its own time, such as that of a child process."""

    seconds: float
    result: Any = None


def as_labels(problem: Problem, result: Any) -> Any:
    return result


@dataclass(frozen=True)
class Method:
    """How to do each task.

    ``tasks`` maps a task to a function of the problem. The function prepares, untimed, and returns
    the work to be timed. ``labels`` turns the work's result into labels, untimed: one per row, or
    of the first rows only, or a line of them for every seed.
    """

    title: str
    tasks: dict[str, Callable[[Problem], Work]]
    labels: Callable[[Problem, Any], Any] = as_labels
    numbers_clusters_alike: bool = True  # whether equal clusters have the numbers of eigencut
    most_rows: int | None = (
        None  # of those to be fitted it gets the first, where it cannot take all
    )

    def prepare(self, task: str, problem: Problem) -> Work:
        if task not in self.tasks:
            raise ValueError(f"{self.title} must know the task {task!r}. Got {sorted(self.tasks)}.")
        return self.tasks[task](problem.first(self.most_rows))


def load_method(name: str) -> Method:
    """The method of the file ``benchmarks/methods/<name>.py``."""
    if name not in method_names():
        raise ValueError(f"A method must be one of {method_names()}. Got {name!r}.")
    method: Method = import_module(f"benchmarks.methods.{name}").METHOD
    return method


def method_names() -> list[str]:
    return sorted(path.stem for path in FOLDER.glob("*.py") if not path.stem.startswith("_"))
