"""The site is short, and its pages keep the house style of CONTRIBUTING.md."""

import ast
import re

import pytest

from doc_pages import DOCS, PAGES, ROOT

MOST_WORDS = 25_000  # outside the reference and the gallery
PATTERNS = {
    "a number without its 0": r"(?<![\w.\[/'\"`])\.\d",
    "a fronted 'Of'": r"(?m)^(?:- )?Of [a-z]+ ",
    "doubt is said": r"\b(?:is|are|was) said\b",
    "so many": r"\bso many\b",
    "is none, anew": r"\b(?:is|are|has|have) none\b|\banew\b",
    "earlier versions of a page": r"\bthis page said\b|\bwas tried\b|\bwere tried\b",
}


def text_of(page):
    text = page.read_text(encoding="utf-8")
    if found := re.match(r"<!-- from: (\S+) -->", text):
        return (ROOT / found[1]).read_text(encoding="utf-8")
    return text


def prose(page):
    text = re.sub(r"```.*?```|`[^`]*`", "", text_of(page), flags=re.DOTALL)
    return text.partition("## House style")[0]  # which shows what not to write


def test_the_site_is_short():
    words = sum(len(text_of(page).split()) for page in PAGES)
    assert words <= MOST_WORDS, words


WRITTEN = [page for page in PAGES if page.name not in ("changelog.md", "architecture.md")]


@pytest.mark.parametrize("page", WRITTEN, ids=lambda page: page.relative_to(DOCS).as_posix())
@pytest.mark.parametrize("name", PATTERNS)
def test_pages_keep_the_house_style(page, name):
    found = re.search(PATTERNS[name], prose(page))
    assert found is None, prose(page)[max(0, found.start() - 40) : found.end() + 40]


def messages(path):
    """The texts of a module that are not docstrings: errors, warnings, help and results."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
        if is_text and id(node) not in docstrings and " " in node.value:
            yield node.value


def test_messages_keep_the_house_style():
    names = ("a fronted 'Of'", "doubt is said", "so many", "is none, anew")
    for path in sorted((ROOT / "src").rglob("*.py")):
        for text in messages(path):
            for name in names:
                assert re.search(PATTERNS[name], text) is None, (path.name, name, text)
