"""The house: imports point one way, and importing is cheap."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import eigencut

SOURCE = Path(eigencut.__file__).parent

# Lower rooms must not import from higher ones. Rooms of the same height may import each other
# as long as Python itself does not complain.
HEIGHT = {
    "_version": 0,
    "atomic": 0,
    "container": 0,
    "live_line": 0,
    "memory": 0,
    "native": 0,
    "notices": 0,
    "parallel": 0,
    "persistence": 0,
    "progress": 0,
    "row_blocks": 0,
    "state": 0,
    "stream": 0,
    "tables": 0,
    "validation": 1,
    "affinity": 1,
    "budget": 2,
    "cut": 2,
    "components": 2,
    "crumbs": 2,
    "eigenpairs": 2,
    "sparse_eigenpairs": 2,
    "multilevel": 2,
    "plain_lanczos": 2,
    "block_iteration": 2,
    "extension": 3,
    "discretization": 3,
    "risk": 3,
    "labelling": 4,
    "spectrum": 4,
    "criteria": 4,
    "estimator": 5,
    "distributed": 6,
    "selection": 6,
    "spark": 6,
    "datasets": 6,
    "table_model": 6,
    "export": 7,
    "paper": 7,
    "__init__": 8,
    "cli": 9,
    "__main__": 10,
}


def room(module):
    return module.split(".")[0]


def imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            assert node.level == 0, f"relative import in {path}"
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: p.stem)
def test_imports_point_down(path):
    here = room(".".join(path.relative_to(SOURCE).with_suffix("").parts))
    for name in imports(path):
        if name.startswith("eigencut."):
            there = room(name.removeprefix("eigencut."))
            assert HEIGHT[there] <= HEIGHT[here], f"{here} imports {there}, which is above it"
        elif name == "eigencut":
            assert here == "__init__", f"{here} imports the whole package"


@pytest.mark.parametrize("path", sorted(SOURCE.rglob("*.py")), ids=lambda p: p.stem)
def test_only_cut_knows_the_cuts(path):
    """The names of the cuts are compared nowhere but in cut.py."""
    if path.name != "cut.py":
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                text = ast.unparse(node)
                assert "'ncut'" not in text and "'ratiocut'" not in text, text


def test_importing_is_cheap():
    code = "import sys, eigencut; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"matplotlib", "pandas", "dask", "pyarrow", "polars", "rich", "click"}
