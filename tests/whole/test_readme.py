"""What the README shows, runs."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("code", re.findall(r"```python\n(.*?)```", README, re.DOTALL))
def test_python_blocks_run(code, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})


@pytest.mark.parametrize(
    "page", ["README.md", "CONTRIBUTING.md", *map(str, Path("docs").glob("*.md"))]
)
def test_links_lead_somewhere(page):
    path = ROOT / page
    for link in re.findall(r"\]\(([^)#]+)\)", path.read_text(encoding="utf-8")):
        assert (path.parent / link).exists(), link
