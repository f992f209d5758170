"""Arguments of the command line for ``fuzz.py``: an answer or a sentence; inputs stay as they are.

A case is a list of words, as JSON, that begins from one in ``corpus/arguments`` or from a command
and options of it at random. It runs in a folder with a few small files, whose bytes are compared.
"""

import io
import json
import os
import shutil
import sys
import tempfile
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from pathlib import Path

import click
import numpy as np

from eigencut import GPOD
from eigencut.cli.app import app
from eigencut.cli.run import run

CORPUS = Path(__file__).parent / "corpus" / "arguments"
SUFFIX = ".json"
OURS = ["table.csv", "words.csv", "table.npy", "model.eigencut", "empty", "folder"]
WORDS = [
    *("-", "--", "", "0", "1", "2", "3", "-1", "1.5", "1e400", "nan", "auto", "x1", "x1,x2", "id"),
    *("nowhere/file", "new.csv", "new.npy", "new.parquet", "new.csv.gz", "new", ",", "é", "a\nb"),
    *("\x1b[31m", "x" * 300, "--no-such-option", "-k", "-o"),
]
OUTPUTS = ("-o", "--output", "--labels")
UNKIND = ("Something unexpected happened", "Traceback")
LEFT_OUT = {"demo"}  # which computes for long


@cache
def commands():
    """Of each command its options."""
    context = click.Context(app)
    found = {}
    for name in set(app.list_commands(context)) - LEFT_OUT:
        parameters = app.get_command(context, name).params
        options = [word for one in parameters for word in (*one.opts, *one.secondary_opts)]
        found[name] = [word for word in options if word.startswith("-")]
    return dict(sorted(found.items()))


@cache
def inputs():
    """A folder with the files that cases name."""
    folder = Path(tempfile.mkdtemp())
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + 6 * rng.integers(0, 2, size=(40, 1))
    np.savetxt(folder / "table.csv", X, "%.4f", ",", header="x1,x2", comments="")
    (folder / "words.csv").write_text("id,x1\na,1\nb,2\nc,x\n", encoding="utf-8")
    np.save(folder / "table.npy", X)
    GPOD(2, affinity="gaussian").fit(X).save(folder / "model.eigencut")
    (folder / "empty").write_bytes(b"")
    (folder / "folder").mkdir()
    return folder


def begin():
    commands()
    inputs()


@cache
def seeds():
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CORPUS.glob("*.json"))]


def make(rng, path):
    words = list(rng.choice(seeds()))
    if rng.random() < 0.3:
        words = [rng.choice(sorted(commands())), *rng.choices(OURS, k=rng.randrange(3))]
    options = commands().get(words[0] if words else "", ["--help", "--version"])
    for _ in range(rng.randrange(4)):
        place, what = rng.randrange(len(words) + 1), rng.random()
        if what < 0.5:
            words[place:place] = [rng.choice(options), rng.choice(WORDS + OURS)]
        elif what < 0.7:
            words[place : place + 1] = [rng.choice(WORDS + OURS)]
        elif what < 0.85:
            words[place:place] = [rng.choice(options)]
        else:
            del words[place : place + 1]
    path.write_text(json.dumps(words), encoding="utf-8")
    return not LEFT_OUT & set(words)


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.name in OURS[:-1]}


def outcome(path):
    """Run the command in a copy of the folder, with nothing on standard input."""
    words = json.loads(path.read_text(encoding="utf-8"))
    here, stdin = Path.cwd(), sys.stdin
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8") for _ in range(2))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "work"
        shutil.copytree(inputs(), folder)
        before = state(folder)
        os.chdir(folder)
        sys.stdin = io.TextIOWrapper(io.BufferedReader(io.BytesIO()))
        try:
            with redirect_stdout(out), redirect_stderr(err):
                code = run(words)
        finally:
            sys.stdin = stdin
            os.chdir(here)
        after = state(folder)
        parts = [path.name for path in folder.rglob("*.part")]
    err.flush()
    said = err.buffer.getvalue().decode()
    assert code in (0, 1, 2), f"exit code {code}"
    assert code == 0 or said.strip(), "it failed in silence"
    assert "--debug" in words or not any(word in said for word in UNKIND), said
    # What is named as an output, and as nothing else, is to be replaced.
    inputs_of = [word for i, word in enumerate(words) if not i or words[i - 1] not in OUTPUTS]
    kept = [name for name in before if name in inputs_of or name not in words]
    assert not (wrong := [n for n in kept if before[n] != after.get(n)]), f"it changed {wrong}"
    assert not parts, parts
    return f"exit {code}"
