"""Files appear whole or not at all."""

import os
import stat

import pytest

from eigencut.files.atomic import PART, replacing


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
