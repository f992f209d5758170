"""Runs every form of the kernels under the address and undefined-behaviour sanitizers of gcc.

    make sanitize
    python tests/whole/sanitize.py --seconds 600 --seed 3

The kernels are compiled once with the sanitizers. Then, for vectors of 128, 256 and 512 bits, a
process of its own calls them directly with sizes at random and compares them with numpy, fits and
asks models at random, and loads files that were changed (``fuzz_loader.py``). What a sanitizer
finds ends the process, with the line of C. Where the processor has no AVX-512, that form is
compiled of vectors half as wide: other instructions, but the same reads and writes.
"""

import argparse
import ctypes
import json
import os
import platform
import random
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

import eigencut.kernels
from eigencut._utils.running import for_each
from eigencut.kernels import NativeKernels, WideKernels
from eigencut.kernels import load as load_library
from eigencut.kernels.compiling import compile_kernels
from eigencut.kernels.numpy_kernels import LAYOUT, Grid, NumpyKernels, aligned_empty

FORMS = (128, 256, 512) if platform.machine() in ("x86_64", "AMD64") else (128,)
FLAGS = (
    *("-O1", "-g", "-fno-omit-frame-pointer", "-fno-sanitize-recover=all"),
    "-fsanitize=address,undefined,float-cast-overflow",
)


def sanitized_library(folder):
    library = folder / "kernels.so"
    compile_kernels(["gcc"], library, flags=FLAGS, any_bits=True)
    return library


def environment():
    """In which Python can load what was compiled so: the sanitizer comes first of all."""
    asan = subprocess.check_output(["gcc", "-print-file-name=libasan.so"], text=True).strip()
    return os.environ | {
        "LD_PRELOAD": asan,
        "ASAN_OPTIONS": "detect_leaks=0",  # Python and numpy keep what they have until the end
        "UBSAN_OPTIONS": "print_stacktrace=1",
        "PYTHONMALLOC": "malloc",
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }


def kernels_of(library, bits):
    found = load_library(library)
    if len(FORMS) > 1:
        ctypes.c_int.in_dll(found, "vector_bits").value = bits
    return WideKernels(found) if found.has_wide_vectors() else NativeKernels(found)


# ------------------------------------------------------------- kernels, directly


def weighted_sums(rng, build, plain):
    m, n, p, columns = rng.integers(1, (100, 700, 75, 45))
    left, right = rng.normal(size=(m, p)), rng.normal(size=(n, p))
    left *= rng.choice([1e-3, 1.0, 30.0, 1e30])
    exponents = left @ right.T
    left, right = np.c_[left, -exponents.max(axis=1)], np.c_[right, np.ones(n)]  # none above 0
    V = rng.normal(size=(n, columns))
    with np.errstate(all="ignore"):
        found, expected = (k.weighted_sums_of(right, V)(left) for k in (build, plain))
    error = 1e-3 + (p + 3) * 2.0**-22 * np.abs(left).max() * np.abs(right).max()
    if error < 1:
        assert np.abs(found - expected).max() <= error * np.abs(V).sum(axis=0).max()


