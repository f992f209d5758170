"""The format of model files: a JSON header, and arrays that can be mapped into memory.

    offset  bytes  content
    0       8      b"EIGENCUT"
    8       4      version of the format, little-endian like all numbers
    12      8      length of the header
    20      32     SHA-256 of the 20 bytes before and the header
    52      ...    the header, JSON in UTF-8: {"arrays": [...], "content": {...}}
    ...     ...    arrays, each at a multiple of 64 bytes, zeros between

An entry of "arrays" has the name, dtype, shape, order ("C": rows one after the other, or "F":
columns; kept because rounding in products depends on it), offset and SHA-256. ``_check_places``
compares offsets, shapes and the size of the file before arrays are read or allocated. Loading runs
no code from the file. This module knows nothing about models (see ``io.state_reader``).
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
import stat
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal

from eigencut.exceptions import ModelFileError, invalid
from eigencut.io.atomic import replacing

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Format 1 lacks cluster numbers with gaps, and the sums from which ``update`` changes landmarks.
VERSION = 2
ITEM_SIZES = {"<f8": 8, "<f4": 4, "<i8": 8, "<i4": 4, "|u1": 1}

Order = Literal["C", "F"]  # rows one after the other, or columns

_MAGIC = b"EIGENCUT"
_PREAMBLE = struct.Struct("<8sIQ")
_DIGEST = 32
_ALIGNMENT = 64
_LONGEST_HEADER = 8 << 20
_NAME = re.compile(r"[a-z_]{1,40}(\.[a-z_]{1,40}){0,9}")
_MOST_DIMENSIONS = 4


@dataclass(frozen=True)
class Entry:
    """The description of an array in the header: its type, shape, place and checksum."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    order: Order
    offset: int
    sha256: str

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * ITEM_SIZES[self.dtype]

    @property
    def end(self) -> int:
        return self.offset + self.n_bytes


@dataclass(frozen=True)
class Header:
    """The header of a file, and sizes."""

    version: int  # of the format
    content: dict[str, Any]
    entries: tuple[Entry, ...]
    end: int  # the offset at which the header ends
    size: int  # of the file, in bytes


def write(
    path: str | os.PathLike[str], content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]
) -> None:
    """Write a model file, which appears at ``path`` only when it is complete."""
    import numpy as np

    entries: list[Entry] = []
    raw: list[memoryview] = []
    for name, array in arrays.items():
        order: Order = "F" if array.flags.fnc else "C"
        stored = np.asarray(array, array.dtype.newbyteorder("<"), order=order)
        raw.append(_bytes(stored))
        digest = hashlib.sha256(raw[-1]).hexdigest()
        entries.append(Entry(name, stored.dtype.str, stored.shape, order, 0, digest))
    header = _header(content, entries)
    end = _PREAMBLE.size + _DIGEST + len(header)
    _check_places(tuple(_entry(asdict(entry)) for entry in entries), end)
    preamble = _PREAMBLE.pack(_MAGIC, VERSION, len(header))
    with replacing(path) as file:
        file.write(preamble + hashlib.sha256(preamble + header).digest() + header)
        for entry, buffer in zip(entries, raw, strict=True):
            file.write(bytes(entry.offset - end))
            file.write(buffer)
            end = entry.end


def _header(content: Mapping[str, Any], entries: list[Entry]) -> bytes:
    """Set the offsets of the arrays, and return the header, whose own length shifts them."""
    length, header = -1, b""
    while len(header) != length:
        length = len(header)
        end = _PREAMBLE.size + _DIGEST + length
        for i, entry in enumerate(entries):
            entries[i] = replace(entry, offset=_aligned(end))
            end = entries[i].end
        text = json.dumps(
            {"content": content, "arrays": [asdict(entry) for entry in entries]},
            ensure_ascii=False,
            allow_nan=False,
            sort_keys=True,
            separators=(",", ":"),
        )
        header = text.encode("utf-8")
    if length > _LONGEST_HEADER:
        expected, remedy = f"fit into {_LONGEST_HEADER} bytes", "use shorter names of columns"
        raise invalid("The names and parameters of the model", expected, length, remedy)
    return header


def _aligned(offset: int) -> int:
    return offset + -offset % _ALIGNMENT


def _bytes(array: NDArray[Any]) -> memoryview:
    """Return the bytes of a contiguous array in C or Fortran order, without a copy."""
    return array.reshape(-1, order="A").data.cast("B")


def read_header(path: str | os.PathLike[str]) -> Header:
    """Return the header; arrays are neither read nor verified."""
    with _opened(path) as file:
        return _read_header(file)


