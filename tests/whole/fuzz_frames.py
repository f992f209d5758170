"""Data frames for ``fuzz.py``: a model is fitted and asked, or the frame refused in a sentence.

A case says, as JSON, which columns a frame has. It is made by pandas, polars and pyarrow; where its
cells mean the same to all of them, so do the labels.
"""

import json
import warnings
from datetime import date, timedelta
from decimal import Decimal
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from eigencut import GPOD, TableModel

CORPUS = Path(__file__).parent / "corpus" / "frames"
SUFFIX = ".json"
PLAIN = {
    "floats": lambda rng, i: float(rng.normal() + 8 * (i % 2)),
    "integers": lambda rng, i: int(rng.integers(0, 9)) + 20 * (i % 2),
    "words": lambda rng, i: ["rome", "oslo", "lima"][int(rng.integers(3))],
}
KINDS = PLAIN | {
    "gaps": lambda rng, i: None if i % 7 == 3 else float(rng.normal()),
    "nothing": lambda rng, i: None,
    "constant": lambda rng, i: 1.0,
    "truths": lambda rng, i: bool(rng.integers(2)),
    "infinities": lambda rng, i: float("inf") if i % 5 == 1 else 0.5,
    "huge": lambda rng, i: 1e300 * float(rng.normal()),
    "very long integers": lambda rng, i: 10**400 if i % 2 else 3,
    "dates": lambda rng, i: date(2020, 1, 1) + timedelta(days=int(rng.integers(400))),
    "durations": lambda rng, i: timedelta(hours=int(rng.integers(400))),
    "decimals": lambda rng, i: Decimal(int(rng.integers(100))) / 7,
    "bytes": lambda rng, i: bytes([i % 250]),
    "structs": lambda rng, i: {"u": i, "v": 0.5},
    "lists": lambda rng, i: [1.0, float(i)],
    "lists of many lengths": lambda rng, i: [1.0] * (i % 3),
    "mixed": lambda rng, i: "x" if i % 3 else 1,
    "long words": lambda rng, i: "x" * 5000 + str(i % 3),
    "odd words": lambda rng, i: ["\x1b[31m", "\n", "é", "=1+1"][i % 4],
}
NAMES = ["a", "b", "c", "2019", "", " ", "é", "\x1b[31m", "a\nb", "x" * 100_000]
MAKERS = {
    "pandas": lambda names, columns: pd.concat(
        [pd.Series(c, name=n) for n, c in zip(names, columns, strict=True)], axis=1
    ),
    "polars": lambda names, columns: pl.DataFrame(
        [pl.Series(n, c) for n, c in zip(names, columns, strict=True)]
    ),
    "pyarrow": lambda names, columns: pa.Table.from_arrays([*map(pa.array, columns)], names=names),
}


@cache
def seeds():
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(CORPUS.glob("*.json"))]


def begin():
    pass


def make(rng, path):
    case = dict(rng.choice(seeds()), seed=rng.randrange(1000), n=rng.choice([2, 12, 30, 30]))
    case["columns"] = list(case["columns"])
    for _ in range(rng.choice([1, 1, 2])):
        place = rng.randrange(len(case["columns"]) + 1)
        kinds = sorted(PLAIN if rng.random() < 0.3 else KINDS)
        case["columns"][place : place + rng.randrange(2)] = [[rng.choice(NAMES), rng.choice(kinds)]]
    path.write_text(json.dumps(case), encoding="utf-8")
    return True


def answer(case, library):
    """Labels, or the sentence by which the frame is refused; None where it cannot be made."""
    names, kinds = zip(*case["columns"], strict=True)
    rng = np.random.default_rng(case["seed"])
    columns = [[KINDS[kind](rng, i) for i in range(case["n"])] for kind in kinds]
    try:
        frame = MAKERS[library](names, columns)
    except (OverflowError, TypeError, ValueError, pa.ArrowException, pl.exceptions.PolarsError):
        return None
    model = (GPOD if case["ask"] == "GPOD" else lambda K, **how: TableModel(GPOD(K, **how)))(
        2, affinity="gaussian", n_init=1
    )
    try:
        model.fit(frame)
        assert (model.predict(frame) == model.labels_).all()
        shown = str(model.describe(frame)) + repr(model)
    except (TypeError, ValueError) as error:
        said = str(error)
        assert said.strip() and "\n" not in said and len(said) < 5000, f"{len(said)}: {said[:500]}"
        assert not any(word in said for word in ("broadcast", "an array element")), said
        return said
    assert "\x1b" not in shown and len(shown) < 100_000
    return model.labels_.tolist()


def outcome(path):
    case = json.loads(path.read_text(encoding="utf-8"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [answer(case, library) for library in MAKERS]
    names, kinds = zip(*case["columns"], strict=True)
    are_named = "" not in names  # polars names columns that have no name
    if are_named and set(kinds) <= set(PLAIN) and None not in found:
        assert found[0] == found[1] == found[2] or all(isinstance(each, str) for each in found)
    return "refused" if isinstance(found[0], str) else "fitted"
