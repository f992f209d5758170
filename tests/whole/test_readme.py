"""What the README and the pages of the documentation show, runs."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn.metrics.pairwise
from sklearn.base import BaseEstimator
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import doc_pages
import eigencut
from doc_pages import python_blocks
from eigencut import GPOD, Affinity, Gaussian, TableModel
from eigencut.selection import criteria

ROOT = Path(__file__).parents[2]
SHEET = (ROOT / "docs" / "cheat-sheet.md").read_text(encoding="utf-8")
TABLE = SHEET.split("| you want | you write |\n|---|---|\n")[1].split("\n\n")[0]
CELLS = re.findall(r"^\| [^|]+ \| (.*) \|$", TABLE, re.M)
SPANS = [span for cell in CELLS for span in re.findall(r"`([^`]+)`", cell)]
ELSEWHERE = ("eigencut.integrations.spark",)  # what needs a machine of another kind


PAGES = [
    pytest.param(code, id=name)
    for name, code in doc_pages.runnable()
    if not any(place in code for place in ELSEWHERE)
]


@pytest.fixture
def names(tmp_path, monkeypatch):
    """What the README and the pages speak of: rows, a model of them, and files in a folder."""
    monkeypatch.chdir(tmp_path)
    rows, truth = make_blobs(460, 2, centers=3, random_state=0)
    X, new = rows[:400], rows[400:]
    frame = pd.DataFrame(X, columns=["x", "y"])
    Path("measurements").mkdir()
    frame.to_parquet("measurements/rows.parquet")
    frame["size"] = np.array(["S", "M", "L"])[truth[:400]]
    weights = sklearn.metrics.pairwise.rbf_kernel(rows, X)
    model = GPOD(3).fit(X)
    model.save("m.eigencut")
    return {
        "eigencut": eigencut,
        "sklearn": sklearn,
        "GPOD": GPOD,
        "Gaussian": Gaussian,
        "TableModel": TableModel,
        "model": model,
        "X": X,
        "X_new": new,
        "X_heldout": new,
        "X_today": new,
        "W": weights[:400],
        "W_new": weights[400:],
        "U": model.embedding_,
        "path": "measurements",
        "frame": frame,
        "w": np.linspace(1.0, 3.0, 400),
        "people": np.linspace(1.0, 3.0, 400),
        "y": np.where(np.arange(400) % 20 == 0, truth[:400], -1),
        "pairs": [(0, 1), (2, 3)],
    }


@pytest.mark.parametrize("code", python_blocks(ROOT / "README.md"))
def test_python_blocks_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})


@pytest.mark.parametrize("code", SPANS)
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_cells_of_the_table_run(code, names):
    value = eval(compile(code, "cheat-sheet.md", "eval"), names)
    if isinstance(value, Affinity):
        value = GPOD(3, affinity=value)
    if hasattr(value, "fit") and isinstance(value, BaseEstimator) and not is_fitted(value):
        labels = value.fit(names["X"]).predict(names["X_heldout"])
        assert labels.shape == (60,) and np.issubdtype(labels.dtype, np.integer)


def is_fitted(model):
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def test_every_cell_has_code():
    assert len(CELLS) > 20 and all("`" in cell for cell in CELLS)


def test_a_bare_import_is_enough_for_what_the_table_names():
    used = sorted(set(re.findall(r"eigencut(?:\.[A-Za-z_]\w*)+", "\n".join(SPANS))))
    assert "eigencut.export.to_onnx" in used and "eigencut.risk.assess" in used
    used += ["eigencut.datasets.load", "eigencut.integrations.dask.fit"]
    code = f"import eigencut\nfor name in {used}: print(eval(name))"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("code", PAGES)
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_blocks_of_the_pages_run(code, names, monkeypatch):
    monkeypatch.setattr(criteria, "_REPEATS", 2)  # splits of "stability", which take long
    exec(compile(code.replace("s3://bucket/", ""), "docs", "exec"), names)


@pytest.mark.parametrize(
    "path",
    [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *doc_pages.PAGES],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        made = link.startswith(("_pictures/", "gallery/"))  # by make docs
        assert made or (path.parent / link).exists() or "://" in link, link


def test_the_citation_is_of_this_version():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {eigencut.__version__}\n" in cited
