"""The pages of the documentation that people write; what ``make docs`` generates is left out."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
GENERATED = {"_build", "_pictures", "gallery", "generated"}
PAGES = [
    page for page in sorted(DOCS.rglob("*.md")) if not GENERATED & set(page.relative_to(DOCS).parts)
]
STORIES = [  # a block goes on with the last one
    DOCS / "getting-started.md",
    DOCS / "migration.md",
    DOCS / "guide" / "weights.md",
]


def python_blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(encoding="utf-8"), re.DOTALL)


def runnable():
    """Names and code: every block of a page on its own, the blocks of a story as one."""
    for page in PAGES:
        name, blocks = page.relative_to(DOCS).as_posix(), python_blocks(page)
        if page in STORIES:
            yield name, "\n".join(blocks)
        else:
            yield from ((f"{name}-{number}", code) for number, code in enumerate(blocks))
