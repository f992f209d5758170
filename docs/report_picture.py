"""The picture of docs/report.md: the top of the report on the wines of docs/getting-started.md.

    python docs/report_picture.py [docs/images/report.png]

It needs Chromium, which whoever builds the site need not have: so the picture is kept.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from PIL import Image
from sklearn.datasets import load_wine

from eigencut import GPOD, TableModel, report

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import browser as chromium  # noqa: E402  # tests/browser.py

MOST_BYTES = 150_000


def draw(path: Path) -> None:
    wine = load_wine(as_frame=True).data.sample(frac=1, random_state=0)
    model = TableModel(GPOD("auto"), scale="standard").fit(wine[:140])
    with tempfile.TemporaryDirectory() as folder, chromium.Browser() as browser:
        place = Path(folder) / "report.html"
        report.write(model, wine[:140], place, X_new=wine[140:], title="Wines")
        page = browser.open(place, width=1180, height=1640)
        page.screenshot(path, whole=False)
    # Fewer colours: people load it with a page.
    Image.open(path).convert("RGB").quantize(64).save(path, optimize=True)
    print(f"wrote {path}, {path.stat().st_size / 1000:.0f} kB")
    assert path.stat().st_size < MOST_BYTES


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "images" / "report.png")
