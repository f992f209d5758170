"""The command line does what the library does, on every kind of table, and leaves no mess."""

import gzip
import io
import json
import os
import pty
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from threading import Thread
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD, TableModel, load
from eigencut.cli import main
from eigencut.cli.app import app
from eigencut.io import readers


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def frame():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(60, 2)) + 7 * (np.arange(60) % 3)[:, np.newaxis]
    frame = pd.DataFrame(values.round(4), columns=["a", "b"])
    frame["b"] *= 1000
    frame.insert(0, "name", [f"row, {i}" for i in range(60)])
    return frame


@pytest.fixture
def model(frame):
    frame.to_csv("data.csv", index=False)
    run("fit data.csv -k 3 --id name -o m.eigencut")
    return load("m.eigencut")


def run(line):
    assert main(line.split()) == 0


def labels(path="labels.csv"):
    return pd.read_csv(path)["cluster"].tolist()


# ------------------------------------------------------------------------------- the same as Python


def test_the_command_line_predicts_what_python_does(frame, model):
    run("predict m.eigencut data.csv -o labels.csv")
    assert isinstance(model, TableModel) and model.columns_ == ["a", "b"]
    assert labels() == model.predict(frame).tolist() == model.labels_.tolist()
    assert len(set(labels())) == 3
    shuffled = frame[["b", "name", "a"]]
    assert model.predict(shuffled).tolist() == labels()


def test_a_model_saved_from_python(frame):
    frame.to_csv("data.csv", index=False)
    rows = frame[["a", "b"]]
    for fitted in (GPOD(3).fit(rows), TableModel(GPOD(3), scale="minmax").fit(rows)):
        fitted.save("saved")
        run("predict saved data.csv -o labels.csv")
        assert labels() == fitted.predict(rows).tolist()


def test_margin_support_and_names_of_rows(frame, model):
    run("predict m.eigencut data.csv --id name --margin --support -o labels.csv")
    found = pd.read_csv("labels.csv", float_precision="round_trip")
    assert found.columns.tolist() == ["name", "cluster", "margin", "support"]
    assert found["name"].tolist() == frame["name"].tolist()
    assert (found["margin"].to_numpy() == model.predict_margin(frame)).all()
    assert (found["support"].to_numpy() == model.answers(frame).support).all()
    assert found["support"].to_numpy() == pytest.approx(model.score_samples(frame), rel=1e-12)


def test_probabilities_have_a_column_for_each_cluster(frame, model):
    run("predict m.eigencut data.csv --proba -o labels.csv")
    found = pd.read_csv("labels.csv", float_precision="round_trip")
    assert found.columns.tolist() == ["cluster", "p0", "p1", "p2"]
    probabilities = found[["p0", "p1", "p2"]].to_numpy()
    assert probabilities == pytest.approx(model.predict_proba(frame), abs=1e-12)
    assert (probabilities.argmax(axis=1) == found["cluster"]).all()


def test_landmarks(frame, model):
    run("fit data.csv --id name -k 3 --landmarks 30 -o l.eigencut")
    run("predict l.eigencut data.csv -o labels.csv")
    assert labels() == load("l.eigencut").predict(frame).tolist()
    assert "Landmarks" in repr(load("l.eigencut").model_.affinity_)


@pytest.mark.parametrize("missing", ["refuse", "drop", "median"])
def test_landmarks_of_a_stream_and_of_standard_input(frame, model, monkeypatch, capsys, missing):
    """What is read in blocks has the labels and sizes of what is read into memory."""
    if missing != "refuse":
        frame.loc[4, "a"] = np.nan
    frame.to_csv("t.csv", index=False)
    said = []
    for table in ("t.csv", "-"):
        with Path("t.csv").open("rb") as file:
            monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file))
            capsys.readouterr()
            line = f"fit {table} --id name -k 3 --landmarks 30 --missing {missing}"
            run(f"{line} --outliers label --labels {table}.csv -o {table}.eigencut --json")
        said.append(json.loads(capsys.readouterr().out))
    streamed, whole = said
    for key in ("rows", "rows_fitted", "sizes", "columns"):
        assert streamed[key] == whole[key]
    assert Path("t.csv.csv").read_text() == Path("-.csv").read_text()
    assert not hasattr(load("t.csv.eigencut"), "labels_") and hasattr(load("-.eigencut"), "labels_")


