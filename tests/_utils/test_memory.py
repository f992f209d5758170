"""Memory limits: what may be said, and what the machine and its control groups leave."""

import math

import pytest

from eigencut._utils import memory
from eigencut._utils.memory import available_bytes, in_words, parse_bytes


@pytest.mark.parametrize(
    ("text", "n_bytes"),
    [
        (None, None),
        (1, 1),
        (2.5e9, 2.5e9),
        ("7", 7),
        ("4GB", 4e9),
        ("4 gb", 4e9),
        (" 1.5TiB ", 1.5 * 2**40),
        ("12kB", 12e3),
        ("12K", 12e3),
        ("3MiB", 3 * 2**20),
    ],
)
def test_limits_are_numbers_or_text_with_a_unit(text, n_bytes):
    assert parse_bytes(text) == n_bytes


@pytest.mark.parametrize(
    "wrong",
    [
        *("", "GB", "four", "4 giga", "-4GB", "1e9", "0", "0GB", "4GBs", "4iB"),
        *(0, -1, math.nan, math.inf, True, b"4GB", [4]),
    ],
)
def test_other_limits_are_refused(wrong):
    with pytest.raises(ValueError) as error:
        parse_bytes(wrong)
    assert str(error.value) == (
        "memory_limit must be a positive number of bytes, or a text such as '4GB'. "
        f"Got {wrong!r}; use None for what the machine has."
    )


def test_sizes_are_said_in_the_unit_that_fits():
    sizes = [999, 1e3, 9.94e5, 1e7, 1.26e9, 2e12]
    assert [in_words(size) for size in sizes] == [
        "999 bytes",
        "1.0 KB",
        "994 KB",
        "10 MB",
        "1.3 GB",
        "2.0 TB",
    ]


def machine(monkeypatch, folder, *, own_group, groups, meminfo="MemAvailable:  4000 kB\n"):
    """A machine whose system files are these."""
    for name, text in {"meminfo": meminfo, "own": own_group, **groups}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    for name, file in (("MACHINE", "meminfo"), ("OWN_GROUP", "own"), ("GROUPS", "groups")):
        monkeypatch.setattr(memory, name, folder / file)


def test_available_is_what_the_system_says(monkeypatch, tmp_path):
    machine(monkeypatch, tmp_path, own_group="0::/\n", groups={})
    assert available_bytes() == 4000 * 1024


def test_a_container_leaves_less(monkeypatch, tmp_path):
    groups = {
        "groups/job/memory.max": "1000000\n",
        "groups/job/memory.current": "700000\n",
        "groups/job/memory.stat": "anon 1\ninactive_file 200000\nactive_file 5\n",
        "groups/job/step/memory.max": "max\n",
        "groups/job/step/memory.current": "600000\n",
    }
    machine(monkeypatch, tmp_path, own_group="0::/job/step\n", groups=groups)
    assert available_bytes() == 1_000_000 - 700_000 + 200_000


def test_without_such_files_nothing_is_known(monkeypatch, tmp_path):
    machine(monkeypatch, tmp_path, own_group="", groups={}, meminfo="")
    monkeypatch.delattr("os.sysconf", raising=False)
    assert available_bytes() == math.inf
