"""How the sources become a library: which compiler, with which options, and what must be told."""

import ctypes
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from eigencut.kernels import NativeKernels, load
from eigencut.kernels.compiling import abi_of, compile_kernels, compiler, machine_of
from eigencut.kernels.numpy_kernels import SOURCES

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def environment(monkeypatch):
    for name in ("CC", "EIGENCUT_NATIVE"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_options_in_cc_are_options(environment):
    """As in a Makefile, CC is a command and not the name of a file."""
    environment.setenv("CC", "gcc -pthread '-DWORDS=two words'")
    assert compiler() == ["gcc", "-pthread", "-DWORDS=two words"]


def test_without_cc_it_is_the_compiler_of_the_system(environment):
    found = shutil.which("cc")
    assert compiler() == (found and [found])
    environment.setenv("CC", "")
    assert compiler() == (found and [found])


def test_nothing_is_compiled_where_kernels_in_c_are_switched_off(environment):
    environment.setenv("EIGENCUT_NATIVE", "0")
    assert compiler() is None


@needs_compiler
def test_a_compiler_with_options_makes_the_library(tmp_path):
    compile_kernels(["cc", "-pthread"], tmp_path / "kernels.so")
    library = load(tmp_path / "kernels.so")
    assert ctypes.c_uint.in_dll(library, "eigencut_abi").value == abi_of(SOURCES)
    sums = NativeKernels(library).weighted_sums_of(np.zeros((7, 3)), np.ones((7, 2)))
    assert sums(np.ones((2, 3))) == pytest.approx(np.full((2, 2), 7.0), rel=1e-6)
    assert [path.name for path in tmp_path.iterdir()] == ["kernels.so"]


@needs_compiler
def test_a_failure_leaves_the_library_that_was_there(tmp_path):
    library = tmp_path / "kernels.so"
    library.write_bytes(b"old")
    with pytest.raises(subprocess.CalledProcessError):
        compile_kernels(["cc", "-no-such-option"], library)
    assert library.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1


HOOK = """
import runpy, sys, types
hatchling = types.ModuleType("interface")
hatchling.BuildHookInterface = object
for name in ("hatchling", "hatchling.builders", "hatchling.builders.hooks",
             "hatchling.builders.hooks.plugin", "hatchling.builders.hooks.plugin.interface"):
    sys.modules[name] = hatchling
hook = runpy.run_path(sys.argv[1])["Compile"]()
hook.root = sys.argv[2]
hook.app = types.SimpleNamespace(display_warning=print)
data = {"artifacts": []}
hook.initialize("standard", data)
print(data["artifacts"])
"""


def built_with(folder, **variables):
    """What the hook of the build does, with nothing of hatchling but its name."""
    kernels = folder / "src" / "eigencut" / "kernels"
    if not kernels.exists():
        skip = shutil.ignore_patterns("*.so", "__pycache__")
        shutil.copytree(ROOT / "src" / "eigencut" / "kernels", kernels, ignore=skip)
    command = [sys.executable, "-c", HOOK, str(ROOT / "hatch_build.py"), str(folder)]
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin"} | variables
    return subprocess.run(command, env=env, capture_output=True, text=True)


@needs_compiler
def test_the_wheel_has_the_kernels_or_the_build_says_why_not(tmp_path):
    done = built_with(tmp_path, CC="cc -pthread")
    assert done.stdout.strip() == "['src/eigencut/kernels/kernels.so']", done.stderr
    done = built_with(tmp_path, CC="no-such-compiler -O2")
    assert (
        done.returncode and "CC must name a C compiler. Got 'no-such-compiler -O2'" in done.stderr
    )
    assert "EIGENCUT_NATIVE=0 to install without" in done.stderr
    done = built_with(tmp_path, CC="no-such-compiler", EIGENCUT_NATIVE="0")
    assert done.stdout.strip() == "[]" and not done.returncode
    assert not list((tmp_path / "src" / "eigencut" / "kernels").glob("*.so"))


@needs_compiler
def test_a_compiler_says_what_it_compiles_for(tmp_path):
    """A cross compiler does not make vectors of this processor for another one."""
    assert machine_of(["cc"]) == platform.machine()
    cross = tmp_path / "cross"
    cross.write_text("#!/bin/sh\necho aarch64-unknown-linux-gnu\n", encoding="utf-8")
    cross.chmod(0o755)
    assert machine_of([str(cross), "-target", "anything"]) == "aarch64"
    assert machine_of([str(tmp_path / "none")]) == platform.machine()
