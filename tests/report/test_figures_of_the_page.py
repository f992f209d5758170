"""The page on reports says what was measured."""

import json
import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOUND = json.loads((ROOT / "benchmarks" / "results" / "report_time.json").read_text("utf-8"))
PAGE = (ROOT / "docs" / "report.md").read_text(encoding="utf-8")


def test_time_and_size_are_those_that_are_stored():
    runs, settings = FOUND["runs"], FOUND["settings"]
    assert settings == {"rows": 1_000_000, "new_rows": 50_000, "features": 8, "clusters": 8}
    most = {name: max(run[name] for run in runs) for name in runs[0]}
    said = re.search(r"\((\S+) s of processor time on one core\) .*\npage of (\S+) MB", PAGE)
    assert float(said[1]) == round(most["processor_seconds"], 1) < 20
    assert float(said[2]) == round(most["page_mb"], 1) < 3
    assert f"{most['wall_seconds']:.1f} s by the clock" in PAGE and most["wall_seconds"] < 20
