"""The benchmarks: the harness measures what it says, and pages agree with their results."""

import json
import pickle
import re
import shutil
import sys
import time
from dataclasses import asdict, replace

import numpy as np
import pytest
from benchmarks.bandwidth.__main__ import STUDY as BANDWIDTH
from benchmarks.data import NoData, mnist, moons_on_disk, real
from benchmarks.harness import clock, memory, scale, scaling, tables, targets, workload
from benchmarks.harness.bars import bars_of_studies
from benchmarks.harness.method import Clocked, load_method, method_names
from benchmarks.harness.problem import Problem
from benchmarks.harness.run import agreement, measure_rows
from benchmarks.harness.workload import Target, Workload, load_workload, workload_names
from benchmarks.known_labels import STUDY as KNOWN_LABELS
from benchmarks.limit import MultiplyExp
from benchmarks.methods._dask import array_of
from benchmarks.methods._stream import file_of
from benchmarks.warm_start import STUDY as WARM_START
from experiments.paper.markers import fill
from scipy.spatial.distance import cdist
from sklearn.datasets import make_moons
from sklearn.metrics import normalized_mutual_info_score

from benchmarks import __main__ as command

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
needs_linux = pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")

TINY = """
title = "a tiny workload"
task = "predict"
n = 120
m = 50
d = 2
K = 3
sigma = 1.5
options = { spread = 0.8 }
methods = ["eigencut", "numpy_float64", "kneighbors", "kmeans"]
reference = "eigencut"
agree_with = "numpy_float64"
repeats = 2

[[targets]]
column = "differing"
at_most = 0

[[targets]]
column = "seconds"
times = "kneighbors"
at_most = 1e-9
"""


def tiny(**changes):
    settings = dict(name="tiny", title="", task="predict", methods=(), reference="eigencut")
    settings |= dict(n=120, m=50, d=2, K=3, sigma=1.5, options={"spread": 0.8}, repeats=1)
    return Workload(**{**settings, "memory": False, **changes})


# ------------------------------------------------------------------------------- pages and JSON


@pytest.fixture(scope="module")
def speed():
    return command.stored(command.SPEED)


def test_speed_page_and_json_agree(speed):
    text = command.PAGE.read_text(encoding="utf-8")
    assert fill(text, tables.tables(speed)) == text, "run: python -m benchmarks --page"


def test_bars_of_studies_are_met_and_shown(tmp_path):
    found = bars_of_studies()
    assert [bar.workload for bar in found] == ["living", "probabilities"]
    assert [bar.verdict for bar in found] == ["met", "met"]
    shown = command.PAGE.read_text(encoding="utf-8")
    assert all(f"| `{bar.workload}` | {bar.asked} |" in shown for bar in found)
    for study in ("living", "probabilities"):
        (tmp_path / f"{study}.json").write_text('{"speed": {"ratio": 1.31}}')
    assert [bar.verdict for bar in bars_of_studies(tmp_path)] == ["**not met**"] * 2


def test_readme_and_json_agree(speed):
    text = command.README.read_text(encoding="utf-8")
    assert fill(text, tables.headline(speed)) == text, "run: python -m benchmarks --page"


def test_scale_page_and_json_agree(speed):
    text = command.SCALE.read_text(encoding="utf-8")
    assert fill(text, scale.tables(speed)) == text, "run: python -m benchmarks --page"


def test_the_scale_page_shows_landmarks_and_no_other_workload(speed):
    names = [name for name in workload_names() if name.startswith("landmarks-")]
    made = {"landmarks-moons-10m": "fit", "landmarks-dask-20m": "dask"}
    others = [run for run in speed if run["workload"]["name"] not in names]
    shown = scale.tables([made_up(name) for name in names] + others)
    assert not any("Not measured" in text for text in shown.values())
    assert all(f"`{name}`" in shown[marker] for name, marker in made.items())
    assert "Two workers are 2 times as fast as one." in shown["dask"]
    assert "0.500 ± 0.010 | 0.500 ± 0.010 | 0.803" in shown["quality"]
    assert "predict-d16" not in shown["targets"] + shown["machine"]
    assert "`landmarks-moons-10m`" in scale.tables([])["fit"]