def test_missing_values(frame, model):
    frame.loc[4, "a"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    for missing in ("drop", "median"):
        run(f"fit gaps.csv --id name -k 3 --missing {missing} -o g.eigencut")
        run("predict g.eigencut gaps.csv --margin -o labels.csv")
        assert labels() == load("g.eigencut").predict(frame).tolist()
        assert (labels()[4] == -1) == (missing == "drop")
        margins = pd.read_csv("labels.csv")["margin"]
        assert margins.isna().tolist() == [missing == "drop" and i == 4 for i in range(60)]


# -------------------------------------------------------------------------------- kinds of tables


def csv(frame, **options):
    return frame.to_csv(index=False, **options).encode()


WAYS = {
    "comma": lambda f: csv(f),
    "semicolon": lambda f: csv(f, sep=";"),
    "tab": lambda f: csv(f, sep="\t"),
    "bar": lambda f: csv(f, sep="|"),
    "BOM": lambda f: b"\xef\xbb\xbf" + csv(f),
    "gzip": lambda f: gzip.compress(csv(f)),
    "CRLF": lambda f: csv(f).replace(b"\n", b"\r\n"),
    "spaces": lambda f: f[["a", "b"]].to_string(index=False).encode(),
    "blank lines": lambda f: csv(f).replace(b"\n", b"\n\n"),
    "other order": lambda f: csv(f[["b", "a"]]),
}


@pytest.mark.parametrize("write", WAYS.values(), ids=WAYS.keys())
def test_ways_to_write_csv(frame, model, here, write):
    (here / "t").write_bytes(write(frame))
    run("predict m.eigencut t -o labels.csv")
    assert labels() == model.labels_.tolist()


def test_without_a_header(frame, here):
    (here / "t.csv").write_bytes(csv(frame[["a", "b"]], header=False))
    run("fit t.csv -k 3 -o m.eigencut")
    fitted = load("m.eigencut")
    assert fitted.columns_ == ["x1", "x2"] and len(fitted.labels_) == 60
    run("fit t.csv -k 3 --header -o m.eigencut")
    assert len(load("m.eigencut").labels_) == 59
    np.save("t.npy", frame[["a", "b"]].to_numpy())
    run("predict m.eigencut t.csv --header -o labels.csv")
    assert len(labels()) == 59
    assert fitted.predict(np.load("t.npy")).tolist() == fitted.labels_.tolist()


def test_years_above_columns_are_their_names_unless_they_are_data(frame, here, capsys):
    text = csv(frame[["a", "b"]], header=False)
    (here / "t.csv").write_bytes(b"2019,2020\n" + text)
    for options, columns, n_rows in (
        ("", ["2019", "2020"], 60),
        (" --header", ["2019", "2020"], 60),
        (" --no-header", ["x1", "x2"], 61),
    ):
        capsys.readouterr()
        run(f"fit t.csv -k 3{options} -o m.eigencut")
        assert load("m.eigencut").columns_ == columns and len(load("m.eigencut").labels_) == n_rows
        is_noted = "was read as names of columns" in capsys.readouterr().err
        assert is_noted == (not options)


def test_parquet_and_npy(frame, model):
    frame.to_parquet("t.parquet")
    frame.astype({"a": "float32"}).to_parquet("f.parquet")
    run("predict m.eigencut t.parquet --id name -o labels.parquet")
    found = pd.read_parquet("labels.parquet")
    assert found["cluster"].tolist() == model.labels_.tolist()
    assert found["name"].tolist() == frame["name"].tolist()
    run("predict m.eigencut f.parquet -o labels.npy")
    assert np.load("labels.npy").tolist() == model.labels_.tolist()
    run("predict m.eigencut data.csv -o labels.csv.gz")
    assert labels("labels.csv.gz") == model.labels_.tolist()
    np.save("t.npy", frame[["a", "b"]].to_numpy())
    run("fit t.npy -k 3 -o n.eigencut")
    assert load("n.eigencut").labels_.tolist() == model.labels_.tolist()


def test_blocks_change_nothing(frame, model, monkeypatch):
    frame.to_parquet("t.parquet")
    np.save("t.npy", frame[["a", "b"]].to_numpy())
    monkeypatch.setattr(readers, "READ_ROWS", 7)
    monkeypatch.setattr(readers, "BLOCK_BYTES", 200)
    for table in ("data.csv", "t.parquet"):
        run(f"predict m.eigencut {table} --id name -o labels.csv")
        assert labels() == model.labels_.tolist()
    run("fit t.npy -k 3 -o n.eigencut")
    assert load("n.eigencut").labels_.tolist() == model.labels_.tolist()
    frame.loc[40, "b"] = np.nan
    frame.to_csv("gaps.csv", index=False)
    assert main(["predict", "m.eigencut", "gaps.csv", "-o", "x.csv"]) == 1


def test_standard_input_and_output(frame, model, monkeypatch, capfdbinary):
    with Path("data.csv").open("rb") as file:
        monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=file))
        capfdbinary.readouterr()
        run("predict m.eigencut -")
    out = capfdbinary.readouterr()
    assert pd.read_csv(io.BytesIO(out.out))["cluster"].tolist() == model.labels_.tolist()
    assert out.err == b""


