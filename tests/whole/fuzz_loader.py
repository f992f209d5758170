"""Model files for ``fuzz.py``: ``eigencut.load`` loads or refuses, and runs nothing.

Starts from the golden files and changes bytes, lengths, values of the header and arrays; mostly
checksums are made right again, so that every check behind them is reached.
"""

import contextlib
import warnings
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np

from eigencut import MemoryRefusal, ModelFileError, load
from eigencut.inspection import assess
from eigencut.io.model_format import read, write

CORPUS = Path(__file__).parents[1] / "io" / "golden"
SUFFIX = ".eigencut"
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


@cache
def golden():
    """The content of the golden files, and their bytes."""
    files = sorted(CORPUS.glob("v*.eigencut"))
    return [read(path) for path in files], [path.read_bytes() for path in files]


def begin():
    for path in CORPUS.glob("v*.eigencut"):  # what they import is not a case's time
        load(path)


def make(rng, path):
    """Write a case; whether even the writer takes it."""
    seeds, files = golden()
    try:
        if rng.random() < 0.75:
            changed_content(rng, seeds, path)
        else:
            changed_bytes(rng, files, path)
    except (ModelFileError, ValueError):
        return False
    return True


def outcome(path):
    """What loading, and if that works predicting, ends in."""
    try:
        model = load(path)
    except ModelFileError as error:
        assert "\n" not in str(error)
        return "refused"
    repr(model), model._repr_html_()
    rows = np.random.default_rng(0).random((12, len(model.columns_)))
    for ask in (
        lambda: assess(model),
        lambda: model.hierarchy(),
        lambda: str(model.describe(rows)),
        lambda: str(model.drift(rows)),
        lambda: str(model.explain_outliers(rows)),
    ):
        with contextlib.suppress(ValueError, MemoryRefusal):
            ask()
    try:
        model.predict(rows)
    except ValueError:
        return "refused to predict"
    return "loaded"