def made_up(name):
    """What a run of a workload stores; every method is twice as fast as the one before."""
    found = load_workload(name)
    columns = dict(ari=0.5, nmi=0.5, nmi_deviation=0.01, memory_mb=10.0, process_mb=20.0, runs=1)
    rows = {
        method: {"title": load_method(method).title, "seconds": 8.0 / 2**place, **columns}
        for place, method in enumerate(found.methods)
    }
    machine = dict(date="", cpu="", cores=2, memory_gb=None, system="", versions={})
    return {"workload": asdict(found), "machine": machine, "load": 0.1, "rows": rows}


def test_another_speed_would_be_seen(speed):
    changed = json.loads(json.dumps(speed))
    next(r for r in changed if "rows" in r)["rows"]["eigencut"]["seconds"] *= 2
    text = command.PAGE.read_text(encoding="utf-8")
    assert fill(text, tables.tables(changed)) != text


@pytest.mark.parametrize(
    "study", [BANDWIDTH, KNOWN_LABELS, WARM_START], ids=lambda study: study.name
)
def test_page_of_a_study_and_its_json_agree(study):
    results = json.loads(study.stored.read_text(encoding="utf-8"))
    text = study.page.read_text(encoding="utf-8")
    assert fill(text, study.tables(results)) == text


def test_results_are_of_workloads_and_the_page_names_those_without(speed):
    measured = {result["workload"]["name"] for result in speed}
    assert measured <= set(workload_names())
    (said,) = tables.missing_text(speed) or [""]
    assert all((f"`{name}`" in said) == (name not in measured) for name in workload_names())


def test_results_are_of_full_size_and_name_no_place(speed):
    assert not any(result["workload"]["is_quick"] for result in speed)
    text = "".join(path.read_text(encoding="utf-8") for path in command.SPEED.glob("*.json"))
    assert not re.search(r'"/|/work|/tmp|/home', text)


# ---------------------------------------------------------------------------- workloads, methods


@pytest.mark.parametrize("quick", [False, True])
@pytest.mark.parametrize("name", workload_names())
def test_a_workload_names_methods_that_know_its_task(name, quick):
    found = load_workload(name, quick)
    assert found.reference in found.methods
    assert not found.agree_with or found.agree_with in found.methods
    for method in found.methods:
        assert found.task in load_method(method).tasks
    if not quick:
        others = {t.times or t.minus or t.method for t in found.targets}
        assert {t.method for t in found.targets} | others <= set(found.methods)
        assert all(targets.in_words(t, made_up(name)["rows"]) for t in found.targets)


def test_every_method_is_used():
    used = {method for name in workload_names() for method in load_workload(name).methods}
    assert used == set(method_names())


def test_unknown_names_are_refused():
    with pytest.raises(ValueError, match="A workload must be one of"):
        load_workload("no-such")
    with pytest.raises(ValueError, match="A method must be one of"):
        load_method("no_such")
    with pytest.raises(ValueError, match=r"tiny has \['rows'\]"):
        workload.from_dict({"name": "tiny", "rows": 3})


# ------------------------------------------------------------------------------------ the harness


