"""Compile the kernels in C when a wheel is built, if there is a compiler; else do without."""

from __future__ import annotations

import os
import runpy
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FOLDER = Path("src/eigencut/kernels")


class Compile(BuildHookInterface):
    """Adds ``kernels.so`` to the wheel."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        folder = Path(self.root) / FOLDER
        library = folder / "kernels.so"
        library.unlink(missing_ok=True)
        compiling = runpy.run_path(str(folder / "compiling.py"))
        command = compiling["compiler"]()
        if command is None:
            return
        try:
            compiling["compile_kernels"](command, library)
        except (OSError, subprocess.CalledProcessError) as error:
            if os.environ.get("CC"):  # asked for: pip would not show a warning
                raise RuntimeError(
                    f"CC must name a C compiler. Got {os.environ['CC']!r}, which did not compile "
                    f"the kernels ({error}); unset CC to try cc, or set EIGENCUT_NATIVE=0 to "
                    "install without kernels in C."
                ) from error
            self.app.display_warning(f"The kernels were not compiled ({error}); using numpy.")
            return
        build_data["artifacts"].append(str(FOLDER / library.name))
        build_data["pure_python"] = False
        where = os.environ.get("EIGENCUT_PLATFORM") or sysconfig.get_platform()
        build_data["tag"] = f"py3-none-{where.replace('-', '_').replace('.', '_')}"
