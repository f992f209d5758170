"""What a waiting user is told: how far it is, where they can read it, and nothing unasked."""

import io
import os
import pty
import re
import signal
import subprocess
import sys
import time
from threading import Thread

import numpy as np
import pytest
from sklearn.datasets import make_moons

from conftest import change_auto_policy, in_threads
from eigencut import GPOD, Gaussian, Landmarks, Neighbors, select
from eigencut._utils import running
from eigencut._utils.running import (
    Lines,
    ProgressDisplay,
    advance,
    approach,
    counted,
    for_each,
    reporting,
    stage,
    tell,
    terminal_display,
    without_progress,
)
from eigencut.discretization import pod
from eigencut.io.rows import Rows

STAGES = [
    "graph",
    "connected components",
    "2 eigenpairs",
    "extension",
    "rotation",
    "labels of 300 rows",
]


class Recorded(ProgressDisplay):
    """Remembers what it is told, under the name of the stage."""

    def __init__(self):
        self.told = {}
        super().__init__("")

    def begin(self, stage):
        super().begin(stage)
        self._told = self.told.setdefault(stage, [])

    def show(self, share, text):
        self._told.append((share, text))

    def texts(self, stage=""):
        return [text for _, text in self.told[stage]]

    def shares(self, things, stage=""):
        return [share for share, text in self.told[stage] if things in text]


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def new_terminal(monkeypatch):
    """Makes standard error a terminal that remembers everything.

    A function, to be called in the test: pytest itself replaces standard error before it.
    """

    def put(kind="xterm"):
        monkeypatch.setenv("TERM", kind)
        monkeypatch.setattr(sys, "stderr", Terminal())
        return sys.stderr

    return put


@pytest.fixture
def impatient(monkeypatch):
    """As if every moment took two seconds."""
    monkeypatch.setattr(running.Lines, "seconds", 0.0)


def without_time(text):
    return re.sub(r"\d+\.\d\d s", "TIME", text)


# ------------------------------------------------------- who listens, and who not


def test_a_display_hears_what_runs_inside_it_and_nothing_else():
    advance(1, 2, "things")
    with Recorded() as outer:
        advance(1, 4, "things")
        with Recorded() as inner:
            tell(None, "words")
        with without_progress():
            advance(2, 4, "things")
        advance(3, None, "things")
    advance(4, 4, "things")
    assert outer.told == {"": [(0.25, "1 of 4 things"), (None, "3 things")]}
    assert inner.told == {"": [(None, "words")]}


def test_an_error_closes_a_display():
    display = Recorded()
    with pytest.raises(ZeroDivisionError), display:
        1 / 0  # noqa: B018
    advance(1, 2, "things")
    assert display.told == {"": []}


def test_the_share_of_an_iteration_is_that_of_the_digits_won():
    with Recorded() as heard:
        for step, residual in enumerate([1.0, 1e-4, 1e-8, 0.0, np.inf, np.nan]):
            approach(step, residual, 1e-8)
        approach(9, np.float64(1.0), np.float64(0.0))  # no error, whatever the numbers are
    assert [share for share, _ in heard.told[""]] == pytest.approx([0, 0.5, 1, 1, 0, 1, 0])
    assert heard.texts()[1] == "step 1, residual 1.0e-04, wanted 1e-08"


def test_counted_says_how_many_are_done():
    with Recorded() as heard:
        assert list(counted("abcd", "letters")) == list("abcd")
    assert heard.shares("letters") == [0, 0.25, 0.5, 0.75]


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_threads_are_reported_by_the_one_who_waits(n_jobs):
    def work(item):
        if n_jobs > 1:
            advance(item, 1, "calls from a thread of its own, which nobody hears")

    with Recorded() as heard:
        in_threads(n_jobs, for_each, work, range(5), "items")
        in_threads(n_jobs, for_each, work, range(5))  # no name, no report
    assert heard.texts() == [f"{done} of 5 items" for done in range(1, 6)]


def test_fits_in_two_threads_are_not_mixed_up():
    heard = [Recorded(), Recorded()]

    def run(display):
        with display:
            for done in range(200):
                advance(done, 200, f"of {id(display)}")

    threads = [Thread(target=run, args=[display]) for display in heard]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for display in heard:
        assert len(display.texts()) == 200
        assert all(text.endswith(str(id(display))) for text in display.texts())


