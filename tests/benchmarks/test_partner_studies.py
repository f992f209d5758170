"""benchmarks/studies/partners.md agrees with the stored results, and with what it claims."""

import json

import numpy as np
import pytest
from experiments.paper.markers import fill

from benchmarks import STUDIES, cells, images, regions

PAGE = (STUDIES / "partners.md").read_text(encoding="utf-8")


def stored(study):
    return json.loads(study.stored.read_text(encoding="utf-8"))


@pytest.mark.parametrize("study", [cells, images, regions], ids=lambda study: study.STUDY.name)
def test_the_tables_on_the_page_are_those_of_the_results(study):
    made = study.tables(stored(study.STUDY))
    assert fill(PAGE, made) == PAGE, f"run: python -m benchmarks.{study.STUDY.name}"


def test_where_leiden_is_better_is_said():
    lines = stored(cells.STUDY)["lines"]
    less = [line["leiden"] - line["eigencut"] for line in lines]
    missed = sum(round(line["leiden"], 3) > round(line["eigencut"], 3) for line in lines)
    assert f"on {missed} of {len(lines)} lines" in PAGE
    assert max(less) < 0.1
    few = [line for line in lines if line["clusters"] <= 8]
    assert np.mean([line["leiden"] - line["eigencut"] for line in few]) < 0.01


def test_every_region_is_in_one_piece():
    ours = [line for line in stored(regions.STUDY)["lines"] if line["method"] == "eigencut"]
    assert ours and all(line["in pieces"] == 0 for line in ours)
    assert all(line["found"] == line["regions"] for line in ours)


def test_ncut_pytorch_takes_more_time_and_room():
    results = stored(images.STUDY)
    assert {"ncut-pytorch", "torch"} <= set(results["versions"])
    ours, theirs = results["features"][::2], results["features"][1::2]
    for line, other in zip(ours, theirs, strict=True):
        assert (line["method"], other["method"]) == ("eigencut", "ncut-pytorch")
        assert line["seconds"] < other["seconds"] and line["memory_mb"] < other["memory_mb"]
        assert min(line["seeds alike"]) >= min(other["seeds alike"])
