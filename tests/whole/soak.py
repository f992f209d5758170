"""Fits, saves, loads and asks many times in one process: memory, threads and files must stay level.

    make soak
    python tests/whole/soak.py --rounds 10000

A round fits a model at random (``random_problems.py``), or saves, loads and asks one, refusals
included. What the process holds is noted after the first fifth of the rounds, when everything that
is kept once is there, and again at the end.
"""

import argparse
import gc
import json
import os
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np
from random_problems import run_problem

from eigencut import GPOD, ModelFileError, Rows, load

GOLDEN = Path(__file__).parents[1] / "io" / "golden"
MOST_BYTES_PER_ROUND = 2000  # a model of the rounds has 20 000 or more
SLACK_MEGABYTES = 12  # by which the allocator comes and goes


def held():
    """Megabytes in memory, threads and open files of this process, as Linux counts them."""
    gc.collect()
    process = Path("/proc/self")
    pages = int((process / "statm").read_text().split()[1])
    return {
        "megabytes": pages * os.sysconf("SC_PAGESIZE") / 1e6,
        "threads": len(list((process / "task").iterdir())),
        "files": len(list((process / "fd").iterdir())),
    }


def one_round(number, folder):
    """What a service does all day, and what it is given by mistake."""
    rng = np.random.default_rng([7, number])
    if number % 2:
        run_problem(rng, most_rows=90)
        return
    golden = sorted(GOLDEN.glob("v*.eigencut"))
    model = load(golden[number // 2 % len(golden)], mmap=bool(number // 24 % 2))
    columns = getattr(model, "columns_", None)
    X = rng.normal(size=(50, len(columns) if columns else model.n_features_in_))
    model.predict(abs(X))
    again = folder / "again.eigencut"
    model.save(again)
    load(again)
    again.write_bytes(again.read_bytes()[:-1])
    table = folder / "table.csv"
    np.savetxt(table, X[:, :1], "%.3f", header="a", comments="")
    list(Rows.from_file(table))
    table.write_text('a,b\n1,2\n"', encoding="utf-8")
    for wrong in (
        lambda: load(again),
        lambda: list(Rows.from_file(table)),
        lambda: GPOD(200).fit(X),
        lambda: model.predict(X[:, :0]),
    ):
        try:
            wrong()
        except (ModelFileError, ValueError):
            continue
        raise AssertionError("a mistake was not refused")


def soak(rounds, work=one_round):
    """What is held after a fifth of the rounds and at the end, and what has grown."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in range(rounds):
            work(number, Path(folder))
            if number == rounds // 5:
                before = held()
        after = held()
    allowed = {
        "megabytes": SLACK_MEGABYTES + MOST_BYTES_PER_ROUND * rounds * 0.8 / 1e6,
        "threads": os.cpu_count(),  # pools that are first used later; what leaks is one a round
        "files": 0,
    }
    grown = [name for name in before if after[name] - before[name] > allowed[name]]
    return {"rounds": rounds, "before": before, "after": after, "grown": grown}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=10_000)
    found = soak(parser.parse_args().rounds)
    print(json.dumps(found))
    sys.exit(bool(found["grown"]))


if __name__ == "__main__":
    main()
