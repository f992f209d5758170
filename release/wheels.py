"""Builds everything a release consists of: the source archive, and from it a wheel per platform.

    make wheels            # into dist/

One C compiler makes them all, from any machine: zig's, which is a package. It links with the oldest
glibc that a tag promises, so a wheel needs no compiler and no container. The library is loaded
by ctypes and knows nothing of Python, so there is one wheel for all versions of Python; the last
wheel has no library and runs anywhere, with numpy's kernels.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
CONSTRAINTS = ROOT / "constraints.txt"
# What pip calls a platform, and what zig calls it.
PLATFORMS = {
    "manylinux2014_x86_64": "x86_64-linux-gnu.2.17",
    "manylinux2014_aarch64": "aarch64-linux-gnu.2.17",
    "musllinux_1_2_x86_64": "x86_64-linux-musl",
    "musllinux_1_2_aarch64": "aarch64-linux-musl",
    "macosx_10_15_x86_64": "x86_64-macos.10.15",
    "macosx_11_0_arm64": "aarch64-macos.11.0",
    "any": None,
}


def built(what: str, source: Path, folder: Path, **variables: str) -> Path:
    """What ``python -m build`` makes of a source tree: an archive or a wheel, in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    before = set(folder.iterdir())
    environment = os.environ | {"PIP_CONSTRAINT": str(CONSTRAINTS)} | variables
    command = [sys.executable, "-m", "build", f"--{what}", "--outdir", str(folder), str(source)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{shlex.join(command)}\n{done.stdout}{done.stderr}")
    [made] = set(folder.iterdir()) - before
    return made


def wheel_for(platform: str, source: Path, folder: Path) -> Path:
    """The wheel of one platform; that of any platform has no compiled kernels."""
    target = PLATFORMS[platform]
    if target is None:
        return built("wheel", source, folder, EIGENCUT_NATIVE="0")
    zig = [sys.executable, "-m", "ziglang", "cc", "-target", target]
    return built("wheel", source, folder, CC=shlex.join(zig), EIGENCUT_PLATFORM=platform)


def unpacked(archive: Path, folder: Path) -> Path:
    """The sources of the archive: a file that is missing there is missing in every wheel."""
    shutil.unpack_archive(archive, folder, filter="data")
    [source] = folder.iterdir()
    return source


def main() -> None:
    parser = argparse.ArgumentParser(description="Build the source archive and the wheels.")
    parser.add_argument("--folder", type=Path, default=ROOT / "dist")
    parser.add_argument("--only", nargs="+", choices=sorted(PLATFORMS), default=sorted(PLATFORMS))
    arguments = parser.parse_args()
    for old in [*arguments.folder.glob("*.whl"), *arguments.folder.glob("*.tar.gz")]:
        old.unlink()
    archive = built("sdist", ROOT, arguments.folder)
    work = arguments.folder / "sources"
    shutil.rmtree(work, ignore_errors=True)
    source = unpacked(archive, work)
    made = [archive, *(wheel_for(each, source, arguments.folder) for each in arguments.only)]
    shutil.rmtree(work)
    for each in made:
        print(f"{each.name:60} {each.stat().st_size / 1000:7.0f} kB")


if __name__ == "__main__":
    main()
