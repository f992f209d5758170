"""What a command writes: never onto an input or another output, and looked at before work."""

import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from eigencut import load
from eigencut.cli import main


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """A table and a model of it."""
    folder = tmp_path_factory.mktemp("ready")
    X = np.random.default_rng(0).normal(size=(40, 2)) + 6 * (np.arange(40) % 2)[:, np.newaxis]
    pd.DataFrame(X, columns=["a", "b"]).to_csv(folder / "good.csv", index=False)
    assert main(f"fit {folder}/good.csv -k 2 -o {folder}/m.eigencut".split()) == 0
    return folder


@pytest.fixture(autouse=True)
def here(ready, tmp_path, monkeypatch):
    for path in ready.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


NAMES = ["good.csv", "./good.csv", "link.csv", "hard.csv", "sub/../good.csv", "ABSOLUTE"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    "line",
    [
        "fit good.csv -k 2 -o {}",
        "fit good.csv -k 2 -o new --labels {}",
        "fit link.csv -k 2 -o new --labels {}",
        "fit good.csv -k 2 --landmarks 9 -o new --labels {}",
        "predict m.eigencut good.csv -o {}",
    ],
)
def test_no_command_overwrites_its_input(here, line, name):
    (here / "sub").mkdir()
    (here / "link.csv").symlink_to("good.csv")
    (here / "hard.csv").hardlink_to("good.csv")
    before = contents(here)
    assert main(line.format(str(here / "good.csv") if name == "ABSOLUTE" else name).split()) == 2
    assert contents(here) == before


def test_standard_input_may_be_the_file_that_an_output_names(here, monkeypatch):
    before = contents(here)
    code = "import sys; from eigencut.cli import main; sys.exit(main(sys.argv[1:]))"
    for line in ("fit - -k 2 -o new --labels good.csv", "predict m.eigencut - -o good.csv"):
        with Path("good.csv").open("rb") as file:
            done = subprocess.run(
                [sys.executable, "-c", code, *line.split()], stdin=file, capture_output=True
            )
        assert done.returncode == 2 and b"good.csv is the input" in done.stderr
    assert contents(here) == before


@pytest.mark.parametrize("labels", ["new", "./new", "loop/new"])
def test_two_outputs_are_two_files(here, labels):
    (here / "loop").symlink_to(".")
    assert main(f"fit good.csv -k 2 -o new --labels {labels}".split()) == 2
    assert not (here / "new").exists()


@pytest.mark.parametrize("output", ["none/x", "good.csv/x", "folder", "loop", "x" * 256])
@pytest.mark.parametrize(
    "line",
    [
        "fit good.csv -k 2 -o {}",
        "fit good.csv -k 2 -o new --labels {}",
        "predict m.eigencut good.csv -o {}",
        "export m.eigencut -o {}",
    ],
)
def test_outputs_are_looked_at_before_work_begins(here, monkeypatch, capfd, line, output):
    (here / "folder").mkdir()
    (here / "loop").symlink_to("loop")
    for place in ("cli.tables.open_table", "cli.tables.load_model"):
        monkeypatch.setattr(f"eigencut.{place}", None)  # work begins with these
    before = contents(here) if output != "loop" else None
    assert main(line.format(output).split()) == 1
    said = capfd.readouterr().err
    assert said.startswith(f"eigencut: {output}: ") and "unexpected" not in said
    assert before is None or contents(here) == before


def test_names_as_long_as_the_system_allows(here):
    for length in (240, 241, 250, 255):
        name = "x" * (length - 4) + ".csv"
        assert main(f"predict m.eigencut good.csv -o {name}".split()) == 0
        assert len(pd.read_csv(name)) == 40
        assert main(f"fit good.csv -k 2 -o {name[:-4]}".split()) == 0
        assert load(name[:-4]).columns_ == ["a", "b"]


def shell(line, **streams):
    """A line for bash, with eigencut as a command."""
    script = f'eigencut() {{ "{sys.executable}" -m eigencut "$@"; }}\n{line}'
    done = subprocess.run(["bash", "-c", script], capture_output=True, text=True, **streams)
    return done.returncode, done.stdout, done.stderr


LABELS = ["cluster", *["0", "1"] * 20]


@pytest.mark.parametrize(
    "line",
    [
        "eigencut predict m.eigencut good.csv -o /dev/stdout | cat",
        "eigencut predict m.eigencut good.csv -o /dev/stdout > new.csv; cat new.csv",
        "eigencut predict m.eigencut good.csv -o /dev/fd/1 | cat",
        "eigencut fit good.csv -k 2 -o new --labels /dev/stdout 2> said | cat; wc -l < said >&2",
        "eigencut fit good.csv -k 2 -o new --labels - 2> said | cat",
        "eigencut predict m.eigencut good.csv -o >(cat > out) > said; sleep 1; cat out",
        "cat < good.csv | eigencut predict m.eigencut - | cat",
        "eigencut predict m.eigencut <(cat good.csv) -o /proc/self/fd/1 | cat",
    ],
)
def test_pipes_are_outputs_like_others(here, line):
    """And hold nothing but what was asked for."""
    code, out, _ = shell(line)
    assert code == 0 and out.split() == LABELS


