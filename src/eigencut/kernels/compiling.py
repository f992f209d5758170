"""Compile the C sources into a library; ``hatch_build.py`` runs this, without numpy installed."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import tempfile
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

FOLDER = Path(__file__).parent
FLAGS = ("-std=gnu11", "-O3", "-fPIC")
PLAIN = ("dispatch", "discrete_cut", "near_in_cells", "membership_sums", "neighbor_sums")
# Other kernels are compiled for these widths of vectors; dispatch.c chooses one at run time.
WIDE = {512: ("-mavx512f", "-mfma", "-mprefer-vector-width=512"), 256: ("-mavx2", "-mfma")}


def compiler() -> list[str] | None:
    """Return the command of ``CC`` with its options, or ``cc``; None if nothing can be compiled."""
    if platform.system() == "Windows" or os.environ.get("EIGENCUT_NATIVE") == "0":
        return None
    given = shlex.split(os.environ.get("CC", ""))
    found = shutil.which("cc")
    return given or (None if found is None else [found])


def compile_kernels(
    command: Sequence[str], library: Path, *, flags: Sequence[str] = (), any_bits: bool = False
) -> None:
    """Compile one object per kernel and width of vectors, and link them into a library.

    ``flags`` are further options. With ``any_bits`` (for sanitizers), the library's variable
    ``vector_bits`` sets the width of vectors; without AVX-512, gcc makes 512 bits of two halves.
    """
    wide = dict(WIDE) if machine_of(command) in ("x86_64", "AMD64") else {}
    if any_bits:
        flags = (*flags, "-DANY_VECTOR_BITS", "-Wno-psabi")
        if wide and not has_avx512():
            wide[512] = WIDE[256]
    sources: list[tuple[str, str, tuple[str, ...]]] = [
        (f"{name}.c", name, (f"-DABI={abi_of(FOLDER / 'csrc')}u",)) for name in PLAIN
    ]
    forms_of = {"symmetric_product": wide, "near_points": wide}
    forms_of |= {name: {128: (), **wide} for name in ("weighted_sums", "near_in_graph")}
    for kernel, forms in forms_of.items():
        for bits, of_processor in forms.items():
            options = ("-DREAL=float", "-DREAL_BITS=32", f"-DVECTOR_BITS={bits}", *of_processor)
            sources.append((f"{kernel}.c", f"{kernel}_{bits}", options))
    with tempfile.TemporaryDirectory(dir=library.parent) as work:

        def compiled(source: str, name: str, options: Sequence[str]) -> str:
            made = str(Path(work) / f"{name}.o")
            what = [f"-DNAME={name}", *options, "-c", str(FOLDER / "csrc" / source), "-o", made]
            subprocess.run([*command, *FLAGS, *flags, *what], check=True)
            return made

        with ThreadPoolExecutor(os.cpu_count()) as pool:
            objects = list(pool.map(compiled, *zip(*sources, strict=True)))
        unfinished = str(Path(work) / library.name)
        linked = [*command, *flags, "-shared", *objects, "-lm", "-o", unfinished]
        subprocess.run(linked, check=True)
        Path(unfinished).replace(library)


def machine_of(command: Sequence[str]) -> str:
    """Return the processor for which a compiler compiles; another one for a cross compiler."""
    try:
        asked = subprocess.run([*command, "-dumpmachine"], capture_output=True, text=True)
    except OSError:
        return platform.machine()
    return asked.stdout.strip().split("-")[0] or platform.machine()


def has_avx512() -> bool:
    """Return whether the processor has AVX-512, as far as Linux reports it; elsewhere False."""
    try:
        return "avx512f" in Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    except OSError:
        return False


def abi_of(folder: Path) -> int:
    """Return the checksum of all C sources in a folder."""
    paths = sorted(folder.glob("*.[ch]"))
    return zlib.crc32(b"".join(path.name.encode() + path.read_bytes() for path in paths))
