"""The file format: what was written is read, and nothing else."""

import hashlib
import json
import os
import struct
import tracemalloc
from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from eigencut.exceptions import ModelFileError
from eigencut.io.model_format import VERSION, read, write

ARRAYS = {
    "a": np.arange(6.0).reshape(2, 3),
    "group.columns": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
    "labels": np.array([3, 1, 2]),
}
CONTENT = {"name": "é", "number": 0.1, "nothing": None}


@pytest.fixture
def path(tmp_path):
    write(tmp_path / "x.eigencut", CONTENT, ARRAYS)
    return tmp_path / "x.eigencut"


def forged(path, change):
    """The file with its header changed and its checksum made right, as an attacker would."""
    raw = path.read_bytes()
    length = struct.unpack_from("<Q", raw, 12)[0]
    header, rest = json.loads(raw[52 : 52 + length]), raw[52 + length :]
    changed = change(header)
    compact = json.dumps(header, separators=(",", ":"), ensure_ascii=False).encode()
    text = changed if isinstance(changed, bytes) else compact.ljust(length)
    preamble = struct.pack("<8sIQ", b"EIGENCUT", VERSION, len(text))
    path.write_bytes(preamble + hashlib.sha256(preamble + text).digest() + text + rest)
    return path


@pytest.mark.parametrize("mmap", [False, True])
def test_what_was_written_is_read(path, mmap):
    header, found = read(path, mmap=mmap)
    assert header.content == CONTENT and header.version == VERSION
    assert list(found) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert found[name].dtype == array.dtype and (found[name] == array).all()
        assert found[name].strides == array.strides
        assert not found[name].flags.writeable
    assert all(entry.offset % 64 == 0 for entry in header.entries)


def test_mapped_arrays_are_in_the_file(path):
    _, found = read(path, mmap=True)
    assert isinstance(found["a"].base, np.memmap)


@given(
    st.dictionaries(
        st.from_regex(r"[a-z_]{1,9}(\.[a-z_]{1,9}){0,2}", fullmatch=True),
        st.sampled_from(["<f8", "<f4", "<i8", "<i4"]).flatmap(
            lambda dtype: arrays(dtype, st.tuples(st.integers(1, 5), st.integers(1, 5)))
        ),
        max_size=4,
    )
)
def test_any_arrays(tmp_path_factory, given_arrays):
    path = tmp_path_factory.mktemp("any") / "x"
    write(path, {}, given_arrays)
    _, found = read(path)
    assert {n: a.tobytes() for n, a in found.items()} == {
        n: a.tobytes() for n, a in given_arrays.items()
    }


@pytest.mark.parametrize("reader", [read, partial(read, mmap=True)])
def test_every_single_flipped_byte_is_noticed(path, reader):
    good = path.read_bytes()
    for place in range(len(good)):
        bad = bytearray(good)
        bad[place] ^= 0x40
        path.write_bytes(bad)
        with pytest.raises(ModelFileError):
            reader(path)


@pytest.mark.parametrize("reader", [read, partial(read, mmap=True)])
def test_every_length_but_its_own_is_noticed(path, reader):
    good = path.read_bytes()
    for length in [*range(len(good)), len(good) + 1]:
        path.write_bytes((good + b"\0")[:length])
        with pytest.raises(ModelFileError):
            reader(path)


def entry(header, **changes):
    header["arrays"][0].update(changes)


HOSTILE = {
    "path traversal": (lambda h: entry(h, name="../../etc/passwd"), "name '../../etc/passwd'"),
    "absolute path": (lambda h: entry(h, name="/etc/passwd"), "name '/etc/passwd'"),
    "name no word": (lambda h: entry(h, name=["a"]), "an array has the name"),
    "same name": (lambda h: entry(h, name="labels"), "two of its arrays have one name"),
    "object array": (lambda h: entry(h, dtype="|O"), "has the type '|O'; only <f8"),
    "structured": (lambda h: entry(h, dtype=[["a", "<f8"]]), "header is not what eigencut writes"),
    "strings": (lambda h: entry(h, dtype="<U99999999"), "has the type '<U99999999'"),
    "absurd shape": (lambda h: entry(h, shape=[10**9]) or h["content"].clear(), "it is cut off"),
    "overflow": (lambda h: entry(h, shape=[2**62, 4]), "impossible shape"),
    "negative shape": (lambda h: entry(h, shape=[-1, -6]), "impossible shape"),
    "no dimension": (lambda h: entry(h, shape=[]), "impossible shape"),
    "many dimensions": (lambda h: entry(h, shape=[1] * 60), "impossible shape"),
    "empty": (lambda h: entry(h, shape=[0, 10**15]), "impossible shape"),
    "shape of words": (lambda h: entry(h, shape=["6"]), "impossible shape"),
    "shape of truths": (lambda h: entry(h, shape=[True, 6]), "impossible shape"),
    "order": (lambda h: entry(h, order="A"), "impossible shape"),
    "offset zero": (lambda h: entry(h, offset=0), "impossible shape or place"),
    "offset elsewhere": (lambda h: entry(h, offset=64), "not where it must be"),
    "offset beyond": (lambda h: entry(h, offset=2**50), "not where it must be"),
    "no arrays": (lambda h: h.update(arrays=None), "header is not what eigencut writes"),
    "fewer arrays": (lambda h: h.update(arrays=[]), "bytes too many"),
    "content a list": (lambda h: h.update(content=[]), "header is not what eigencut writes"),
    "content missing": (lambda h: h.pop("content") and None, "header is not what eigencut writes"),
    "no JSON": (lambda h: b"\x80\x04\x95", "header is not what eigencut writes"),
    "not UTF-8": (lambda h: b'{"\xff": 1}', "header is not what eigencut writes"),
    "deep": (lambda h: b"[" * 100_000, "header is not what eigencut writes"),
    "long number": (lambda h: b"1" * 100_000, "header is not what eigencut writes"),
    "not a number": (lambda h: b'{"content": {"a": NaN}}', "header is not what eigencut writes"),
}


@pytest.mark.parametrize(("change", "message"), HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_files_are_refused(path, change, message):
    forged(path, change)
    size = path.stat().st_size
    tracemalloc.start()
    try:
        with pytest.raises(ModelFileError) as caught:
            read(path)
        assert tracemalloc.get_traced_memory()[1] < 5_000_000
    finally:
        tracemalloc.stop()
    assert message in str(caught.value)
    assert str(path) in str(caught.value) and "\n" not in str(caught.value)
    assert path.stat().st_size == size


def test_a_newer_version_is_named(path):
    raw = bytearray(path.read_bytes())
    raw[8] = 9
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match="it has format 9, and this eigencut reads format 2"):
        read(path)


def test_a_header_longer_than_the_file_allocates_nothing(path):
    raw = bytearray(path.read_bytes())
    raw[12:20] = struct.pack("<Q", 2**60)
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match="cut off or damaged"):
        read(path)


def test_what_is_no_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ModelFileError, match="it is not a file"):
            read(path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nothing")


def test_numbers_that_json_cannot_hold(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write(tmp_path / "x", {"a": float("nan")}, {})
    assert not list(tmp_path.iterdir())
