"""Targets of studies, which have commands and results of their own."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import RESULTS
from benchmarks.harness.targets import Judged
from benchmarks.harness.workload import Target

# The study, what must hold in words, and the most that its ratio of times may be.
_BARS = (
    ("living", "`update` by 20 000 rows: time at most 0.1 times a fit of all 1 020 000", 0.1),
    ("probabilities", "`predict_proba`: time at most 1.3 times `predict`", 1.3),
)


def bars_of_studies(folder: Path = RESULTS) -> list[Judged]:
    """Each with the ratio of times that the study has stored, the largest where it has several."""
    found = []
    for study, asked, most in _BARS:
        results = json.loads((folder / f"{study}.json").read_text(encoding="utf-8"))
        stored = results["speed"]
        ratio = max(float(one["ratio"]) for one in (stored if type(stored) is list else [stored]))
        found.append(Judged(study, Target("seconds", at_most=most), asked, ratio))
    return found