def test_saying_something_to_nobody_costs_nothing():
    """A fit says it some hundred times; that must not be worth a millisecond."""
    n = 20_000
    best = np.inf
    for _ in range(5):
        start = time.process_time()
        for done in range(n):
            advance(done, n, "things")
            approach(done, 1.0, 1e-8)
        best = min(best, (time.process_time() - start) / n)
    assert best < 1e-5


# ------------------------------------------------------- what the stages say


def moons(n):
    return make_moons(n, noise=0.05, random_state=0)[0]


@pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")
def test_a_hierarchy_of_graphs_says_its_levels(monkeypatch):
    monkeypatch.setattr("eigencut.solvers.sparse.is_cheap_to_factor", lambda _: False)
    with Recorded() as heard:
        GPOD(4, affinity="neighbors").fit(moons(3000))
    assert heard.shares("level", "4 eigenpairs")


@pytest.mark.parametrize(
    ("affinity", "graph", "pairs"),
    [
        (Gaussian(), ["tiles"], ["residual"]),
        (Neighbors(), ["rows searched", "blocks of weights"], ["residual", "missed"]),
        (Landmarks(1300), ["rows", "steps of k-means"], ["residual"]),
    ],
)
@pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")
def test_long_stages_say_how_far_they_are(affinity, graph, pairs):
    with Recorded() as heard:
        GPOD(4, affinity=affinity).fit(moons(3000))
    for name, expected in (("graph", graph), ("4 eigenpairs", pairs)):
        for things in expected:
            assert heard.shares(things, name), f"nothing about {things}"
    every = [share for told in heard.told.values() for share, _ in told if share is not None]
    assert all(0 <= share <= 1 for share in every)
    assert heard.shares("starts", "4 eigenpairs")[-1] == 1


def test_the_search_for_neighbours_ends_with_all_rows():
    X = np.random.default_rng(0).integers(0, 4, size=(3000, 2)) + np.arange(3000)[:, np.newaxis]
    for index in ("kdtree", "brute"):
        with Recorded() as heard:
            GPOD(2, affinity="neighbors").set_params(affinity__index=index).fit(X.astype(float))
        assert heard.shares("searched", "graph")[-1] == 1


def test_an_iteration_ends_at_the_tolerance():
    with Recorded() as heard:
        GPOD(2, affinity=Gaussian()).fit(moons(1500))
    shares = heard.shares("residual", "2 eigenpairs")
    assert shares[0] < 0.7 and shares[-1] == 1
    steps = [int(step) for step in re.findall(r"step (\d+),", str(heard.texts("2 eigenpairs")))]
    assert steps == list(range(1, len(steps) + 1))


def test_starts_are_counted_up_to_the_last():
    U = np.random.default_rng(0).normal(size=(400, 5))
    with Recorded() as heard:
        pod(U, n_init=4)
    counts = [tuple(map(int, re.findall(r"\d+", text))) for text in heard.texts()]
    assert [done for done, _ in counts] == list(range(1, len(counts) + 1))
    assert all(done <= total for done, total in counts)
    assert counts[-1][0] == counts[-1][1]


def test_a_stream_has_a_share_from_its_second_pass_on():
    rows = Rows(lambda: (np.ones((90_000, 1)) for _ in range(3)))
    with Recorded() as heard:
        for _ in range(2):
            assert rows.reduce(len, lambda a, b: a + b) == 270_000
    share = [n / 270_000 for n in (131_072, 262_144, 270_000)]
    assert [told for told, _ in heard.told[""]] == [None] * 3 + share


@pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")
def test_choices_count_what_was_compared(monkeypatch):
    change_auto_policy(monkeypatch, clear=0.0, clear_number=np.inf)  # so that all are tried
    X = np.random.default_rng(0).normal(size=(200, 2))
    for n_clusters, of_k in ((range(2, 6), 2), (3, 0)):
        with Recorded() as heard:
            model = GPOD(n_clusters).fit(X)
        if of_k:
            graphs = [f"{done} of {of_k} graphs compared" for done in range(of_k)]
            assert heard.texts("number of clusters") == graphs
        cuts = [f"{done + 1} cut(s) compared" for done in range(len(model.choice_))]
        assert len(cuts) > 1
        assert [t for t in heard.texts("graphs and their cuts") if "compared" in t] == cuts
    with Recorded() as heard:
        select(X, [2, 3], [Gaussian("local"), Gaussian("median")])
    assert heard.texts() == [f"{done} of 2 graphs compared" for done in range(2)]


# ------------------------------------------------------- plain lines


