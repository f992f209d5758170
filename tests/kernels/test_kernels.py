"""Both builds against plain formulas; what is refused before it is called."""

import ctypes
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import eigencut.kernels
from eigencut._utils.running import for_each
from eigencut.kernels import LIBRARY, NativeKernels, WeightedSums, load, native_kernels
from eigencut.kernels.compiling import abi_of
from eigencut.kernels.numpy_kernels import (
    LAYOUT,
    SOURCES,
    Grid,
    NumpyKernels,
    aligned_empty,
    padded,
)

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


@pytest.fixture
def library():
    found = load(LIBRARY)
    if found is None:
        pytest.skip("the kernels in C were not compiled here")
    return found


@pytest.mark.parametrize("n_columns", [1, 2, 5, 6, 7, 11, 12, 13, 25])
@pytest.mark.parametrize(("m", "n", "p"), [(1, 1, 3), (33, 59, 4), (200, 1100, 18), (5, 61, 66)])
def test_sums_are_those_of_the_formula(kernels, m, n, p, n_columns):
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((m, p)), -rng.random((n, p))
    left = np.abs(left) * rng.choice([0.01, 1.0, 20.0], size=(m, 1))  # some weights underflow
    columns = rng.uniform(-1, 1, (n, n_columns))
    weights = np.exp(left @ right.T)
    assert (weights < 1e-45).any() or n < 1000
    sums = kernels.weighted_sums_of(right, np.asfortranarray(columns))
    found = sums(np.asfortranarray(left))
    exponents = np.abs(left) @ np.abs(right).T
    bound = weights * np.expm1((p + 3) * 2.0**-24 * exponents) + 600 * 2.0**-24 * weights + 1e-37
    assert (np.abs(found - weights @ columns) <= bound @ np.abs(columns)).all()


# ------------------------------------------------------------------ which build


def chosen_with(**environment):
    question = "from eigencut import kernels; print(kernels.chosen.name)"
    command, env = [sys.executable, "-c", question], os.environ | environment
    return subprocess.run(command, env=env, capture_output=True, text=True).stdout.strip()


def test_the_environment_switches_the_kernels_in_c_off():
    assert chosen_with(EIGENCUT_NATIVE="0") == "numpy"


@needs_compiler
def test_installing_where_there_is_a_compiler_compiles_the_kernels():
    assert chosen_with(EIGENCUT_NATIVE="1") == "native"


def test_a_processor_without_wide_vectors_has_the_other_kernels(library, monkeypatch):
    monkeypatch.setattr(library, "has_wide_vectors", lambda: 0)
    monkeypatch.setattr(eigencut.kernels, "load", lambda path: library)
    build = native_kernels()
    assert type(build) is NativeKernels
    for name in ("near_points", "queries_at_a_time", "search_bytes", "symmetric_product"):
        assert getattr(NativeKernels, name) is getattr(NumpyKernels, name)


def test_nobody_else_asks_which_build_it_is():
    source = Path(eigencut.__file__).parent
    asked = re.compile(r"NativeKernels|native_kernels|chosen\.name")
    for path in source.rglob("*.py"):
        if path.parent.name != "kernels":
            assert not asked.search(path.read_text(encoding="utf-8")), path


# ------------------------------------------------------------ a stale library


def compiled(folder, source):
    code, path = folder / "library.c", folder / "library.so"
    code.write_text(source, encoding="utf-8")
    subprocess.run(["cc", "-shared", "-fPIC", str(code), "-o", str(path)], check=True)
    return path


@needs_compiler
def test_a_library_of_these_sources_is_loaded(tmp_path):
    path = compiled(tmp_path, f"const unsigned eigencut_abi = {abi_of(SOURCES)}u;")
    assert isinstance(load(path), ctypes.CDLL)


@needs_compiler
@pytest.mark.parametrize(
    ("source", "reason"),
    [
        (f"const unsigned eigencut_abi = {abi_of(SOURCES) ^ 1}u;", "compiled from other sources"),
        ("int weighted_sums(void) { return 0; }", "cannot be loaded .*eigencut_abi"),
    ],
)
def test_a_stale_library_is_refused_with_its_remedy(tmp_path, source, reason):
    path = compiled(tmp_path, source)
    with pytest.warns(RuntimeWarning, match=f"{reason}.*numpy are used; reinstall eigencut.*pip"):
        assert native_kernels(path) is None


def test_what_is_no_library_is_refused(tmp_path):
    path = tmp_path / "kernels.so"
    path.write_bytes(b"of another machine")
    with pytest.warns(RuntimeWarning, match="cannot be loaded"):
        assert native_kernels(path) is None
    assert native_kernels(tmp_path / "missing.so") is None


def test_every_change_of_the_sources_changes_the_number(tmp_path):
    folder = tmp_path / "csrc"
    shutil.copytree(SOURCES, folder)
    assert abi_of(folder) == abi_of(SOURCES)
    header = folder / "kernels.h"
    header.write_text(header.read_text().replace(f"STRIP {LAYOUT.strip}", "STRIP 64"))
    assert abi_of(folder) != abi_of(SOURCES)


# --------------------------------------------------------- arguments in C


def floats(*shape, dtype="float32"):
    return np.zeros(shape, dtype=dtype)


