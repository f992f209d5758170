"""The terminal session of docs/cli.md is what the commands print today."""

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DATA = ROOT.parent / "shared" / "data" / "paper"


def load_script():
    place = ROOT / "docs" / "terminal_session.py"
    spec = importlib.util.spec_from_file_location("terminal_session", place)
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_session_is_current():
    script = load_script()
    missing = [name for name in script.SETS if not (DATA / f"{name}.data").is_file()]
    if missing:
        pytest.skip(f"the UCI sets {', '.join(missing)} are not in ../shared/data/paper")
    page = script.page_with(script.session(DATA))
    assert script.rounded(page) == script.rounded(script.PAGE.read_text(encoding="utf-8"))


def test_every_command_is_on_the_page():
    from eigencut.cli.app import app

    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    assert all(f"`eigencut {name}" in page for name in app.commands)