def test_one_line_for_a_stage_with_its_time(capsys):
    GPOD(2, affinity="gaussian", verbose=True).fit(moons(300))
    out, err = capsys.readouterr()
    assert out == ""
    assert without_time(err) == "".join(f"eigencut: {stage} ... TIME\n" for stage in STAGES)
    GPOD(2).fit(moons(300))
    assert capsys.readouterr().err == ""


def test_long_stages_have_more_lines(capsys, impatient):
    with reporting(True), stage("graph"):
        advance(1, 2, "tiles")
        advance(2, 2, "tiles")
    assert without_time(capsys.readouterr().err) == (
        "eigencut: graph ...\n"
        "eigencut: graph, 1 of 2 tiles ...\n"
        "eigencut: graph, 2 of 2 tiles ... TIME\n"
    )


def test_lines_are_two_seconds_apart(capsys, monkeypatch):
    now = [100.0]
    monkeypatch.setattr(running.time, "perf_counter", lambda: now[0])
    with Lines("graph"):
        for done in range(1, 24):
            now[0] += 0.25
            advance(done, 24, "tiles")
    assert re.findall(r"\d+ of", capsys.readouterr().err) == ["8 of", "16 of"]


def test_an_error_ends_the_line(capsys):
    with pytest.raises(KeyboardInterrupt), reporting(True), stage("graph"):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == "eigencut: graph ...\n"


def test_nothing_is_said_unasked(new_terminal, impatient):
    terminal = new_terminal()
    GPOD(2).fit(moons(300))
    assert terminal.getvalue() == ""


@pytest.mark.parametrize("variable", ["FORCE_COLOR", "TTY_COMPATIBLE"])
def test_a_file_is_no_terminal_whatever_the_environment_says(capsys, monkeypatch, variable):
    monkeypatch.setenv(variable, "1")
    assert terminal_display("graph") is None


def test_a_terminal_whose_lines_cannot_change_has_lines(new_terminal):
    terminal = new_terminal("dumb")
    with reporting(True), stage("graph"):
        pass
    assert without_time(terminal.getvalue()) == "eigencut: graph ... TIME\n"


# ------------------------------------------------------- the line that changes

CLEAR = "\r\x1b[2K"


def test_the_line_shows_the_stage_and_words(new_terminal, monkeypatch):
    monkeypatch.setattr(running.TerminalLine, "seconds", 0.0)
    terminal = new_terminal()
    with terminal_display("graph") as display:
        advance(1, 4, "tiles")
        display.begin("labels")
        tell(None, "words")
    lines = [
        "eigencut: graph ...",
        "eigencut: graph, 1 of 4 tiles ...",
        "eigencut: labels ...",
        "eigencut: labels, words ...",
    ]
    assert terminal.getvalue().split(CLEAR) == [*lines, ""]  # and it vanishes


def test_a_fit_on_a_terminal_leaves_a_line_for_each_stage(new_terminal):
    terminal = new_terminal()
    GPOD(2, affinity="gaussian", verbose=True).fit(moons(300))
    shown = terminal.getvalue()
    left = [line.split(CLEAR)[-1] for line in without_time(shown).split("\n")]
    assert left == [*(f"eigencut: {stage} ... TIME" for stage in STAGES), ""]


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError])
def test_an_error_leaves_the_terminal_whole(new_terminal, error):
    terminal = new_terminal()
    with pytest.raises(error), reporting(True), stage("graph"):
        advance(1, 2, "tiles")
        raise error
    print("a line", file=sys.stderr)
    assert terminal.getvalue().endswith(f"{CLEAR}eigencut: graph ...\na line\n")


ENDLESS = """
import signal, time
from eigencut._utils.running import advance, reporting, stage
signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs of a shell ignore it
with reporting(True), stage("graph"):
    for done in range(600):
        advance(done, 600, "tiles")
        time.sleep(0.05)
"""


def test_ctrl_c_on_a_real_terminal():
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm", "PYTHONPATH": os.pathsep.join(sys.path)}
    process = subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stderr=theirs, env=environment, start_new_session=True
    )
    os.close(theirs)
    shown = b""
    while b"of 600 tiles" not in shown:
        shown += os.read(ours, 4096)
    process.send_signal(signal.SIGINT)
    try:
        while piece := os.read(ours, 4096):
            shown += piece
    except OSError:  # how a terminal without a program behind it says that this was all
        pass
    os.close(ours)
    assert process.wait() != 0
    assert b"KeyboardInterrupt" in shown
