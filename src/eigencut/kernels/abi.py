"""The number by which a compiled library is known to be made from the sources beside it.

Only the standard library is imported: ``hatch_build.py`` runs this file before numpy is there.
"""

from __future__ import annotations

import zlib
from pathlib import Path


def abi_of(folder: Path) -> int:
    """The checksum of all C sources in a folder."""
    number = 0
    for path in sorted(folder.glob("*.[ch]")):
        number = zlib.crc32(path.name.encode() + path.read_bytes(), number)
    return number
