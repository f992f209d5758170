"""Compile the fused kernel when a wheel is built, if there is a compiler; else do without."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src/eigencut/native")
FLAGS = ("-std=gnu11", "-O3", "-fPIC")
KERNEL = ("-DREAL=float", "-DREAL_BITS=32")
# Chosen among at run time, by dispatch.c: the wheel runs on any processor of its kind.
X86 = {
    "avx512": ("-mavx512f", "-mfma", "-mprefer-vector-width=512"),
    "avx2": ("-mavx2", "-mfma"),
}


class Compile(BuildHookInterface):
    """Adds ``weighted_sums.so`` to the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root) / FOLDER
        library = folder / "weighted_sums.so"
        library.unlink(missing_ok=True)
        compiler = os.environ.get("CC") or shutil.which("cc")
        if compiler is None or platform.system() == "Windows":
            return
        try:
            compile_kernel(compiler, folder, library)
        except (OSError, subprocess.CalledProcessError) as error:
            self.app.display_warning(f"The fused kernel was not compiled ({error}); using numpy.")
            return
        build_data["artifacts"].append(str(FOLDER / library.name))
        build_data["pure_python"] = False
        where = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{where}"


def compile_kernel(compiler: str, folder: Path, library: Path) -> None:
    """One object per kind of processor, linked into one library that appears when complete."""
    kinds = {"plain": (), **(X86 if platform.machine() in ("x86_64", "AMD64") else {})}
    with tempfile.TemporaryDirectory(dir=folder) as work:
        objects = [str(Path(work) / f"{name}.o") for name in ("dispatch", *kinds)]
        run = [compiler, *FLAGS, "-c"]
        subprocess.run([*run, str(folder / "dispatch.c"), "-o", objects[0]], check=True)
        for (kind, flags), target in zip(kinds.items(), objects[1:], strict=True):
            name = f"-DNAME=weighted_sums_{kind}"
            source = str(folder / "weighted_sums.c")
            subprocess.run([*run, *KERNEL, name, *flags, source, "-o", target], check=True)
        unfinished = Path(work) / library.name
        subprocess.run([compiler, "-shared", *objects, "-o", str(unfinished)], check=True)
        unfinished.replace(library)
