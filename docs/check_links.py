"""Does every link of the built site lead to a file, and every anchor to a place in it?

    python docs/check_links.py docs/_build/html

Sphinx checks the links that pages write; this looks at what was built: menus, cards, the gallery.
Addresses elsewhere are not asked for, since the site must build without a network; what a page
*loads* must be its own.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

TOP = {"", "top"}
LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src"}


class Page(HTMLParser):
    """Anchors, links and loaded files of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, pairs: list[tuple[str, str | None]]) -> None:
        values = dict(pairs)
        self.anchors.update(value for value in (values.get("id"), values.get("name")) if value)
        if tag == "a" and values.get("href"):
            self.links.append(values["href"] or "")
        if tag in LOADED and values.get(LOADED[tag]):
            self.loaded.append(values[LOADED[tag]] or "")
        if tag == "link" and values.get("rel") == "stylesheet":
            self.loaded.append(values["href"] or "")


def html_files(folder: Path) -> list[Path]:
    """Pages; the theme brings templates of its own in ``_static``."""
    return [path for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts]


def problems(folder: Path) -> list[str]:
    """Links to nothing, and what would be loaded from elsewhere."""
    pages = {path.resolve(): Page(path) for path in html_files(folder)}
    found = []
    for path, page in pages.items():
        name = path.relative_to(folder.resolve())
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                if link in page.loaded and parts.scheme != "data":
                    found.append(f"{name} loads {link}")
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                found.append(f"{name}: {link} leads to no file")
            elif target in pages and unquote(parts.fragment) not in pages[target].anchors | TOP:
                found.append(f"{name}: {link} leads to no place in {target.name}")
    return found


def main() -> int:
    folder = Path(sys.argv[1])
    found = problems(folder)
    print(*found, sep="\n") if found else None
    print(f"{len(html_files(folder))} pages, {len(found)} links that lead nowhere")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
