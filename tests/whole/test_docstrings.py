"""Docstrings of public names, as numpydoc reads them."""

import inspect
import re
from dataclasses import fields, is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

import eigencut
from eigencut.model import Model

validate = pytest.importorskip("numpydoc.validate").validate

ROOMS = ["inspection", "theory", "export", "compat", "plotting", "report"]
PARTNERS = ("bertopic", "dask", "image", "scanpy", "spark", "spatial")
ROOMS += [f"integrations.{name}" for name in PARTNERS]
SAID = {
    "GL06",  # a section that numpydoc does not know
    "GL07",  # sections in the wrong order
    "GL08",  # no docstring
    "SS03",  # a summary that does not end with a period
    "SS06",  # a summary of several lines
    "PR02",  # a parameter that is not there
    "PR03",  # parameters in another order
    "PR10",  # no space before the colon
}
SAID_OF_PARAMETERS = {"PR01", "RT01", "YD01"}  # what goes in and comes out is documented
# The two contracts are for those who write affinities and models: a sentence says more there than a
# table of arrays.
CONTRACT = set(vars(eigencut.Affinity)) | set(vars(Model)) - {"answers", "describe", "save"}
ROWS = {"self", "X", "y", "params"}  # as everywhere in scikit-learn; a summary is enough for them


def public(module):
    """Names of what a module offers, and of the public methods and properties of its classes."""
    names = getattr(module, "__all__", None) or [
        name for name, item in vars(module).items() if item_home(item) == module.__name__
    ]
    for name in names:
        item, path = getattr(module, name), f"{module.__name__}.{name}"
        if name.startswith("_") or not item_home(item).startswith("eigencut"):
            continue
        yield path
        if inspect.isclass(item):
            yield from (f"{path}.{method}" for method in own_methods(item))


def item_home(item):
    """The module of a class or function; nothing else has docstrings."""
    is_code = inspect.isclass(item) or inspect.isfunction(item)
    return item.__module__ if is_code else ""


def own_methods(kind):
    """Public methods and properties that are documented in eigencut, where they are documented."""
    for owner in (kind, Model) if issubclass(kind, Model) else (kind,):
        for name, item in vars(owner).items():
            is_method = inspect.isroutine(item) or isinstance(item, (property, classmethod))
            inherited = [
                base for base in owner.__mro__[1:] if getattr(vars(base).get(name), "__doc__", 0)
            ]
            if is_method and not name.startswith("_") and (item.__doc__ or not inherited):
                yield name


def codes_for(path):
    """What is asked of a name: less where another docstring, or the summary, says it all."""
    item, method = found(path), path.split(".")[-1]
    refers = re.findall(r"[Ss]ee ``(\w+\.\w+)``", item.__doc__ or "")
    if is_dataclass(item) or any(found(f"eigencut.{name}") for name in refers):
        return SAID
    if "." in path.removeprefix("eigencut.") and method in CONTRACT:
        return SAID
    return SAID | SAID_OF_PARAMETERS if takes_parameters(item) else SAID


def takes_parameters(item):
    """Whether something is a call with parameters of its own, besides rows."""
    is_exception = inspect.isclass(item) and issubclass(item, Exception)
    if not callable(item) or is_exception:
        return False
    return bool(set(inspect.signature(item).parameters) - ROWS)


def found(path):
    """The object of a dotted name."""
    item = eigencut
    for name in path.split(".")[1:]:
        item = getattr(item, name)
    return item


NAMES = [
    name
    for place in ["eigencut", *(f"eigencut.{room}" for room in ROOMS)]
    for name in public(import_module(place))
]


@pytest.mark.parametrize("name", NAMES)
def test_public_docstrings(name):
    errors = validate(name)["errors"]
    assert not [f"{code}: {text}" for code, text in errors if code in codes_for(name)]


@pytest.mark.parametrize("name", [name for name in NAMES if is_dataclass(found(name))])
def test_fields_are_documented(name):
    item = found(name)
    for field in fields(item):
        assert re.search(rf"^    (\w+, )*{field.name}\b.* :", item.__doc__, re.M), field.name


def test_all_rooms_are_walked():
    homes = {path.stem for path in Path(eigencut.__file__).parent.glob("integrations/[a-z]*.py")}
    public_homes = {name for name in homes if hasattr(eigencut, name)} | {"bertopic", "dask"}
    assert public_homes <= set(PARTNERS)
    assert len(NAMES) > 80
    for name in (
        "GPOD.predict",
        "Affinity.apply",
        "inspection.assess",
        "integrations.dask.predict",
    ):
        assert f"eigencut.{name}" in NAMES
