"""Pages name things as they are: files that exist, names in the files they are said to be in."""

import re
from pathlib import Path

import pytest

import doc_pages
import eigencut
from eigencut.affinities import Affinity
from eigencut.cli.app import app
from eigencut.export import _FUNCTIONS
from eigencut.loading import CLASSES

ROOT = Path(__file__).parents[2]
SOURCE = Path(eigencut.__file__).parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *doc_pages.PAGES]


def text_of(page):
    return (ROOT / "docs" / page).read_text(encoding="utf-8")


def notation():
    """Names and the files that they are in, of each line of the table."""
    for line in text_of("notation.md").splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[2] != "code" and "`" in cells[2]:
            yield cells[0], re.findall(r"`([^`]+)`", cells[2]), re.findall(r"`([^`]+)`", cells[3])


@pytest.mark.parametrize(("symbol", "names", "files"), list(notation()), ids=lambda v: str(v)[:30])
def test_the_notation_names_the_right_files(symbol, names, files):
    folders = [SOURCE, *(SOURCE / file for file in {str(Path(f).parent) for f in files})]
    found = [folder / file for file in files for folder in folders if (folder / file).is_file()]
    assert len(set(found)) >= len(files) > 0, files
    text = "\n".join(path.read_text(encoding="utf-8") for path in found)
    for name in names:
        assert re.search(rf"\b{re.escape(name.split('.')[-1])}\b", text), (name, files)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_pages_name_exist(page):
    places = [ROOT, page.parent, SOURCE, SOURCE / "kernels", SOURCE / "kernels" / "csrc"]
    everywhere = {path.name for path in [*SOURCE.rglob("*.*"), *(ROOT / "benchmarks").rglob("*.*")]}
    for name in re.findall(r"`([\w./-]+\.(?:py|c|h|md|toml|txt))`", page.read_text("utf-8")):
        exists = any((place / name).exists() for place in places)
        assert exists or ("/" not in name and name in everywhere), name


def test_the_page_of_models_names_all_that_can_be_saved_and_exported():
    saved, _, exported = text_of("models.md").partition("## ONNX")
    for name, kind in CLASSES.items():
        assert not issubclass(kind, Affinity) or f"`{name}`" in saved
    for kind in _FUNCTIONS:
        assert f"`{kind.__name__}`" in exported


@pytest.mark.parametrize("command", app.commands)
def test_options_that_the_page_of_the_command_line_names_exist(command):
    """Of one command at least; and those that say how a table is read, all of them, are there."""
    page = text_of("cli.md")
    known = {
        option
        for name in app.commands
        for parameter in app.get_command(None, name).params
        for option in (*parameter.opts, *parameter.secondary_opts)
    } | {"--help", "--debug", "--data"}
    for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", page):
        assert option in known or "benchmarks" in page.split(option)[0][-60:], option
    if command == "predict":
        for parameter in app.get_command(None, command).params:
            long = [option for option in parameter.opts if option.startswith("--")]
            assert not long or long[0] in page or long[0] in ("--output", "--jobs"), long
