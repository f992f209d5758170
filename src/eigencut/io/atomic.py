"""Files appear whole or not at all: written beside their place, then renamed onto it."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

PART = ".part"  # ends the name of a file that is not complete

_LONGEST_NAME = 255  # bytes, on every file system in use
_SEPARATORS = tuple({os.sep, os.altsep or os.sep})


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file to write to, which takes its name only when the block ends without an error.

    Until then it is ``.<name>.<random>.part`` in the same folder, with the permissions of the file
    that it replaces. An error removes it. Devices and pipes are written to directly.
    """
    with _errors_named(path):
        old = _status(path)
        if old is not None and not stat.S_ISREG(old.st_mode):
            # By the name that was given: what /dev/stdout points to may be a pipe without a name.
            with Path(path).open("wb") as device:
                yield device
            return
    target = Path(os.path.realpath(path))  # a link keeps pointing to the new file
    part = _part_of(target)
    with _errors_named(path, target, part):
        try:  # begins before the part is there: Ctrl-C may come in between
            # Nobody else may read it before it has the permissions of the old file.
            descriptor = os.open(
                part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666 if old is None else 0o600
            )
            with os.fdopen(descriptor, "wb") as file:
                if old is not None:
                    _take_permissions(descriptor, old)
                yield file
                file.flush()
                os.fsync(file.fileno())
            part.replace(target)
        except BaseException:
            with suppress(OSError):
                part.unlink()
            raise


def check_replaceable(path: str | os.PathLike[str]) -> None:
    """An error now, where ``replacing`` would have one after hours of work."""
    with _errors_named(path):
        old = _status(path)
        if old is not None and not stat.S_ISREG(old.st_mode):
            if stat.S_ISDIR(old.st_mode):
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            return  # a device or a pipe: to open it would be to use it
    target = Path(os.path.realpath(path))
    part = _part_of(target)
    with _errors_named(path, target, part):
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        part.unlink()


def _part_of(target: Path) -> Path:
    """A name beside the target that nobody has, and that is not too long."""
    ending = f".{secrets.token_hex(4)}{PART}"
    kept = os.fsencode(target.name)[: _LONGEST_NAME - len(ending) - 1]
    return target.with_name(f".{kept.decode('utf-8', 'ignore')}{ending}")


def _take_permissions(descriptor: int, old: os.stat_result) -> None:
    """Owner and mode of the file that is replaced, as far as the system lets us."""
    mode = stat.S_IMODE(old.st_mode)
    if hasattr(os, "fchown"):
        new = os.fstat(descriptor)
        with suppress(OSError):  # only root may give files away
            if new.st_uid != old.st_uid:
                os.fchown(descriptor, old.st_uid, -1)
        try:
            if new.st_gid != old.st_gid:
                os.fchown(descriptor, -1, old.st_gid)
        except OSError:
            mode &= ~stat.S_IRWXG  # what the old group might do is not for another one
    if os.chmod in os.supports_fd:
        os.chmod(descriptor, mode)


@contextmanager
def _errors_named(path: str | os.PathLike[str], *ours: Path) -> Iterator[None]:
    """Let errors name the file as the user did; those of a write name none at all."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename) in map(str, ours):
            error.filename = os.fspath(path)
            if error.filename2 is not None:  # which would be shown even if it were None
                error.filename2 = None
        raise


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of what is at a path, if anything is."""
    if os.fspath(path).endswith(_SEPARATORS):  # which Path would drop
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    try:
        return Path(path).stat()
    except FileNotFoundError:
        return None
