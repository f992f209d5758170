"""Looks for inputs on which eigencut does anything but answer or refuse in a sentence.

    make fuzz
    python tests/whole/fuzz.py tables --seconds 600 --seed 3

What is tried: ``loader`` (model files), ``tables`` (CSV), ``arguments`` (of the command line),
``frames`` (of pandas, polars and pyarrow), each in a module of its own, ``fuzz_<name>.py``, which
makes cases from a corpus and knows what may come of them. A case that ends otherwise, takes more
than ten seconds or a gigabyte, or changes what it read, is kept in the corpus and stays a test
(``test_fuzz.py``).
"""

import argparse
import json
import random
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path

import numpy as np

CASES = {"loader": 10_000, "tables": 4000, "arguments": 4000, "frames": 1000}  # at least
MOST_SECONDS, MOST_MEGABYTES = 10, 1024


class TooLong(BaseException):
    """Not an Exception: nothing that is tried may catch it."""


def peak_megabytes():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def judged(target, path):
    """What a case comes to, and why that must not be, or None."""

    def stop(number, frame):
        raise TooLong

    before, start, peak = path.read_bytes(), time.process_time(), peak_megabytes()
    previous = signal.signal(signal.SIGALRM, stop)
    signal.alarm(30 * MOST_SECONDS)  # by the clock, on a machine that may be busy
    try:
        found, wrong = target.outcome(path), None
    except TooLong:
        found, wrong = "stuck", "it takes too long"
    except Exception as error:
        found, wrong = "failed", f"{type(error).__name__}: {error}"
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, previous)
    if time.process_time() - start > MOST_SECONDS:
        wrong = wrong or f"it takes more than {MOST_SECONDS} s"
    if peak_megabytes() - peak > MOST_MEGABYTES:
        wrong = wrong or f"it takes more than {MOST_MEGABYTES} MB"
    if path.read_bytes() != before:
        wrong = wrong or "it changed the file"
    return found, wrong


def look(target, seed, *, seconds=0, cases=0):
    """Try so many cases, and more while there is time; how many ended how, and what was wrong."""
    rng, counts, kept = random.Random(seed), Counter(), []
    end = time.process_time() + seconds
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = Path(folder) / f"case{target.SUFFIX}"
        target.begin()
        with np.errstate(all="ignore"):
            while time.process_time() < end or sum(counts.values()) < cases:
                if not target.make(rng, path):
                    continue
                found, wrong = judged(target, path)
                counts[found] += 1
                if wrong is not None:
                    kept.append((path.read_bytes(), wrong))
                leftovers = set(Path(folder).iterdir()) - {path}
                assert not leftovers, leftovers
    return counts, kept


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("targets", nargs="*", default=CASES, help=", ".join(CASES))
    parser.add_argument("--seconds", type=float, default=120, help="of processor time, at least")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    n_kept = 0
    for name in arguments.targets:
        target = import_module(f"fuzz_{name}")
        counts, kept = look(target, arguments.seed, seconds=arguments.seconds, cases=CASES[name])
        for number, (case, wrong) in enumerate(kept):
            file = target.CORPUS / f"fuzz_{arguments.seed}_{number}{target.SUFFIX}"
            file.write_bytes(case)
            print(f"kept {file}: {wrong}")
        n_kept += len(kept)
        print(json.dumps({"target": name, "cases": sum(counts.values()), **counts}), flush=True)
    sys.exit(bool(n_kept))


if __name__ == "__main__":
    main()
