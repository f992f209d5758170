"""Files appear whole or not at all: written beside their place, then renamed onto it."""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PART = ".part"  # ends the name of a file that is not complete


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file to write to, which takes its name only when the block ends without an error.

    Until then it is ``.<name>.<random>.part`` in the same folder, and an error or Ctrl-C removes
    it; what was at ``path`` before stays as it is. Only a process that is killed at once can leave
    such a part behind. Devices and pipes cannot be replaced and are written to directly.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "numbers.txt"
    ...     with replacing(target) as file:
    ...         _ = file.write(b"1 2 3")
    ...         before = target.exists()
    ...     before, target.read_bytes()
    (False, b'1 2 3')
    """
    target = Path(os.path.realpath(path))  # a link keeps pointing to the new file
    part = target.with_name(f".{target.name}.{secrets.token_hex(4)}{PART}")
    with _errors_named(path, target, part):
        mode = _mode(target)
        if mode is not None and not stat.S_ISREG(mode):
            with target.open("wb") as device:
                yield device
            return
        try:  # begins before the part is there: a signal may come in between
            descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
            with os.fdopen(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                part.chmod(stat.S_IMODE(mode))
            part.replace(target)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise


@contextmanager
def _errors_named(path: str | os.PathLike[str], *ours: Path) -> Iterator[None]:
    """Let errors name the file as the user did; those of a write name none at all."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename) in map(str, ours):
            error.filename, error.filename2 = os.fspath(path), None
        raise


def _mode(path: Path) -> int | None:
    try:
        return path.stat().st_mode
    except FileNotFoundError:
        return None