def test_a_model_through_a_pipe(here):
    code, _, _ = shell("eigencut fit good.csv -k 2 -o /dev/stdout | cat > piped; ls -l piped")
    assert code == 0 and load("piped").columns_ == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("eigencut predict m.eigencut - <&-", 1, "Standard input is closed; name a file"),
        ("eigencut predict m.eigencut good.csv >&-", 1, "Standard output is closed; name a file"),
        ("eigencut info m.eigencut >&-", 1, "Standard output is closed"),
        ("eigencut fit good.csv -k 2 -o new >&-", 0, ""),
        ("eigencut predict m.eigencut good.csv -o new.csv <&- >&-", 0, ""),
        ("eigencut info nothing 2>&-", 1, ""),
        ("eigencut fit good.csv -k 2 -o new <&- >&- 2>&-", 0, ""),
    ],
)
def test_streams_that_are_closed(here, line, code, said):
    found, _, err = shell(line)
    assert found == code and "Traceback" not in err and "unexpected" not in err
    assert err.startswith(f"eigencut: {said}") if said else not err
    if "-o new " in line:
        assert load("new").columns_ == ["a", "b"]


def test_letters_that_a_terminal_does_not_have(here, monkeypatch):
    monkeypatch.setenv("PYTHONIOENCODING", "latin-1")
    Path("good.csv").write_text(Path("good.csv").read_text().replace("a,b", "\u0142,b"))
    code, out, err = shell("eigencut fit good.csv -k 2 -o new && eigencut info new")
    assert (code, err) == (0, "") and "\\u0142, b" in out


def test_a_secret_model_stays_secret_while_it_is_written(here, monkeypatch):
    """Its part had the mode of new files until it was complete."""
    Path("m.eigencut").chmod(0o600)
    modes = []
    write = os.fsync

    def seen(descriptor):
        modes.append(stat.S_IMODE(os.fstat(descriptor).st_mode))
        write(descriptor)

    monkeypatch.setattr(os, "fsync", seen)
    assert main(["fit", "good.csv", "-k", "2", "-o", "m.eigencut"]) == 0
    assert modes == [0o600] and stat.S_IMODE(Path("m.eigencut").stat().st_mode) == 0o600


@pytest.mark.skipif(not hasattr(signal, "SIGHUP"), reason="there is no such signal")
def test_a_terminal_that_is_closed_leaves_no_part(here):
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-m", "eigencut", "predict", "m.eigencut", "-", "-o", "new.csv"],
        stdin=reader,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_DFL),  # not as with nohup
    )
    os.close(reader)
    os.write(writer, b"a,b\n" + b"1,2\n" * 1000)
    deadline = time.monotonic() + 120
    while not list(here.glob(".new.csv.*.part")):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.01)
    process.send_signal(signal.SIGHUP)
    assert process.wait(60) == 129
    os.close(writer)
    assert not list(here.glob(".*")) and not (here / "new.csv").exists()


def test_in_memory_streams_are_left_alone(here, monkeypatch, capsys):
    with Path("good.csv").open("rb") as file:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file))
        assert main(["predict", "m.eigencut", "-"]) == 0
    assert capsys.readouterr().out.split() == LABELS


@pytest.mark.parametrize("ending", ["csv", "csv.gz", "npy", "parquet"])
@pytest.mark.parametrize("fails", ["labels", "model"])
def test_model_and_labels_appear_together_or_not_at_all(ending, fails, tmp_path, monkeypatch):
    X = np.random.default_rng(0).normal(size=(60, 2)) + 9 * (np.arange(60) % 2)[:, np.newaxis]
    np.savetxt(tmp_path / "t.csv", X, "%.4f", ",", header="a,b", comments="")
    model, labels = tmp_path / "m.eigencut", tmp_path / f"labels.{ending}"
    command = ["fit", str(tmp_path / "t.csv"), "-k", "2", "--neighbors", "5", "--quiet"]
    command += ["-o", str(model), "--labels", str(labels)]
    for path in (model, labels):
        path.write_bytes(b"old")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        if fails == "labels":
            patched.setattr("eigencut.cli.outputs._csv_writer", lambda *_: full)
            patched.setattr("numpy.save", full)
            patched.setattr("pyarrow.parquet.ParquetWriter", full)
        else:
            patched.setattr("eigencut.io.state_reader.save_model", full)
        assert main(command) == 1
    assert model.read_bytes() == labels.read_bytes() == b"old"
    assert main(command) == 0
    assert model.read_bytes() != b"old" and labels.read_bytes() != b"old"
    assert not list(tmp_path.glob("*.part"))
