"""Opens every page of the built site in Chromium without a window, wide and on a phone.

    python docs/check_site.py docs/_build/html [--pictures FOLDER] [--only NAME ...]

A page must have no error on its console, ask for nothing but files beside it, have all of its
pictures, and not scroll sideways at the width asked for: tables and code scroll in boxes of their
own (pages of the reference, all alike, are opened wide only). ``--pictures`` keeps a screenshot
of each.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))
import browser as chromium  # noqa: E402  # tests/browser.py

chromium.SECONDS = 300  # for an answer: whoever builds a site waits
WIDTHS = (1440, 390)
BROKEN_PICTURES = (
    "Array.from(document.images).filter(i => i.getAttribute('loading') !== 'lazy'"
    " && i.complete && !i.naturalWidth).map(i => i.src)"
)
# Not beside window.innerWidth: on a phone that grows with the page.
WIDTH = "document.documentElement.scrollWidth"
# Tables and code may be wider than their box and scroll in it; nothing else, as all of the text.
SCROLLING = """[...document.querySelectorAll('body *')].filter(e => {
    const style = getComputedStyle(e), box = e.getBoundingClientRect();
    return e.scrollWidth > e.clientWidth + 1 && e.clientWidth && box.height && box.left < innerWidth
        && box.right > 0 && ['auto', 'scroll', 'hidden'].includes(style.overflowX)
        && !e.closest('pre, .pst-scrollable-table-container, button, select, input, textarea')
        && style.textOverflow !== 'ellipsis' && style.position !== 'absolute';
}).map(e => {
    const inner = [...e.querySelectorAll('*')].filter(i => i.scrollWidth > e.clientWidth
        && !i.closest('pre, .pst-scrollable-table-container') && i.textContent.trim());
    return (inner.pop() || e).textContent.trim().replace(/\\s+/g, ' ').slice(0, 50);
})"""
# Cells of which a word does not fit on a line, though they would have words.
NARROW = """[...document.querySelectorAll('td, th')].filter(e => e.clientWidth && e.clientWidth < 60
    && e.textContent.trim().length > 24).map(e => e.textContent.trim().slice(0, 50))"""


def problems(browser: chromium.Browser, path: Path, width: int, picture: Path | None) -> list[str]:
    """What is wrong with a page at a width."""
    page = browser.open(path, width=width)
    try:
        found = [f"console: {error}" for error in page.errors]
        found += [f"asks for {address}" for address in page.requests]
        found += [f"no picture {source}" for source in page.evaluate(BROKEN_PICTURES)]
        if (beyond := page.evaluate(WIDTH) - width) > 1:
            found.append(f"{beyond} pixels too wide")
        found += [f"too wide, and scrolls: {text!r}" for text in page.evaluate(SCROLLING)]
        found += [f"too narrow: {text!r}" for text in page.evaluate(NARROW)]
        if picture is not None:
            page.screenshot(picture)
        return [f"at {width} pixels: {text}" for text in found]
    finally:
        page.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("site", type=Path)
    parser.add_argument("--pictures", type=Path, help="a folder for screenshots")
    parser.add_argument("--only", nargs="*", help="pages, as index or api/index")
    asked = parser.parse_args()
    if chromium.find_chromium() is None:
        print("Skipped: there is no Chromium here. Install it, or name it in EIGENCUT_CHROMIUM.")
        return 0
    pages = [path for path in sorted(asked.site.rglob("*.html")) if "_static" not in path.parts]
    wrong = 0
    with chromium.Browser() as browser:
        for path in pages:
            name = path.relative_to(asked.site).with_suffix("").as_posix()
            if asked.only and name not in asked.only:
                continue
            for width in WIDTHS[: 1 if name.startswith("api/") else None]:
                picture = None
                if asked.pictures:
                    asked.pictures.mkdir(parents=True, exist_ok=True)
                    picture = asked.pictures / f"{name.replace('/', '.')}-{width}.png"
                for problem in problems(browser, path, width, picture):
                    print(f"{name} {problem}")
                    wrong += 1
    print(f"{len(pages)} pages, {wrong} problems")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
