"""Weighted sums in single precision: numpy and C against the plain formula."""

import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from eigencut.kernels import native
from eigencut.kernels.sums import NativeSums, NumpySums

needs_kernel = pytest.mark.skipif(
    native.library() is None, reason="the kernel in C was not compiled here"
)


def native_sums(right, columns):
    return NativeSums(right, columns, native.library())


@pytest.mark.parametrize("way", [NumpySums, pytest.param(native_sums, marks=needs_kernel)])
@pytest.mark.parametrize("n_columns", [1, 2, 5, 6, 7, 11, 12, 13, 25])
@pytest.mark.parametrize(("m", "n", "p"), [(1, 1, 3), (33, 59, 4), (200, 1100, 18), (5, 61, 66)])
def test_sums_are_those_of_the_formula(way, m, n, p, n_columns):
    rng = np.random.default_rng(0)
    left, right = rng.standard_normal((m, p)), -rng.random((n, p))
    left = np.abs(left) * rng.choice([0.01, 1.0, 20.0], size=(m, 1))  # some weights underflow
    columns = rng.uniform(-1, 1, (n, n_columns))
    weights = np.exp(left @ right.T)
    assert (weights < 1e-45).any() or n < 1000
    found = way(right, np.asfortranarray(columns))(np.asfortranarray(left))
    exponents = np.abs(left) @ np.abs(right).T
    bound = weights * np.expm1((p + 3) * 2.0**-24 * exponents) + 600 * 2.0**-24 * weights + 1e-37
    assert (np.abs(found - weights @ columns) <= bound @ np.abs(columns)).all()


@needs_kernel
def test_the_environment_switches_the_kernel_off():
    question = "from eigencut.kernels import native; print(native.library() is None)"
    environment = {**os.environ, "EIGENCUT_NATIVE": "0"}
    answer = subprocess.run(
        [sys.executable, "-c", question], env=environment, capture_output=True, text=True
    )
    assert answer.stdout.strip() == "True"


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_installing_where_there_is_a_compiler_compiles_the_kernel():
    assert native.library() is not None