def test_a_named_pipe(frame, model, here):
    """What a shell makes of ``<(zcat data.csv.gz)``."""
    os.mkfifo("pipe")
    writer = Thread(target=(here / "pipe").write_bytes, args=(gzip.compress(csv(frame)),))
    writer.start()
    run("predict m.eigencut pipe -o labels.csv")
    writer.join()
    assert labels() == model.labels_.tolist()


# ------------------------------------------------------------------------------- the other commands


def test_json_everywhere(frame, model, capsys):
    frame[["a", "b"]].to_csv("plain.csv", index=False)
    capsys.readouterr()
    for line, key, value in (
        ("fit plain.csv -k 3 -o x.eigencut", "sizes", [20, 20, 20]),
        ("predict m.eigencut plain.csv -o labels.csv", "rows", 60),
        ("select plain.csv -k 2-4", "n_clusters", 3),
        ("assess m.eigencut plain.csv", "n_clusters", 3),
        ("assess m.eigencut", "n_rows", 60),
        ("info m.eigencut", "columns", ["a", "b"]),
        ("export m.eigencut -o m.onnx", "columns", ["a", "b"]),
    ):
        run(f"{line} --json")
        assert json.loads(capsys.readouterr().out)[key] == value


def test_assess_with_refits(frame, model, capsys):
    frame[["a", "b"]].to_csv("plain.csv", index=False)
    capsys.readouterr()
    run("assess m.eigencut plain.csv --stability --sets --json")
    found = json.loads(capsys.readouterr().out)
    assert found["stability"]["n_refits"] == 30 and len(found["stability"]["per_row"]) == 60
    assert (found["label_sets"]["n_batches"], found["label_sets"]["batch_size"]) == (20, 3)
    run("assess m.eigencut --significance")
    shown = capsys.readouterr().out
    assert shown.startswith("3 clusters, fitted on") and "The rows are not one cluster" in shown


def test_select_with_candidates(frame, model, capsys):
    run("select data.csv --drop name -k 2,3")
    table = capsys.readouterr().out.splitlines()
    assert table[0].split()[0] == "n_clusters" and table[1].split()[0] in "23"


def test_info_shows_that_columns_are_scaled(tmp_path, capsys):
    X, _ = make_blobs(200, centers=[[0, 0], [0, 9]], random_state=0)
    model = GPOD(2).fit(X * [1e4, 1])
    assert model.column_scales_ is not None
    model.save(tmp_path / "m.eigencut")
    run(f"info {tmp_path}/m.eigencut")
    assert "preparation  each column divided by its spread" in capsys.readouterr().out


def test_info_shows_what_was_chosen(model, capsys):
    capsys.readouterr()
    run("info m.eigencut")
    shown = capsys.readouterr().out
    assert "3, fitted on 60 rows" in shown and "a, b" in shown
    assert "scaling is auto; missing values raise an error" in shown
    assert "cut          ncut; outliers get a cluster" in shown


def test_demo(capsys):
    run("demo --out tour")
    assert "2 clusters of 500, 500 rows" in capsys.readouterr().out
    assert (pd.read_csv("tour/labels.csv")["cluster"].value_counts() == 150).all()


