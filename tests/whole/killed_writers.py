"""Kills processes that write, at random moments, and fills their disk: what of the file?

    python tests/whole/killed_writers.py --moments 500

A child writes one of two versions of a file over the other, again and again, until it is killed at
once (SIGKILL). Afterwards the file must be one of the two, to the last byte. A disk that is full is
one on which a file may have so many bytes and no more (RLIMIT_FSIZE): then the writer must say so,
the old version stays, and nothing else lies beside it.

Children are forks: they begin at once, and die in the middle of what they do.
"""

import argparse
import json
import os
import random
import resource
import signal
import tempfile
import time
from pathlib import Path

import numpy as np

from eigencut import GPOD, Rows, load
from eigencut.cli import main as command_line
from eigencut.io.atomic import PART


def models(folder):
    """Two models of different sizes, fitted on different rows, and a table to label."""
    rng, found = np.random.default_rng(0), []
    for number, n in enumerate((150, 200)):
        X = rng.normal(size=(n, 3)) + 6 * rng.integers(0, 2, size=(n, 1))
        found.append(GPOD(2, affinity="gaussian", n_jobs=1).fit(X))
        found[-1].save(folder / f"model{number}.eigencut")
    for number, n in enumerate((3000, 4000)):
        table = rng.normal(size=(n, 3))
        np.savetxt(
            folder / f"table{number}.csv", table, "%.6f", ",", header="x1,x2,x3", comments=""
        )
    return found


def writers(folder):
    """For each way to write a file, a function of a path and the number of a version."""
    two = models(folder)
    rows = [np.random.default_rng(1).normal(size=(n, 3)) for n in (20_000, 25_000)]

    def save(path, version):
        two[version].save(path)

    def predict(path, version):
        given = [str(folder / f"{kind}{version}") for kind in ("model", "table")]
        arguments = ["predict", given[0] + ".eigencut", given[1] + ".csv", "-o", str(path)]
        if status := command_line([*arguments, "--quiet"]):
            raise OSError(f"the command line ended with {status}")

    def predict_stream(path, version):
        two[version].predict_stream(Rows.from_array(rows[version]), path)

    def in_place(path, version):
        """What the others must not do: this check sees it."""
        with path.open("wb") as file:
            for _ in range(40):
                file.write(bytes([version]) * 20_000)
                file.flush()

    return {
        "save": (save, "m.eigencut"),
        "predict": (predict, "labels.csv"),
        "predict_stream": (predict_stream, "labels.npy"),
        "in place": (in_place, "bytes"),
    }


def in_child(work):
    """Fork, and do some work there; the parent gets the child's number."""
    child = os.fork()
    if child:
        return child
    try:
        with Path(os.devnull).open("w") as nowhere:
            os.dup2(nowhere.fileno(), 1)
            os.dup2(nowhere.fileno(), 2)
        work()
    except OSError:
        os._exit(3)
    except BaseException:
        os._exit(4)
    os._exit(0)


def versions(write, path):
    """The bytes of both versions, and how long it takes to write them."""
    whole = []
    for version in (0, 1, 0, 1):
        start = time.monotonic()
        write(path, version)
        seconds = time.monotonic() - start
        whole.append(path.read_bytes())
    assert whole[0] == whole[2] != whole[1] == whole[3]
    return whole[:2], seconds


def parts(path):
    return [other for other in path.parent.iterdir() if other.name.endswith(PART)]


def killed(write, path, moments, rng):
    """After how many kills the file was whole, torn, and after how many a part was left."""
    whole, seconds = versions(write, path)
    counts = {"whole": 0, "torn": 0, "interrupted": 0}

    def for_ever():
        while True:
            write(path, 1)
            write(path, 0)

    for _ in range(moments):
        child = in_child(for_ever)
        time.sleep(rng.uniform(0, 3 * seconds))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert os.WIFSIGNALED(status), f"the writer ended by itself, with {status}"
        counts["whole" if path.read_bytes() in whole else "torn"] += 1
        counts["interrupted"] += bool(parts(path))
        for part in parts(path):
            part.unlink()
    return counts


def disk_full(write, path):
    """The same for disks with room for a part of the file."""
    (old, new), _ = versions(write, path)
    counts = {"whole": 0, "torn": 0, "silent": 0}
    for room in (0, 1, len(new) // 3, len(new) - 1):
        path.write_bytes(old)

        def write_new(room=room):
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            write(path, 1)

        _, status = os.waitpid(in_child(write_new), 0)
        is_whole = path.read_bytes() == old and not parts(path)
        counts["whole" if is_whole else "torn"] += 1
        counts["silent"] += os.waitstatus_to_exitcode(status) != 3
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--moments", type=int, default=50, help="of each way to write")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    rng, found = random.Random(arguments.seed), {}
    with tempfile.TemporaryDirectory() as place:
        for name, (write, file) in writers(Path(place)).items():
            folder = Path(place) / name
            folder.mkdir()
            found[name] = {
                "killed": killed(write, folder / file, arguments.moments, rng),
                "disk full": disk_full(write, folder / file),
            }
        load(Path(place) / "save" / "m.eigencut")
    print(json.dumps(found))


if __name__ == "__main__":
    main()
