"""Write files that appear whole or not at all: written under another name, then renamed."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from eigencut.exceptions import invalid

PART = ".part"  # ends the name of a file that is not complete

_LONGEST_NAME = 255  # bytes, on every file system in use


class FolderError(IsADirectoryError):
    """The error of a path to write to that is a folder."""

    def __str__(self) -> str:
        return str(invalid("path", "name a file", f"{self.filename!r}, a folder", "add a name"))


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a binary file to write to, which gets its name when the block ends without an error.

    Until then it is ``.<name>.<random>.part`` in the same folder, with the permissions of the file
    that it replaces. An error deletes it. Devices and pipes are written to directly.
    """
    with _errors_named(path):
        old = _status(path)
        if old is not None and not stat.S_ISREG(old.st_mode):
            # Do not resolve the path: /dev/stdout may point to a pipe without a name.
            with Path(path).open("wb") as device:
                yield device
            return
    target = Path(os.path.realpath(path))  # a link keeps pointing to the new file
    part = _part_of(target)
    with _errors_named(path, target, part):
        try:  # before the file is created, so that Ctrl-C right after still deletes it
            # Mode 0600 until the file has the permissions of the old one, which may be strict.
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
    """Raise the error that ``replacing`` would raise, before hours of work instead of after."""
    with _errors_named(path):
        old = _status(path)
        if old is not None and not stat.S_ISREG(old.st_mode):
            return  # opening a device or a pipe would already have effects
    target = Path(os.path.realpath(path))
    part = _part_of(target)
    with _errors_named(path, target, part):
        os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
        part.unlink()


def _part_of(target: Path) -> Path:
    """Return a path in the folder of the target with a random, not too long name."""
    ending = f".{secrets.token_hex(4)}{PART}"
    kept = os.fsencode(target.name)[: _LONGEST_NAME - len(ending) - 1]
    return target.with_name(f".{kept.decode('utf-8', 'ignore')}{ending}")


def _take_permissions(descriptor: int, old: os.stat_result) -> None:
    """Give the new file the owner and mode of the old one, as far as the system allows."""
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
            mode &= ~stat.S_IRWXG  # the file keeps another group, which gets no rights
    if os.chmod in os.supports_fd:
        os.chmod(descriptor, mode)


@contextmanager
def _errors_named(path: str | os.PathLike[str], *ours: Path) -> Iterator[None]:
    """Let errors name the file as the user did, not ``ours``; errors of writing name no file."""
    try:
        yield
    except OSError as error:
        if error.filename is None or str(error.filename) in map(str, ours):
            error.filename = os.fspath(path)
            if error.filename2 is not None:  # setting it to None would show "-> None"
                error.filename2 = None
        raise


def _status(path: str | os.PathLike[str]) -> os.stat_result | None:
    """Return the status of the file at a path, or None if there is none."""
    if not isinstance(path, (str, os.PathLike)):
        raise invalid("path", "name a file", repr(path), "use e.g. 'new.file'", TypeError)
    is_folder, status = os.fspath(path).endswith((os.sep, os.altsep or os.sep)), None
    with suppress(FileNotFoundError):
        status = Path(path).stat()
    if is_folder or (status is not None and stat.S_ISDIR(status.st_mode)):
        raise FolderError(errno.EISDIR, os.strerror(errno.EISDIR))
    return status