@pytest.mark.parametrize("command", app.commands)
def test_every_command_has_help_with_an_example(command, capsys):
    assert main([command, "--help"]) == 0
    assert f"eigencut {command}" in capsys.readouterr().out.partition("Example")[2]


def test_debug_shows_where_an_error_comes_from(capfd):
    assert main(["fit", "nothing.csv", "-o", "x", "--debug"]) == 1
    assert "Traceback" in capfd.readouterr().err


def test_without_click(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "click", None)
    assert main(["--help"]) == 1
    assert "pip install 'eigencut[cli]'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "absent"),
    [
        (["--help"], {"numpy", "scipy", "sklearn", "rich"}),
        (["fit", "--help"], {"numpy", "scipy", "sklearn", "rich"}),
        (["info", "m.eigencut"], {"numpy", "scipy", "sklearn", "rich"}),
    ],
)
def test_quick_commands_import_little(model, arguments, absent):
    code = f"import sys; from eigencut.cli import main; main({arguments!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {name.split(".")[0] for name in done.stdout.splitlines()[-1].split()} & absent


# ---------------------------------------------------------------------- what can happen on the way


class Forked:
    """A command in a process of its own, which needs no seconds to import everything again."""

    def __init__(self, line, stdin=None, stdout=None, stderr=None, largest_file=None):
        self.pid = os.fork()
        if self.pid:
            return
        code = 99
        try:
            for theirs, ours in ((stdin, 0), (stdout, 1), (stderr, 2)):
                if theirs is not None:
                    os.dup2(theirs, ours)
            pa.enable_signal_handlers(False)  # whose pipe is closed here
            os.closerange(3, 1024)  # among them the other ends of pipes, which must not stay open
            sys.stdin, sys.stdout = os.fdopen(0), os.fdopen(1, "w")
            sys.stderr = os.fdopen(2, "w", buffering=1)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            if largest_file is not None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (largest_file, largest_file))
            code = main(line.split())
            sys.stdout.flush()
        finally:
            os._exit(code)

    def wait(self):
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def read_all(descriptor):
    found = b""
    try:
        while piece := os.read(descriptor, 1 << 16):
            found += piece
    except OSError:  # a terminal is gone when the process has ended
        pass
    os.close(descriptor)
    return found


@pytest.fixture
def running(model, here):
    """A predict that has written a part of its output, and waits for more input."""
    (here / "labels.csv").write_text("old")
    stdin, feed = os.pipe()
    errors, stderr = os.pipe()
    process = Forked("predict m.eigencut - -o labels.csv", stdin=stdin, stderr=stderr)
    os.close(stdin)
    os.close(stderr)
    os.write(feed, b"a,b\n" + b"1.0,2.0\n" * 1000)
    deadline, seen = time.monotonic() + 60, 0
    while seen < 20 and time.monotonic() < deadline:  # one that stays: the first is a trial
        seen = seen + 1 if list(here.glob(".labels.csv.*.part")) else 0
        time.sleep(0.02)
    process.errors = errors
    yield process
    os.close(feed)


@pytest.mark.parametrize(
    ("number", "code", "said"),
    [
        (signal.SIGINT, 130, b"\neigencut: Interrupted; nothing was written.\n"),
        (signal.SIGTERM, 143, b""),
    ],
    ids=["Ctrl-C", "kill"],
)
def test_a_stopped_command_leaves_the_old_file(running, here, number, code, said):
    os.kill(running.pid, number)
    assert running.wait() == code
    assert read_all(running.errors) == said
    assert (here / "labels.csv").read_text() == "old"
    assert not list(here.glob(".*"))


