"""Compile the kernels in C when a wheel is built, if there is a compiler; else do without."""

from __future__ import annotations

import os
import platform
import runpy
import shutil
import subprocess
import sysconfig
import tempfile
from itertools import product
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src/eigencut/kernels")
FLAGS = ("-std=gnu11", "-O3", "-fPIC")
PLAIN = ("dispatch", "near_in_cells", "membership_sums", "neighbor_sums")
SUMS = ("-DREAL=float", "-DREAL_BITS=32")
# Chosen among at run time, by dispatch.c: the wheel runs on any processor of its kind.
X86 = {
    "avx512": ("-mavx512f", "-mfma", "-mprefer-vector-width=512"),
    "avx2": ("-mavx2", "-mfma"),
}


class Compile(BuildHookInterface):
    """Adds ``kernels.so`` to the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root) / FOLDER
        library = folder / "kernels.so"
        library.unlink(missing_ok=True)
        compiler = os.environ.get("CC") or shutil.which("cc")
        if compiler is None or platform.system() == "Windows":
            return
        try:
            compile_kernels(compiler, folder, library)
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"The kernels were not compiled ({error}); using numpy.")
            return
        build_data["artifacts"].append(str(FOLDER / library.name))
        build_data["pure_python"] = False
        where = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{where}"


def compile_kernels(compiler: str, folder: Path, library: Path) -> None:
    """One object per kernel and kind of processor, in one library that appears when complete."""
    x86 = X86 if platform.machine() in ("x86_64", "AMD64") else {}
    abi = runpy.run_path(str(folder / "abi.py"))["abi_of"](folder / "csrc")
    sources = [(f"{name}.c", name, (f"-DABI={abi}u",)) for name in PLAIN]
    for kind, flags in ({"plain": ()} | x86).items():
        sources.append(("weighted_sums.c", f"weighted_sums_{kind}", (*SUMS, *flags)))
    for kernel, (kind, flags) in product(("symmetric_product", "near_points"), x86.items()):
        sources.append((f"{kernel}.c", f"{kernel}_{kind}", flags))
    with tempfile.TemporaryDirectory(dir=folder) as work:
        objects = []
        for source, name, flags in sources:
            objects.append(str(Path(work) / f"{name}.o"))
            what = (f"-DNAME={name}", *flags, str(folder / "csrc" / source), "-o", objects[-1])
            subprocess.run([compiler, *FLAGS, "-c", *what], check=True)
        unfinished = Path(work) / library.name
        link = [compiler, "-shared", *objects, "-lm", "-o", str(unfinished)]
        subprocess.run(link, check=True)
        unfinished.replace(library)
