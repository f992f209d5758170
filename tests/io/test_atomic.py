"""Files appear whole or not at all."""

import os
import stat

import pytest

from eigencut.io.atomic import PART, check_replaceable, replacing


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_file_appears_when_it_is_complete(tmp_path):
    target = tmp_path / "a.csv"
    with replacing(target) as file:
        file.write(b"new")
        (part,) = names(tmp_path)
        assert part.startswith(".a.csv.") and part.endswith(PART)
    assert names(tmp_path) == ["a.csv"] and target.read_bytes() == b"new"


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, error):
    target = tmp_path / "a.csv"
    target.write_bytes(b"old")
    with pytest.raises(error), replacing(target) as file:
        file.write(b"new")
        raise error
    assert names(tmp_path) == ["a.csv"] and target.read_bytes() == b"old"


def test_a_link_stays_and_permissions_are_kept(tmp_path):
    target, link = tmp_path / "a", tmp_path / "b"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    with replacing(link) as file:
        file.write(b"new")
    assert link.is_symlink() and target.read_bytes() == b"new"
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_new_file_heeds_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        with replacing(tmp_path / "a") as file:
            file.write(b"x")
    finally:
        os.umask(old)
    assert stat.S_IMODE((tmp_path / "a").stat().st_mode) == 0o640


def test_a_device_is_written_to_and_not_replaced(tmp_path):
    """As root, renaming a file onto /dev/null would break the machine."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with replacing(pipe) as file:
        file.write(b"through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode) and names(tmp_path) == ["pipe"]


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError), replacing(tmp_path / "no" / "a"):
        pass


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o400])
def test_a_part_has_the_permissions_of_what_it_replaces_from_its_first_byte(tmp_path, mode):
    target = tmp_path / "a"
    target.write_bytes(b"old")
    target.chmod(mode)
    with replacing(target) as file:
        (part,) = tmp_path.glob(f"*{PART}")
        assert stat.S_IMODE(part.stat().st_mode) == mode and part.stat().st_size == 0
        file.write(b"new")
    assert stat.S_IMODE(target.stat().st_mode) == mode and target.read_bytes() == b"new"


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(tmp_path):
    target = tmp_path / "a"
    target.write_bytes(b"old")
    os.chown(target, 65534, 65533)
    target.chmod(0o640)
    with replacing(target) as file:
        file.write(b"new")
    found = target.stat()
    assert (found.st_uid, found.st_gid, stat.S_IMODE(found.st_mode)) == (65534, 65533, 0o640)


def test_another_group_does_not_get_the_permissions_of_the_old_one(tmp_path, monkeypatch):
    target = tmp_path / "a"
    target.write_bytes(b"old")
    target.chmod(0o664)

    def refused(*args):
        raise PermissionError

    monkeypatch.setattr(os, "fchown", refused)
    status = os.stat

    def other_group(path, **options):
        found = status(path, **options)
        fields = list(found)
        fields[5] += 1
        return os.stat_result(fields)

    monkeypatch.setattr("eigencut.io.atomic.Path.stat", other_group)
    with replacing(target) as file:
        file.write(b"new")
    monkeypatch.undo()
    assert stat.S_IMODE(target.stat().st_mode) == 0o604


@pytest.mark.parametrize("letter", ["x", "é", "日"])
def test_every_name_that_the_system_allows(tmp_path, letter):
    for length in range(235, 256):
        name = letter * (length // len(letter.encode()))
        name += "_" * (length - len(name.encode()))
        assert len(os.fsencode(name)) == length
        with replacing(tmp_path / name) as file:
            file.write(b"x")
        assert names(tmp_path) == [name]
        (tmp_path / name).unlink()


def test_what_cannot_be_written_is_known_before(tmp_path):
    (tmp_path / "old").write_bytes(b"old")
    for name, error in (
        ("no/a", FileNotFoundError),
        ("old/a", NotADirectoryError),
        (".", IsADirectoryError),
        ("x" * 256, OSError),
    ):
        with pytest.raises(error) as caught:
            check_replaceable(tmp_path / name)
        assert caught.value.filename == os.fspath(tmp_path / name)
    check_replaceable(tmp_path / "new")
    check_replaceable(tmp_path / "old")
    check_replaceable("/dev/null")
    assert names(tmp_path) == ["old"] and (tmp_path / "old").read_bytes() == b"old"
