"""What the README and the pages of the documentation show, runs."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import doc_pages
import eigencut
from doc_pages import python_blocks

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
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


def test_the_terminal_of_the_readme_prints_what_it_shows(tmp_path, monkeypatch):
    session = runpy.run_path(str(ROOT / "docs" / "terminal_session.py"))
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    assert blocks
    for block in blocks:
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            shown = session["printed"](command, tmp_path)
            if output:  # where the page shows nothing, what is printed is left out
                assert session["rounded"](shown) == session["rounded"](output), command
            assert "Error" not in shown, shown
    assert len((tmp_path / "labels.csv").read_text().splitlines()) == 301


def test_the_targets_of_make_that_the_readme_names_exist():
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    (block,) = re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
    assert set(re.findall(r"^make (\S+)", block, re.M)) <= set(targets)


def test_picture_caption_and_words_of_the_readme_agree():
    """Rings that are drawn, those that the caption counts, and those that the words name."""
    pytest.importorskip("matplotlib").use("Agg")
    script = runpy.run_path(str(ROOT / "examples" / "readme_picture.py"))
    ax = pytest.importorskip("matplotlib.figure").Figure().add_subplot()
    script["draw_with_new_labels"](ax, *script["data"]())
    rings = [
        len(drawn.get_offsets())
        for drawn in ax.collections
        if type(drawn).__name__ == "PathCollection" and not len(drawn.get_facecolors())
    ]
    assert sum(rings) == 5
    assert any("65 new rows labelled; 5 of them outside" in text.get_text() for text in ax.texts)
    (words,) = re.findall(r"!\[(.*?)\]", README)
    left, _, right = words.partition("Right: ")
    assert "scikit-learn" in left and "65 new rows" in left
    assert "eigencut" in right and "rings are around the five" in right


@pytest.mark.parametrize("code", python_blocks(ROOT / "README.md"))
def test_python_blocks_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})


def test_every_cell_has_code():
    assert len(CELLS) > 20 and all("`" in cell for cell in CELLS)


def test_a_bare_import_is_enough_for_what_the_table_names():
    used = sorted(set(re.findall(r"eigencut(?:\.[A-Za-z_]\w*)+", "\n".join(SPANS))))
    assert "eigencut.export.to_onnx" in used and "eigencut.inspection.assess" in used
    used += ["eigencut.integrations.dask.fit"]
    code = f"import eigencut\nfor name in {used}: print(eval(name))"
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)


@pytest.mark.parametrize("code", PAGES)
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_blocks_of_the_pages_run(code, names, monkeypatch):
    exec(compile(code.replace("s3://bucket/", ""), "docs", "exec"), names)


@pytest.mark.parametrize(
    "path",
    [*(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")), *doc_pages.PAGES],
    ids=lambda path: path.relative_to(ROOT).as_posix(),
)
def test_links_lead_somewhere(path):
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        made = link.startswith(("_pictures/", "gallery/", "../gallery/"))  # by make docs
        assert made or (path.parent / link).exists() or "://" in link, link


def test_the_citation_is_of_this_version():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {eigencut.__version__}\n" in cited