def test_a_tiny_workload_through_the_whole_command(tmp_path, monkeypatch, capsys):
    (tmp_path / "tiny.toml").write_text(TINY)
    monkeypatch.setattr(workload, "FOLDER", tmp_path)
    assert command.main(["--only", "tiny", "--out", str(tmp_path / "out")]) == 0
    (result,) = command.stored(tmp_path / "out")
    rows = result["rows"]
    assert rows["eigencut"]["ratio"] == 1 and rows["eigencut"]["runs"] == 2
    assert all(row["seconds"] > 0 and row["points_per_second"] > 0 for row in rows.values())
    assert rows["eigencut"]["differing"] == 0 and "differing" not in rows["kmeans"]
    assert rows["eigencut"]["ari"] == rows["numpy_float64"]["ari"] > 0.7
    assert result["machine"]["cores"] >= 1 and result["machine"]["versions"]["numpy"]
    said = capsys.readouterr().out
    assert "rows labelled otherwise at most 0 | 0 | met" in said
    assert "**not met**" in said


def test_a_sweep_gives_a_curve_per_method(monkeypatch, tmp_path):
    pytest.importorskip("matplotlib")
    from benchmarks.harness.run import measure

    sweep = tiny(methods=("eigencut", "kmeans"), vary="m", values=(20, 40))
    result = json.loads(json.dumps(measure(sweep)))
    found = list(scaling.curves(result, "seconds"))
    assert [curve.method for curve in found] == ["eigencut", "KMeans"]
    assert found[0].sizes == [20, 40]
    scaling.draw([result], tmp_path)
    assert (tmp_path / "scaling.svg").stat().st_size > 5000


def test_a_missing_peer_is_said_to_be_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "ncut_pytorch", None)
    rows = measure_rows(tiny(methods=("eigencut", "ncut_pytorch")))
    assert rows["ncut_pytorch"]["missing"].endswith("is not installed")
    assert "seconds" in rows["eigencut"]


def test_a_missing_data_set_leaves_its_workload_out(tmp_path, monkeypatch, capsys):
    monkeypatch.delenv("EIGENCUT_MNIST", raising=False)
    only = ["--only", "landmarks-quality-mnist", "--quick", "--out", str(tmp_path / "out")]
    assert command.main(only) == 0
    assert "left out: EIGENCUT_MNIST must name the folder" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    monkeypatch.setattr(real, "_SHARED", tmp_path)
    with pytest.raises(NoData, match=r"USPS\.mat must be in"):
        real.read_digits("USPS")


def test_methods_that_cannot_take_all_rows_get_the_first(monkeypatch):
    method = replace(load_method("exact_sample"), most_rows=60)
    monkeypatch.setattr("benchmarks.harness.run.load_method", lambda name: method)
    found = measure_rows(tiny(task="fit", methods=("exact_sample",), reference="exact_sample"))
    row = found["exact_sample"]
    assert row["points_per_second"] == pytest.approx(60 / row["seconds"], rel=1e-3)
    problem = Problem.of(tiny())
    labels = method.prepare("fit", problem)()
    assert len(labels) == 60 and row["ari"] == agreement(problem.y, labels)["ari"]


def test_scores_of_many_seeds_are_means():
    problem = Problem.of(tiny())
    rng = np.random.default_rng(0)
    lines = rng.integers(0, 3, (4, len(problem.y)))
    scores = [normalized_mutual_info_score(problem.y, line) for line in lines]
    found = agreement(problem.y, lines)
    assert found["nmi"] == pytest.approx(np.mean(scores), abs=1e-4)
    assert found["nmi_deviation"] == pytest.approx(np.std(scores), abs=1e-4)
    assert "nmi_deviation" not in agreement(problem.y, lines[0])


def test_a_method_with_many_seeds_has_the_time_of_one():
    sizes = dict(task="seeds", n=400, m=0, seeds=3, reference="kmeans")
    rows = measure_rows(tiny(methods=("landmarks", "kmeans"), **sizes))
    for row in rows.values():
        assert row["points_per_second"] == pytest.approx(400 / row["seconds"], rel=1e-3)
        assert row["nmi"] > 0.6 and row["nmi_deviation"] >= 0


# --------------------------------------------------------------- rows on disk, streams, clusters


ON_DISK = dict(data="moons_on_disk", options={"noise": 0.05}, K=2, n=3000, m=0)


