"""Interrupts fits, predictions and updates at random moments: the process must stay as it was.

    make soak
    python tests/whole/interrupts.py --interrupts 5000

An interrupt is a KeyboardInterrupt wherever it comes. Afterwards the threads of BLAS are as before,
nobody asks for fewer, and the model that was at work is whole: it answers as before or, after an
update, as one that has seen the new rows.
"""

import argparse
import json
import random
import signal
import sys
import threading
import time
import traceback
import warnings
from collections import Counter

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from eigencut import GPOD, Gaussian, Landmarks, Neighbors
from eigencut._utils import running

FOUND = 2  # threads of BLAS before


def state():
    blas = {one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"}
    values = (running._limit, running._verbose, running._heard, running.listening)
    return blas, [value.get() for value in values], dict(running.blas_threads._asked)


def works():
    """Of each work its name, what runs, and the model that it changes, if any."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2)) + 6 * rng.integers(0, 2, size=(160, 1))
    wide = rng.normal(size=(160, 12)) + 6 * rng.integers(0, 2, size=(160, 1))
    affinities = (Gaussian(), Neighbors(5), Neighbors(5, index="brute"), Landmarks(30), "auto")
    for affinity in affinities:
        model = GPOD(2, affinity=affinity, n_jobs=2).fit(wide)
        new = wide + 0.01
        yield f"fit {affinity}", lambda model=model: model.fit(wide), model, new
        yield f"predict {affinity}", lambda model=model, new=new: model.predict(new), model, new
    updated = GPOD(2, affinity=Landmarks(30), n_jobs=2).fit(X)
    yield "update", lambda: updated.update(X), updated, X


def interrupted(work, seconds):
    """Run it with an interrupt after so many seconds; what came of that.

    One that comes in a callback of Python itself, as of a weak reference, Python drops; one that
    comes while it waits for a thread may end as an error of its own lock.
    """
    sent, dropped = False, []

    def stop(number, frame):
        nonlocal sent
        sent = True
        raise KeyboardInterrupt

    previous, hook = signal.signal(signal.SIGALRM, stop), sys.unraisablehook
    sys.unraisablehook = dropped.append
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            work()
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return "interrupted"
    except BaseException as error:
        *_, last = traceback.walk_tb(error.__traceback__)
        is_lock = isinstance(error, RuntimeError) and "lock" in str(error)
        is_of_python = is_lock and last[0].f_code.co_filename == threading.__file__
        if is_of_python and isinstance(error.__context__, KeyboardInterrupt):
            return "changed by Python"
        return f"{type(error).__name__}: {error}"
    finally:
        signal.signal(signal.SIGALRM, previous)
        sys.unraisablehook = hook
    if dropped and dropped[0].exc_type is KeyboardInterrupt:
        return "dropped by Python"
    return "swallowed" if sent else "finished"


def look(n_interrupts, seed=0):
    """Interrupt so many times; how often what came of it, and what was wrong."""
    rng, counts, wrong = random.Random(seed), Counter(), []
    with threadpool_limits(FOUND, "blas"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = list(works())
        lasts = []
        for _, work, _, _ in cases:
            work()
            start = time.perf_counter()
            work()
            lasts.append(time.perf_counter() - start)
        before = state()
        while counts["interrupted"] + len(wrong) < n_interrupts:
            number = rng.randrange(len(cases))
            name, work, model, rows = cases[number]
            labels = model.predict(rows)
            what = interrupted(work, max(1e-6, rng.random() * lasts[number]))
            counts[what] += 1
            if what not in ("interrupted", "finished", "dropped by Python", "changed by Python"):
                wrong.append(f"{name}: {what}")
            if state() != before:
                wrong.append(f"{name}: {before} became {state()}")
                before = state()
            if (model.predict(rows) != labels).any():
                wrong.append(f"{name}: the model changed")
    return counts, wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--interrupts", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    counts, wrong = look(arguments.interrupts, arguments.seed)
    print(json.dumps({**counts, "wrong": wrong[:20], "n_wrong": len(wrong)}))
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
