"""Draws the pictures of the pages, by the scripts of ``docs/pictures``, before they are read.

A script writes its files into ``docs/_pictures``. It runs again when it, or the library, is newer
than what it has written.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.util import logging

import eigencut

DOCS = Path(__file__).parents[1]
log = logging.getLogger(__name__)


def draw(app: Sphinx) -> None:
    folder = DOCS / "_pictures"
    folder.mkdir(exist_ok=True)
    library = max(p.stat().st_mtime for p in Path(eigencut.__file__).parent.rglob("*.py"))
    for script in sorted((DOCS / "pictures").glob("[a-z]*.py")):
        done = folder / f"{script.stem}.done"
        if done.exists() and done.stat().st_mtime > max(script.stat().st_mtime, library):
            continue
        log.info("drawing %s", script.name)
        environment = os.environ | {"MPLBACKEND": "agg"}
        subprocess.run([sys.executable, script, folder], check=True, env=environment)
        done.touch()


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("builder-inited", draw, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