def test_rows_on_disk_are_moons_and_their_files_go_with_them(monkeypatch):
    monkeypatch.setattr(moons_on_disk, "_BLOCK", 1000)
    problem = Problem.of(tiny(**ON_DISK))
    folder = file_of(problem.X).parent
    assert sorted(path.name for path in folder.iterdir()) == ["classes.npy", "rows.npy"]
    assert problem.X.shape == (3000, 2) and np.bincount(problem.y).tolist() == [1500, 1500]
    right = make_moons(1000, noise=0.05, random_state=2)
    assert (problem.X[2000:] == right[0]).all() and (problem.y[2000:] == right[1]).all()
    del problem
    assert not folder.exists()


def test_a_stream_is_fitted_and_labelled():
    stream = tiny(**ON_DISK, task="stream", affinity="landmarks", reference="stream_both")
    rows = measure_rows(stream.at(methods=("stream_fit", "stream_labels", "stream_both")))
    assert all(row["ari"] > 0.99 for row in rows.values())
    assert rows["stream_both"]["seconds"] > rows["stream_labels"]["seconds"]


def test_workers_read_the_rows_themselves(monkeypatch):
    pytest.importorskip("distributed")
    problem = Problem.of(tiny(**ON_DISK, affinity="landmarks"))
    monkeypatch.setattr("benchmarks.methods._dask._CHUNK", 1000)
    X = array_of(problem)
    assert X.chunks == ((1000, 1000, 1000), (2,))
    assert (X.compute(scheduler="synchronous") == problem.X).all()
    assert len(pickle.dumps(dict(X.dask))) < 10_000  # a path and bounds, not 48 000 bytes of rows