def symmetric_product(rng, build, plain):
    size, side, width = rng.integers(1, (900, 400, 50))
    strips = -(-size // side)
    places = np.array([(i, j) for i in range(strips) for j in range(i, strips)][:60])
    tiles, V = rng.normal(size=(len(places), side, side)), rng.normal(size=(size, width))
    found, expected = (k.symmetric_product(tiles, places, V, for_each) for k in (build, plain))
    assert np.allclose(found, expected, atol=1e-9)


def near_points(rng, build, plain):
    m, p, n_strips = rng.integers(1, (90, 71, 12))
    left = np.asarray(rng.normal(size=(m, p)), dtype=np.float32, order=rng.choice(["C", "F"]))
    strips = aligned_empty((n_strips, p, LAYOUT.strip))
    strips[:] = rng.normal(size=strips.shape)
    if rng.random() < 0.2:
        strips[:] = np.round(strips)
    visits = rng.permutation(n_strips)[: rng.integers(1, n_strips + 1)].astype(np.int32)
    k = int(rng.integers(1, len(visits) * LAYOUT.strip + 1))
    most = int(rng.integers(k, len(visits) * LAYOUT.strip + 1))
    slack = rng.choice([0.0, 1e-4, 1.0, np.inf], size=m).astype(np.float32)
    places, counts = build.near_points(left, strips, visits, slack, k, most)
    assert ((counts == 0) | ((counts >= k) & (counts <= most))).all()
    scores = left @ strips[visits].transpose(1, 0, 2).reshape(p, -1)
    number = (LAYOUT.strip * visits[:, np.newaxis] + np.arange(LAYOUT.strip)).ravel()
    for i in np.flatnonzero(counts):
        surely = scores[i] < np.partition(scores[i], k - 1)[k - 1] - 1e-3
        assert set(number[surely]) <= set(places[i, : counts[i]])


def near_in_cells(rng, build, plain):
    m, n, d, r = rng.integers((1, LAYOUT.candidates, 1, 1), (300, 200, 4, LAYOUT.candidates + 1))
    shape = rng.integers(1, 12, size=d)
    n_cells = int(shape.prod())
    candidates = np.argsort(rng.random((n_cells, n)), axis=1)[:, : LAYOUT.candidates]
    grid = Grid(
        low=np.zeros(d),
        scale=rng.random(d) * 12,
        shape=shape,
        candidates=np.sort(candidates, axis=1).astype(np.int32),
        is_known=rng.random(n_cells) < 0.8,
        points=rng.random((n, d)),
    )
    rows = rng.random((m, d)) * 1.5 - 0.2
    rows[rng.random(m) < 0.1] *= 1e300
    found, told = build.near_in_cells(rows, grid, int(r))
    expected, known = plain.near_in_cells(rows, grid, int(r))
    assert (told == known).all() and (found[told] == expected[told]).all()


def near_in_graph(rng, build, plain):
    m, n, g, k = rng.integers(1, (40, 300, 20, 30))
    d = LAYOUT.coordinates * int(rng.integers(1, 5))
    points, rows = (rng.normal(size=(size, d)).astype(np.float32) for size in (n, m))
    given = [rng.integers(-2, n + 2, size=(size, g)).astype(np.intc) for size in (n, m)]
    options = {"expanded": int(rng.integers(1, 40)), "rounds": int(rng.integers(5))}
    found, expected = (
        one.near_in_graph(rows, points, *given, int(k), **options) for one in (build, plain)
    )
    assert (found == expected).mean() > 0.99


def membership_sums(rng, build, plain):
    m, r, p = rng.integers(1, (300, 12, 90))
    nearest = rng.integers(0, p, size=(m, r))
    weights, units = rng.random((m, r)), np.zeros((2, p, p), dtype=np.int64)
    for one, sums in zip((build, plain), units, strict=True):
        one.add_membership_sums(nearest, weights, 2.0**-30, sums)
    assert np.abs(units[0] - units[1]).max() <= m  # halves may be rounded either way


DIRECTLY = [weighted_sums, symmetric_product, near_points, near_in_cells, near_in_graph]
DIRECTLY += [membership_sums]
WIDE_ONLY = [symmetric_product, near_points]


# --------------------------------------------------------------------- the driver


def crafted_file(rng, path):
    """Load a file that was changed and has the right checksums, and let it predict."""
    import fuzz_loader

    if not fuzz_loader.make(rng, path):
        return "not written"
    return fuzz_loader.outcome(path)


def drive(library, bits, seed, *, seconds, cases):
    """Try random cases, at least for the time and the number given; print their counts as JSON."""
    from random_problems import run_problem

    build, plain = kernels_of(library, bits), NumpyKernels()
    eigencut.kernels.chosen = build
    directly = [kernel for kernel in DIRECTLY if bits > 128 or kernel not in WIDE_ONLY]
    counts, end, case = Counter(), time.process_time() + seconds, 0
    with tempfile.TemporaryDirectory() as folder:
        while case < cases or time.process_time() < end:
            case += 1
            rng = np.random.default_rng([seed, case])
            what = rng.random()
            try:
                if what < 0.45:
                    kernel = directly[rng.integers(len(directly))]
                    kernel(rng, build, plain)
                    counts[kernel.__name__] += 1
                elif what < 0.75:
                    large = dict(most_rows=1600, only="gaussian") if rng.random() < 0.03 else {}
                    name, outcome = run_problem(rng, **large)
                    counts[f"{outcome.split(':')[0]} {name}"] += 1
                else:
                    file = Path(folder) / "case.eigencut"
                    outcome = crafted_file(random.Random(f"{seed} {case}"), file)
                    counts[f"file {outcome}"] += 1
            except Exception:
                traceback.print_exc()
                sys.exit(f"case {case} of seed {seed}, vectors of {bits} bits")
    print(json.dumps({"bits": bits, "cases": case, **dict(sorted(counts.items()))}), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--seconds", type=float, default=120, help="of processor time of each form, at least"
    )
    parser.add_argument("--cases", type=int, default=0, help="of each form, at least")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--drive", nargs=2, metavar=("LIBRARY", "BITS"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.drive:
        warnings.simplefilter("ignore")
        library, bits = arguments.drive
        least = {"seconds": arguments.seconds, "cases": arguments.cases}
        drive(Path(library), int(bits), arguments.seed, **least)
        return
    if shutil.which("gcc") is None:
        sys.exit("gcc must be installed: the sanitizers are its. Got none; install gcc.")
    options = ["--seconds", str(arguments.seconds), "--seed", str(arguments.seed)]
    with tempfile.TemporaryDirectory() as folder:
        library = sanitized_library(Path(folder))
        for bits in FORMS:
            command = [sys.executable, __file__, *options, "--drive", str(library), str(bits)]
            if status := subprocess.run(command, env=environment()).returncode:
                sys.exit(f"vectors of {bits} bits: ended with {status}")


if __name__ == "__main__":
    main()