def read(
    path: str | os.PathLike[str], *, mmap: bool = False
) -> tuple[Header, dict[str, NDArray[Any]]]:
    """Return the header and the arrays, after all checks; raise ``ModelFileError`` if one fails."""
    import numpy as np

    with _opened(path) as file:
        header = _read_header(file)
        arrays: dict[str, NDArray[Any]] = {}
        end = header.end
        for entry in header.entries:
            file.seek(end)
            if any(file.read(entry.offset - end)):
                raise ModelFileError("it is damaged between its arrays.")
            end = entry.end
            array: NDArray[Any]
            if mmap:
                mapped = np.memmap(file, entry.dtype, "r", entry.offset, entry.shape, entry.order)
                array = np.asarray(mapped)
            else:
                array = np.empty(entry.shape, entry.dtype, entry.order)
                if file.readinto(_bytes(array)) != entry.n_bytes:  # type: ignore[attr-defined]
                    raise ModelFileError("it was cut off while it was read.")
                array.flags.writeable = False
            if hashlib.sha256(_bytes(array)).hexdigest() != entry.sha256:
                raise ModelFileError(f"the array {entry.name} is damaged (its SHA-256 differs).")
            arrays[entry.name] = array
        return header, arrays


@contextmanager
def _opened(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Open a model file; errors that are raised inside get the path in front of their text."""
    path = Path(path)
    if not stat.S_ISREG(path.stat().st_mode):  # opening a pipe could wait forever
        raise ModelFileError(f"{path} is not a model of eigencut: it is not a file.")
    try:
        with path.open("rb") as file:
            yield file
    except ModelFileError as error:
        raise ModelFileError(f"{path} cannot be loaded: {error}") from error


def _read_header(file: BinaryIO) -> Header:
    size = os.fstat(file.fileno()).st_size
    preamble = file.read(_PREAMBLE.size)
    if preamble[: len(_MAGIC)] != _MAGIC:
        raise ModelFileError("it is not a model saved by eigencut.")
    digest = file.read(_DIGEST)
    if len(preamble) + len(digest) < _PREAMBLE.size + _DIGEST:
        raise ModelFileError("it is cut off.")
    _, version, length = _PREAMBLE.unpack(preamble)
    if not 1 <= version <= VERSION:
        raise ModelFileError(
            f"it has format {version}, and this eigencut reads format {VERSION}. "
            "Upgrade eigencut, or save the model with the version that you have here."
        )
    end = _PREAMBLE.size + _DIGEST + length
    if length > _LONGEST_HEADER or end > size:
        raise ModelFileError(f"it is cut off or damaged (a header of {length} bytes).")
    text = file.read(length)
    if hashlib.sha256(preamble + text).digest() != digest:
        raise ModelFileError("its header is damaged (its SHA-256 differs).")
    try:
        parsed = json.loads(text, parse_constant=int)  # refuses NaN and infinity
        content, described = dict(parsed["content"].items()), parsed["arrays"]
        entries = tuple(_entry(one) for one in described)
    except ModelFileError:
        raise
    except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
        raise ModelFileError("its header is not what eigencut writes.") from error
    _check_places(entries, end, size)
    return Header(version, content, entries, end, size)


def _entry(described: Any) -> Entry:
    entry = Entry(**{field.name: described[field.name] for field in fields(Entry)})
    entry = replace(entry, shape=tuple(entry.shape))
    if not (isinstance(entry.name, str) and _NAME.fullmatch(entry.name)):
        raise ModelFileError(f"an array has the name {str(entry.name)[:60]!r}.")
    if entry.dtype not in ITEM_SIZES:
        raise ModelFileError(
            f"the array {entry.name} has the type {str(entry.dtype)[:20]!r}; "
            f"only {', '.join(ITEM_SIZES)} are known."
        )
    lengths = (*entry.shape, entry.offset)
    is_shape = 1 <= len(entry.shape) <= _MOST_DIMENSIONS and entry.order in ("C", "F")
    if not is_shape or any(type(n) is not int or not 0 < n < 2**60 for n in lengths):
        raise ModelFileError(f"the array {entry.name} has an impossible shape or place.")
    return entry


def _check_places(entries: tuple[Entry, ...], end: int, size: int | None = None) -> None:
    """Raise an error unless the arrays follow each other without gaps up to the end of the file."""
    if len({entry.name for entry in entries}) != len(entries):
        raise ModelFileError("two of its arrays have one name.")
    for entry in entries:
        if entry.offset != _aligned(end):
            raise ModelFileError(f"the array {entry.name} is not where it must be.")
        end = entry.end
        if size is not None and end > size:
            raise ModelFileError(
                f"it is cut off: the array {entry.name} ends at byte {end}, the file at {size}."
            )
    if size is not None and end != size:
        raise ModelFileError(f"it has {size - end} bytes too many.")