def test_idx_files_are_read(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    written = {}
    for part, n in {"train": 5, "t10k": 3}.items():
        for kind, shape in {"images-idx3": (n, 2, 3), "labels-idx1": (n,)}.items():
            values = rng.integers(0, 256, shape).astype(np.uint8)
            head = bytes([0, 0, 8, len(shape)]) + np.array(shape, dtype=">u4").tobytes()
            (tmp_path / f"{part}-{kind}-ubyte").write_bytes(head + values.tobytes())
            written[part, kind[:6]] = values
    monkeypatch.setenv("EIGENCUT_MNIST", str(tmp_path))
    X, y, K = mnist.rows(7, 0, d=6, K=10)
    images = np.concatenate([written["train", "images"], written["t10k", "images"]])
    labels = np.concatenate([written["train", "labels"], written["t10k", "labels"]])
    assert (images.reshape(8, 6)[:7] == X).all() and (y == labels[:7]).all() and K == 10
    with pytest.raises(ValueError, match=r"at most \(8, 6\)"):
        mnist.rows(9, 0, d=6, K=10)
    (tmp_path / "t10k-labels-idx1-ubyte").write_bytes(b"\x00\x00\x0d\x01")
    with pytest.raises(ValueError, match="t10k-labels-idx1-ubyte must be an IDX file of bytes"):
        mnist.rows(7, 0, d=6, K=10)


def test_methods_take_turns_and_the_best_counts():
    calls = []

    def work(name, seconds):
        calls.append(name)
        return Clocked(next(seconds), None)

    times = {"a": iter([0.08, 0.06, 0.1]), "b": iter([0.06, 0.06, 0.06])}
    works = {name: lambda n=name: work(n, times[n]) for name in times}
    timings = clock.take_turns(works, repeats=3, budget=60)
    assert calls == ["a", "b"] * 3
    assert timings["a"].seconds == [0.08, 0.06, 0.1] and timings["a"].best == 0.06


def test_a_slow_method_is_not_repeated_and_a_failing_one_is_reported():
    def fail():
        raise ArithmeticError("no")

    timings = clock.take_turns({"slow": lambda: time.sleep(0.06), "bad": fail}, 3, budget=0.05)
    assert len(timings["slow"].seconds) == 1
    assert timings["bad"].failure == "failed: ArithmeticError: no"


@needs_linux
def test_memory_is_the_rise_of_the_resident_set():
    # Pages that are touched count, also if freed again; what was free before is not lent.
    _ = [np.ones(10_000) for _ in range(1000)]
    del _
    peaks = memory.peaks_of(lambda: np.ones(10_000_000).sum())
    assert peaks["memory_mb"] == pytest.approx(80, abs=8)
    idle = memory.peaks_of(lambda: None)
    assert idle["memory_mb"] < 8
    assert peaks["process_mb"] - idle["process_mb"] == pytest.approx(80, abs=16)
    assert idle["process_mb"] > 50  # numpy alone needs as much


@needs_linux
def test_memory_of_a_method_in_a_process_of_its_own():
    assert memory.peaks_mb(tiny(), "eigencut")["memory_mb"] < 100


# ------------------------------------------------------------------------ targets and exponents


@pytest.mark.parametrize(
    ("target", "value", "verdict"),
    [
        (Target("seconds", times="b", at_most=2.0), 2.0, "met"),
        (Target("seconds", times="b", below=2.0), 2.0, "**not met**"),
        (Target("ari", at_least=0.9), 0.5, "**not met**"),
        (Target("ari", times="c", at_least=0.9), None, "not measured"),
        (Target("seconds", minus="b", at_most=2.0), 2.0, "met"),
        (Target("ari", minus="c", at_least=-0.01), None, "not measured"),
    ],
)
def test_verdicts(target, value, verdict):
    rows = {
        "eigencut": {"title": "eigencut", "seconds": 4.0, "ari": 0.5},
        "b": {"title": "B", "seconds": 2.0},
        "c": {"title": "C", "missing": "c is not installed"},
    }
    assert targets.value_of(target, rows) == value
    found = targets.Judged("tiny", target, targets.in_words(target, rows), value)
    assert found.verdict == verdict


def test_exponents_are_those_of_power_laws():
    sizes = [10.0, 100.0, 1000.0, 10_000.0]
    curve = scaling.Curve("", "seconds", sizes, [3 * size**1.7 for size in sizes])
    assert curve.exponent == pytest.approx(1.7)
    assert scaling.Curve("", "seconds", [1.0], [2.0]).exponent is None


# ------------------------------------------------------------------------------- the C kernel


@needs_compiler
@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 5e-6), ("float64", 1e-13)])
@pytest.mark.parametrize("sizes", [(1, 1, 1, 1), (77, 61, 3, 11), (200, 333, 16, 30)])
def test_the_limit_computes_the_product(dtype, tolerance, sizes):
    m, n, d, columns = sizes
    rng = np.random.default_rng(0)
    X, Y = 100 + rng.normal(size=(m, d)), 100 + rng.normal(size=(n, d))
    V = rng.uniform(0.5, 1, (n, columns))
    sigma = 0.5 * np.sqrt(d)
    right = np.exp(-cdist(X, Y, "sqeuclidean") / (2 * sigma**2)) @ V
    kernel = MultiplyExp.of(Y, V, sigma, dtype)
    for threads in (1, 3):
        found = kernel(kernel.rows(X), threads)
        assert np.allclose(found, right, rtol=tolerance, atol=0)


@needs_compiler
def test_the_limit_underflows_to_zero():
    kernel = MultiplyExp.of(np.zeros((5, 2)), np.ones((5, 1)), 1.0, "float32")
    assert kernel(kernel.rows(np.full((3, 2), 1e4)), 1).tolist() == [[0.0]] * 3


@needs_compiler
def test_the_limit_gives_the_labels_of_the_model():
    problem = Problem.of(tiny())
    method = load_method("limit_float64")
    product = method.prepare("predict", problem)()
    assert np.array_equal(method.labels(problem, product), problem.model.predict(problem.X_new))
