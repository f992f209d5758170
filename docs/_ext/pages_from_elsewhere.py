"""Pages that live beside the code, and links that work both in the repository and on the site.

A page whose text is ``<!-- from: PATH -->`` shows the file at that path of the repository. Links
are those of the file where it lives: to another page they become links of the site, to files that
are no page (code, folders) plain text. A link to nothing is a warning, and so an error.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.util import logging

DOCS = Path(__file__).parents[1]
ROOT = DOCS.parent
FROM = re.compile(r"<!-- from: (\S+) -->")
LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)")
NAMED_PAGE = re.compile(r"``docs/([\w/-]+)\.md``")

log = logging.getLogger(__name__)


def homes() -> dict[Path, Path]:
    """Files elsewhere in the repository, and the page of the site that shows each."""
    found = {ROOT / "README.md": DOCS / "index.md"}
    for page in DOCS.rglob("*.md"):
        if "_build" not in page.parts and (name := FROM.match(page.read_text(encoding="utf-8"))):
            found[ROOT / name[1]] = page
    return found


def read_source(app: Sphinx, docname: str, source: list[str]) -> None:
    """Put the text of a page in its place, with the links of the site."""
    page = Path(app.env.doc2path(docname))
    if page.suffix != ".md":
        return
    place = page
    if name := FROM.match(source[0]):
        place = ROOT / name[1]
        app.env.note_dependency(str(place))
        source[0] = place.read_text(encoding="utf-8")
    pages = app.config.pages_from_elsewhere

    def link(match: re.Match[str]) -> str:
        picture, text, target, anchor = match.groups(default="")
        path = Path(os.path.normpath(place.parent / target))
        if not path.exists():
            log.warning("link to nothing: %s", target, location=docname)
        shown = pages.get(path, path)
        if DOCS in shown.parents and shown.is_file():
            return f"{picture}[{text}]({os.path.relpath(shown, page.parent)}{anchor})"
        return text

    source[0] = LINK.sub(link, source[0])


def name_pages(
    app: Sphinx, what: str, name: str, item: object, options: Any, lines: list[str]
) -> None:
    """Docstrings name pages by their path in the repository; here these are links."""
    lines[:] = [NAMED_PAGE.sub(r":doc:`/\1`", line) for line in lines]


def skip_of_scikit_learn(
    app: Sphinx, what: str, name: str, item: Any, skip: bool, options: Any
) -> bool | None:
    """Methods that scikit-learn gives to every estimator are documented there."""
    home = getattr(item, "__module__", None) or ""
    return True if home.startswith("sklearn") or name.endswith("_request") else None


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_config_value("pages_from_elsewhere", homes(), "", [dict])
    app.connect("source-read", read_source)
    app.connect("autodoc-process-docstring", name_pages, priority=400)
    app.connect("autodoc-skip-member", skip_of_scikit_learn)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