@pytest.mark.parametrize(
    ("left", "right", "V", "message"),
    [
        (floats(2, 3), floats(60, 4), floats(60, 1), r"right must be of shape \(n, p\) with p = 3"),
        (floats(2, 3), floats(60, 3), floats(59, 1), r"V must be of shape .* with n = 60"),
        (floats(2, 3), floats(61, 3), floats(61, 1), "right must have a multiple of 60 rows"),
        (floats(3), floats(60, 3), floats(60, 1), "left must have 2 axes"),
        (floats(2, 3, dtype="float64"), floats(60, 3), floats(60, 1), "data type float32"),
        (floats(3, 2).T, floats(60, 3), floats(60, 1), "C_CONTIGUOUS"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(library, left, right, V, message):
    with pytest.raises((ValueError, TypeError), match=message):
        WeightedSums(library)(left, right, V)


def test_what_cannot_be_written_is_refused(library):
    units = np.zeros((2, 2), dtype=np.int64)
    given = np.array([[0, 1]]), np.array([[0.5, 0.5]]), 0.25
    NativeKernels(library).add_membership_sums(*given, units)
    assert units.tolist() == [[1, 0], [1, 1]]
    units.flags.writeable = False
    with pytest.raises(TypeError, match="WRITEABLE"):
        NativeKernels(library).add_membership_sums(*given, units)


def test_numbers_that_do_not_fit_are_refused(library):
    build = native_kernels()
    if type(build) is NativeKernels:
        pytest.skip("there are no wide vectors here")
    tiles, places = np.ones((3, 4, 4)), np.array([[0, 0], [0, 1], [1, 1]])
    with pytest.raises(ValueError, match=r"places must be of 1 strips, as V\. Got 1"):
        build.symmetric_product(tiles, places, np.ones((4, 2)), for_each)
    strips = aligned_empty((2, 3, LAYOUT.strip))
    strips[:] = 0.0
    given = np.array([0, 1], dtype=np.int32), floats(5)
    with pytest.raises(ValueError, match=r"k must be from 1 to most = 4\. Got 5"):
        build.near_points(floats(5, 3), strips, *given, 5, 4)
    off = aligned_empty((LAYOUT.strip * 6 + 1,))[1:].reshape(2, 3, LAYOUT.strip)
    with pytest.raises(ValueError, match="strips must have a multiple of 64 bytes before them"):
        build.near_points(floats(5, 3), off, *given, 1, 4)
    grid = Grid(floats(2), floats(2), floats(2), floats(1, 12), floats(1), floats(20, 2))
    with pytest.raises(ValueError, match=r"n_nearest must be at most 12\. Got 13"):
        build.near_in_cells(floats(5, 2), grid, 13)


def test_padding_adds_zeros_only():
    array = np.arange(6.0).reshape(2, 3, order="F")
    found = padded(array, rows=4, columns=2)
    assert found.shape == (4, 4) and found.flags.c_contiguous and found.sum() == array.sum()
    assert (found[:2, :3] == array).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_near_points_take_queries_of_any_order(kernels, order):
    rng = np.random.default_rng(0)
    left = np.asarray(rng.standard_normal((9, 4)), dtype=np.float32, order=order)
    strips = aligned_empty((3, 4, LAYOUT.strip))
    strips[:] = rng.standard_normal(strips.shape)
    visits, slack = np.arange(3, dtype=np.int32), np.full(9, 1e-3, dtype=np.float32)
    places, counts = kernels.near_points(left, strips, visits, slack, 5, 40)
    scores = left @ strips.transpose(1, 0, 2).reshape(4, -1)
    for i, nearest in enumerate(np.argsort(scores, axis=1)[:, :5]):
        assert set(nearest) <= set(places[i, : counts[i]])


def test_products_too_large_for_a_sum_add_nothing(library):
    """Conversions beyond 64 bits are undefined in C: the sanitizers stop there."""
    units = np.zeros((2, 2), dtype=np.int64)
    nearest, weights = np.array([[0, 1], [0, 1]]), np.array([[1e200, 2.0], [np.nan, 1.0]])
    NativeKernels(library).add_membership_sums(nearest, weights, 0.5, units)
    assert units.tolist() == [[0, 0], [0, 10]]


def graph_of_points(n=60, d=LAYOUT.coordinates, g=4, seed=0):
    """Points, for each some others, and queries that start with some."""
    rng = np.random.default_rng(seed)
    points, rows = ((np.round(4 * rng.normal(size=(m, d))) / 4).astype(np.float32) for m in (n, 9))
    graph = rng.integers(-1, n + 1, size=(n, g)).astype(np.intc)  # n and -1 are no points
    return rows, points, graph, rng.integers(-1, n, size=(9, 3)).astype(np.intc)


@pytest.mark.parametrize("d", [LAYOUT.coordinates, 3 * LAYOUT.coordinates])
def test_a_graph_is_searched_as_by_definition(kernels, d):
    rows, points, graph, starts = graph_of_points(d=d)
    found = kernels.near_in_graph(rows, points, graph, starts, 7, expanded=5, rounds=3)
    squared = np.square(rows[:, np.newaxis] - points).sum(axis=2)  # exact
    for row, start, own in zip(squared, starts, found, strict=True):
        met = {i for i in start.tolist() if i >= 0}
        for _ in range(3):
            kept = sorted(met, key=lambda i: (row[i], i))[:7]
            near = graph[kept[:5]].ravel().tolist()
            met = {*kept, *(i for i in near if 0 <= i < len(points))}
        kept = sorted(met, key=lambda i: (row[i], i))[:7]
        assert own.tolist() == kept + [-1] * (7 - len(kept))


def test_columns_of_a_searched_graph_are_padded(library):
    rows, points, graph, starts = graph_of_points(d=5)
    with pytest.raises(ValueError, match=r"points must have a multiple of 16 columns\. Got 5"):
        NativeKernels(library).near_in_graph(rows, points, graph, starts, 3, expanded=2, rounds=1)
