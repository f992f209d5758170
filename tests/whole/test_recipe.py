"""The recipe for conda says what pyproject.toml says."""

import re
import tomllib
from pathlib import Path

import yaml

import eigencut

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def recipe():
    """The recipe as conda reads it: names in braces filled in, functions as text."""
    text = (ROOT / "recipe" / "meta.yaml").read_text(encoding="utf-8")
    [version] = re.findall(r'{% set version = "(.*)" %}', text)
    text = re.sub(r"{%.*%}", "", text).replace("{{ version }}", version)
    return yaml.safe_load(re.sub(r"{{ (.*?) }}", lambda found: found[1].replace('"', ""), text))


def test_the_version_is_that_of_the_package():
    assert recipe()["package"] == {"name": PROJECT["name"], "version": eigencut.__version__}


def test_what_is_needed_is_what_the_package_and_its_command_need():
    needed = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["cli"]]
    python = f"python {PROJECT['requires-python']}"
    assert recipe()["requirements"]["run"] == [python, *(n.replace(">", " >", 1) for n in needed)]
    [build] = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    assert build.replace(">", " >", 1) in recipe()["requirements"]["host"]


def test_the_command_is_that_of_the_package():
    [command] = PROJECT["scripts"].items()
    assert recipe()["build"]["entry_points"] == [" = ".join(command)]
