"""Computes all numbers, writes ``paper.json``, and from it the page and the figures."""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from eigencut._utils.running import n_threads
from eigencut._version import __version__
from eigencut.exceptions import GraphWarning
from eigencut.io.atomic import check_replaceable
from experiments.paper import convergence, fits, page, plotting, rates, results, timing, toys
from experiments.paper.candidates import FULL_RATIOS, QUICK_RATIOS, Candidate, candidates
from experiments.paper.choice import BALANCED, CLEAN, DUST
from experiments.paper.datasets import load
from experiments.paper.published import CUT_TITLES, SETS


def main(arguments: list[str]) -> int:
    """The command ``paper``; what is wrong with its input is said in one sentence."""
    parser = argparse.ArgumentParser(
        prog="python -m experiments.paper", description="Compute the paper's tables and figures."
    )
    parser.add_argument("--quick", action="store_true", help="few splits: minutes instead of more")
    parser.add_argument("--data", metavar="DIR", help="folder of the UCI files (EIGENCUT_DATA)")
    parser.add_argument(
        "--out", metavar="DIR", type=Path, default=Path("paper"), help="results go here (paper)"
    )
    chosen = parser.parse_args(arguments)
    try:
        run(chosen.data, chosen.out, QUICK if chosen.quick else FULL)
    except (ImportError, OSError, ValueError) as error:
        said = str(error)
        if isinstance(error, OSError) and error.errno is not None:
            said = f"{error.filename}: {error.strerror}."
        print(f"paper: {said}", file=sys.stderr)
        return 1
    print(f"The results are in {chosen.out}: paper.json, paper.md and images/paper")
    return 0


@dataclass(frozen=True)
class Scale:
    """How much is computed."""

    splits: int
    toy_rows: tuple[int, int]
    population: int
    repeats: int
    timing_rows: int
    timing_sizes: tuple[int, ...]
    candidates: tuple[Candidate, ...]


FULL = Scale(50, (2000, 500), 2000, 32, 2000, (100, 250, 500, 1000, 2000), candidates(FULL_RATIOS))
QUICK = Scale(8, (2000, 500), 1000, 6, 1000, (100, 400), candidates(QUICK_RATIOS))


def run(data_dir: str | None, out: Path, scale: Scale = FULL, processes: int | None = None) -> Any:
    """Do everything; returns the numbers.

    Parameters
    ----------
    data_dir : str or None
        Where the UCI files are; see ``experiments.paper.datasets``.
    out : Path
        Gets ``paper.json``, ``paper.md`` and ``images/paper``.
    scale : Scale
    processes : int, optional
        Default: one for each core.
    """
    start = time.perf_counter()
    # What is missing is missed before the work, not after.
    out.mkdir(parents=True, exist_ok=True)
    check_replaceable(out / "paper.json")
    plotting.subplots(1, 1)
    sets = {name: load(name, data_dir) for name in SETS}
    data = {name: (found.data, found.target) for name, found in sets.items()}
    processes = n_threads() if processes is None else processes
    numbers: dict[str, Any] = {"settings": {}, "versions": versions()}
    with warnings.catch_warnings(), workers(processes) as each:
        warnings.simplefilter("ignore", GraphWarning)
        say("time of new rows against a new fit")
        numbers["timing"] = timing.compute(scale.timing_rows, scale.timing_sizes)
        say("figure 1")
        numbers["toys"] = toys.compute(*scale.toy_rows)
        numbers["table"], numbers["convergence"] = table(each, data, scale)
        tasks = [(*task, scale.population, scale.repeats) for task in rates.TASKS]
        numbers["rates"] = list(each(rates.compute, tasks, "learning curves"))
    numbers["settings"] = {
        "quick": scale is not FULL,
        "splits": scale.splits,
        "test_share": results.TEST_SHARE,
        "split_seeds": list(seeds(scale)),
        "toy_seeds": list(toys.SEEDS),
        "n_init": fits.N_INIT,
        "missing_values": "median of the column's training rows",
        "sources": {name: found.source for name, found in sets.items()},
        "candidates": [list(candidate) for candidate in scale.candidates],
        "choice": {"balanced": BALANCED, "dust": DUST, "clean": CLEAN},
        "processes": processes,
        "seconds": round(time.perf_counter() - start),
        "cpu_seconds": round(cpu_seconds()),
    }
    write(numbers, out)
    return numbers


def seeds(scale: Scale) -> range:
    return range(results.FIRST_SEED, results.FIRST_SEED + scale.splits)


def table(each: Any, data: Any, scale: Scale) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Scores of all splits of all sets, the longest fits first; and the steps of POD."""
    by_size = sorted(data.items(), key=lambda item: -len(item[1][0]))
    tasks = [
        (name, X, y, seed, scale.candidates) for name, (X, y) in by_size for seed in seeds(scale)
    ]
    found = list(each(results.run_split, tasks, "splits"))
    scores = results.collect([score for of_split in found for score in of_split])
    chosen = {cut: results.transferred(scores, cut) for cut in CUT_TITLES}
    steps = convergence.compute(tasks, [dict(of_split) for of_split in found])
    return {"transferred": chosen, "scores": scores}, steps


def cpu_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def write(numbers: Any, out: Path) -> None:
    """``paper.json``, and the page and figures that are made of it."""
    out.mkdir(parents=True, exist_ok=True)
    path = out / "paper.json"
    path.write_text(to_json(numbers), encoding="utf-8")
    page.write(json.loads(path.read_text(encoding="utf-8")), out)


def to_json(numbers: Any) -> str:
    """One line for each part, so that the file is small and differences can be read."""
    parts = [f"{json.dumps(k)}: {json.dumps(v, separators=(',', ':'))}" for k, v in numbers.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def versions() -> dict[str, str]:
    import numpy
    import scipy
    import sklearn

    return {
        "eigencut": __version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "scikit-learn": sklearn.__version__,
        "Python": platform.python_version(),
    }


def say(text: str, end: str = "\n") -> None:
    print(f"\rpaper: {text}", end=end, file=sys.stderr, flush=True)


@contextmanager
def workers(processes: int) -> Iterator[Callable[..., Iterable[Any]]]:
    """A map over tasks, in order, in so many processes, that tells how far it is."""

    def counted(found: Iterable[Any], total: int, what: str) -> Iterator[Any]:
        for done, result in enumerate(found, start=1):
            say(f"{what} {done}/{total}", end="\n" if done == total else "")
            yield result

    if processes <= 1:
        yield lambda work, tasks, what: counted(map(work, tasks), len(tasks), what)
        return
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield lambda work, tasks, what: counted(pool.map(work, tasks), len(tasks), what)