def test_a_killed_command_leaves_the_old_file_and_a_part_named_so(running, here):
    os.kill(running.pid, signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    assert (here / "labels.csv").read_text() == "old"
    assert len(list(here.glob(".labels.csv.*.part"))) == 1


@pytest.mark.parametrize("output", ["labels.csv", "labels.csv.gz", "labels.npy", "labels.parquet"])
def test_a_full_disk(model, here, output):
    """As far as a limit on the size of files can play one."""
    (here / "big.csv").write_text("a,b\n" + "".join(f"{i}.0,2.0\n" for i in range(20_000)))
    (here / output).write_text("old")
    errors, stderr = os.pipe()
    process = Forked(f"predict m.eigencut big.csv -o {output}", stderr=stderr, largest_file=20)
    os.close(stderr)
    said = read_all(errors).decode()
    assert process.wait() == 1
    assert said == f"eigencut: {output}: file too large.\n"
    assert (here / output).read_text() == "old" and not list(here.glob(".*"))


@pytest.fixture
def open_folder(monkeypatch):
    """A folder that others may enter, which pytest's are not."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        monkeypatch.chdir(folder)
        yield Path(folder)
        monkeypatch.undo()


def test_no_permission(open_folder, frame, capfd):
    frame.to_csv("data.csv", index=False)
    frame.to_csv("secret.csv", index=False)
    run("fit data.csv --drop name -k 3 -o m.eigencut")
    run("predict m.eigencut data.csv -o labels.csv")  # all imports, while they are allowed
    Path("secret.csv").chmod(0)
    Path("closed").mkdir(mode=0o555)
    capfd.readouterr()
    is_root = os.geteuid() == 0  # who may do everything, whatever the mode of a file
    for line, name in (
        ("predict m.eigencut secret.csv", "secret.csv"),
        ("fit data.csv --drop name -k 3 -o closed/x.eigencut", "closed/x.eigencut"),
    ):
        if is_root:
            os.seteuid(65534)
        try:
            code = main(line.split())
        finally:
            if is_root:
                os.seteuid(0)
        assert code == 1
        assert capfd.readouterr().err == f"eigencut: {name}: permission denied.\n"


def test_a_reader_that_has_enough(model, here):
    (here / "big.csv").write_text("a,b\n" + "1.0,2.0\n" * 60_000)
    out, stdout = os.pipe()
    errors, stderr = os.pipe()
    process = Forked("predict m.eigencut big.csv", stdout=stdout, stderr=stderr)
    os.close(stdout)
    os.close(stderr)
    assert os.read(out, 8) == b"cluster\n"
    os.close(out)
    assert process.wait() == 1
    assert read_all(errors) == b""


def test_a_bar_on_a_terminal_and_silence_in_a_pipe(model, here, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    (here / "big.csv").write_text("a,b\n" + "1.0,2.0\n" * 200_000)
    for line, word in (
        ("predict m.eigencut big.csv -o labels.csv", b"rows/s"),
        ("fit data.csv -k 3 --drop name -o n.eigencut", b"labels of 60 rows"),
        ("select data.csv -k 2-6 --drop name", b"labels of 60 rows"),
    ):
        for options, (ours, theirs), is_said in (
            ("", pty.openpty(), True),
            (" --quiet", pty.openpty(), False),
            ("", os.pipe(), False),
        ):
            output = os.open("output.txt", os.O_WRONLY | os.O_CREAT)
            process = Forked(line + options, stdout=output, stderr=theirs)
            os.close(theirs)
            os.close(output)
            shown = read_all(ours)
            assert process.wait() == 0
            assert (word in shown) == bool(shown) == is_said
            assert shown.endswith(b"\x1b[2K") or not is_said  # the line is erased


def test_the_module_is_the_command(model):
    done = subprocess.run(
        [sys.executable, "-m", "eigencut", "info", "m.eigencut", "--json"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout)["rows_fitted"] == 60


def test_models_of_discrete_cuts(frame, capsys):
    """Every command answers for a model without eigenvalues."""
    frame[["a", "b"]].to_csv("plain.csv", index=False)
    TableModel(GPOD(3, solver="discrete")).fit(frame[["a", "b"]]).save("d.eigencut")
    capsys.readouterr()
    run("info d.eigencut")
    assert "3, fitted on 60 rows" in capsys.readouterr().out
    run("predict d.eigencut plain.csv -o labels.csv")
    assert len(pd.read_csv("labels.csv")) == 60
    capsys.readouterr()
    run("assess d.eigencut plain.csv --json")
    found = json.loads(capsys.readouterr().out)
    assert found["eigenvalues"] is None and found["cut_heldout"]["value"] < 1
    for command in ("assess", "drift", "describe"):
        run(f"{command} d.eigencut plain.csv")
    run("hierarchy d.eigencut")
    assert "3 clusters as a tree" in capsys.readouterr().out
    run("report d.eigencut plain.csv -o d.html")
    assert "eigenvalue" not in Path("d.html").read_text()
