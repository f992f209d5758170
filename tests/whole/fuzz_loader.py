"""Looks for files on which ``eigencut.load`` does anything but load or refuse.

    python tests/whole/fuzz_loader.py --seconds 600

Starts from the golden files and changes bytes, lengths, values of the header and arrays; mostly
checksums are made right again, so that every check behind them is reached. A case that ends in
another exception, takes more than ten seconds or a gigabyte, or changes a file, is kept as
``tests/files/golden/fuzz_<number>.eigencut`` and stays a test.
"""

import argparse
import json
import random
import resource
import tempfile
import time
import warnings
from collections import Counter
from copy import deepcopy
from pathlib import Path

import numpy as np

from eigencut import ModelFileError, load
from eigencut.files.format import read, write

GOLDEN = Path(__file__).parents[1] / "files" / "golden"
WORDS = ["GPOD", "Gaussian", "Kernel", "os.system", "auto", "local", "ncut", "", "é", "x" * 999]
NUMBERS = [0, 1, -1, 2, 3, 10, 2**31, 2**63, 10**30, 0.5, -0.5, 1e-300, 1e300, 1e308, True, None]


def any_value(rng, depth=0):
    kind = rng.random()
    if kind < 0.5:
        return rng.choice(NUMBERS)
    if kind < 0.75 or depth > 2:
        return rng.choice(WORDS)
    if kind < 0.9:
        return [any_value(rng, depth + 1) for _ in range(rng.randrange(4))]
    return {rng.choice(WORDS): any_value(rng, depth + 1) for _ in range(rng.randrange(4))}


def any_array(rng):
    shape = [rng.choice([1, 2, 3, 12, 24, 25]) for _ in range(rng.choice([1, 1, 2, 2, 3]))]
    dtype = rng.choice(["<f8", "<f8", "<f4", "<i8", "<i4", "|u1"])
    number = rng.choice([0, 1, 2, 24, 100, 1e300, -1, float("nan"), float("inf")])
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.full(shape, number).astype(dtype)


def places(tree):
    for name, value in tree.items():
        yield tree, name
        if isinstance(value, dict):
            yield from places(value)


def changed_content(rng, seeds, path):
    """A file whose checksums are right and whose content is not."""
    header, arrays = deepcopy(rng.choice(seeds))
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        what = rng.random()
        if what < 0.6:
            tree, name = rng.choice(list(places(header.content)))
            if rng.random() < 0.1:
                del tree[name]
            else:
                tree[name] = any_value(rng)
        elif what < 0.9 and arrays:
            name = rng.choice(sorted(arrays))
            arrays[name] = any_array(rng)
        elif arrays:
            arrays.pop(rng.choice(sorted(arrays)))
    write(path, header.content, arrays)


def changed_bytes(rng, files, path):
    raw = bytearray(rng.choice(files))
    for _ in range(rng.choice([1, 1, 3, 10])):
        what, place = rng.random(), rng.randrange(len(raw))
        if what < 0.6:
            raw[place] = rng.randrange(256)
        elif what < 0.8:
            del raw[place : place + rng.randrange(1, 300)]
        else:
            raw[place:place] = rng.randbytes(rng.randrange(1, 300))
        raw = raw or bytearray(b"E")
    path.write_bytes(raw)


def outcome(path):
    """What loading (and, if that works, predicting) ends in; None if it must not end so."""
    before = path.read_bytes()
    start = time.monotonic()
    try:
        model = load(path)
        model.predict(np.zeros((3, model.n_features_in_)) if hasattr(model, "n_features_in_")
                      else np.zeros((3, len(model.columns_))))  # fmt: skip
        found = "loaded"
    except ModelFileError as error:
        found = "refused" if "\n" not in str(error) else None
    except ValueError:
        found = "refused to predict"
    except Exception as error:
        print(f"{type(error).__name__}: {error}")
        found = None
    too_long = time.monotonic() - start > 10
    too_large = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss > 1 << 20  # of kilobytes
    return None if too_long or too_large or path.read_bytes() != before else found


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng = random.Random(arguments.seed)
    golden = sorted(GOLDEN.glob("v*.eigencut"))
    seeds, files = [read(path) for path in golden], [path.read_bytes() for path in golden]
    counts, end = Counter(), time.monotonic() + arguments.seconds
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "case.eigencut"
        for whole in golden:  # what they import is not a case's time
            load(whole)
        while time.monotonic() < end:
            try:
                if rng.random() < 0.75:
                    changed_content(rng, seeds, path)
                else:
                    changed_bytes(rng, files, path)
            except (ModelFileError, ValueError):
                continue  # not even the writer takes it
            found = outcome(path)
            counts[found or "KEPT"] += 1
            if found is None:
                kept = GOLDEN / f"fuzz_{arguments.seed}_{sum(counts.values())}.eigencut"
                kept.write_bytes(path.read_bytes())
                print(f"kept {kept}")
            leftovers = set(Path(folder).iterdir()) - {path}
            assert not leftovers, leftovers
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cases": sum(counts.values()), **counts, "peak_mb": round(peak)}))


if __name__ == "__main__":
    main()
