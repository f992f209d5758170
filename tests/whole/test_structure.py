"""The house: rooms with imports that point one way, and importing is cheap."""

import ast
import re
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import eigencut

SOURCE = Path(eigencut.__file__).parent

# The rooms from top to bottom: a module imports from its own room and from those below. A module
# named here stands at that height, whatever the height of the room it is in.
FLOORS = [
    ["__main__"],
    ["cli"],
    ["__init__"],
    ["report", "image", "scanpy", "spark", "spatial"],
    ["export", "integrations", "plotting"],
    ["compat"],
    ["loading"],
    ["hierarchy.recluster"],
    ["auto.select", "tables.table_model"],
    ["gpod"],
    ["updating.alignment"],
    ["model"],
    ["tables"],
    ["updating"],
    ["pipeline"],
    ["hierarchy"],
    ["fitted", "auto"],
    ["inspection", "semi_supervised"],
    ["theory"],
    ["plotting.curves"],  # what theory and auto found draws itself
    ["plotting.style"],
    ["extension"],
    ["discretization", "solvers"],
    ["cut"],
    ["affinities"],
    ["graphs"],
    ["neighbors"],
    ["io"],
    ["kernels"],
    ["_utils"],
    ["exceptions", "_version"],
]
HEIGHT = {place: -floor for floor, places in enumerate(FLOORS) for place in places}
TOP = {"__init__", "__main__", "_version", "cut", "discretization", "gpod"}
TOP |= {"exceptions", "fitted", "loading", "model", "pipeline"}
DOORS = ["image", "scanpy", "spark", "spatial"]  # names of partners: what they offer, no more
TOP |= set(DOORS)


def module_of(path):
    parts = path.relative_to(SOURCE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {module_of(path): path for path in sorted(SOURCE.rglob("*.py"))}


def place_of(module):
    """The room of a module, or the module itself where it has a height of its own."""
    return module if module in HEIGHT else module.split(".")[0]


def imports(module):
    """The modules that a module imports, at its top or lazily; not for type checkers only."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    ignored = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for inner in ast.walk(node)
    }
    for node in ast.walk(tree):
        if id(node) in ignored:
            continue
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in {module}"
            inner = [f"{node.module}.{alias.name}" for alias in node.names]
            found = [name for name in inner if name.removeprefix("eigencut.") in MODULES]
            yield from found or [node.module]
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def own_imports(module):
    for name in imports(module):
        if name == "eigencut":
            yield "__init__"
        elif name.startswith("eigencut."):
            yield name.removeprefix("eigencut.")


@pytest.mark.parametrize("module", MODULES)
def test_every_module_is_in_a_room(module):
    assert place_of(module) in HEIGHT, f"{module} is in no room: see FLOORS"
    if "." not in module and MODULES[module].name != "__init__.py":
        assert module in TOP, f"{module} must be in a room, not at the top"


@pytest.mark.parametrize("module", MODULES)
def test_imports_point_down(module):
    here = place_of(module)
    for name in own_imports(module):
        there = place_of(name)
        below = HEIGHT[there] < HEIGHT[here]
        assert below or there == here, f"{module} imports {name}, which is not below it"


@pytest.mark.parametrize("door", DOORS)
def test_doors_to_integrations_only_name_what_is_there(door):
    """A docstring, an import of the module of the same name, and what it offers."""
    words, taken, offered = ast.parse(MODULES[door].read_text(encoding="utf-8")).body
    assert isinstance(words, ast.Expr) and isinstance(offered, ast.Assign)
    assert isinstance(taken, ast.ImportFrom) and taken.module == f"eigencut.integrations.{door}"


def test_partners_are_reached_by_every_form_of_import():
    """In a process of its own, where nothing was imported before; and no partner is."""
    code = "\n".join(map(imported_by_every_form, DOORS))
    code += "\nassert not {'scanpy', 'pyspark', 'skimage', 'libpysal', 'torch'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def imported_by_every_form(door):
    inner = f"eigencut.integrations.{door}"
    forms = (
        f"import eigencut; there = eigencut.{door}",
        f"import eigencut.{door} as there",
        f"from eigencut import {door} as there",
        f"import {inner}; import eigencut.{door} as there",
    )
    names = ast.literal_eval(ast.parse(MODULES[door].read_text(encoding="utf-8")).body[2].value)
    forms += (f"from eigencut.{door} import {', '.join(names)}; there = None",)
    return "\n".join(
        f"import sys; exec({form!r}); import {inner}\n"
        f"assert there is None or all(getattr(there, n) is getattr({inner}, n) for n in {names})\n"
        "del there; [sys.modules.pop(n) for n in list(sys.modules) if n.startswith('eigencut')]"
        for form in forms
    )


def test_no_two_modules_import_each_other():
    """Not even lazily, inside of functions."""
    graph = {module: set(own_imports(module)) - {module} for module in MODULES}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a cycle of imports: {' -> '.join(error.args[1])}")


def top_imports(module):
    """The modules that a module imports whenever it is imported itself."""
    tree = ast.parse(MODULES[module].read_text(encoding="utf-8"))
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "eigencut":
            inner = {f"{node.module}.{alias.name}" for alias in node.names} | {node.module}
            yield from {name.removeprefix("eigencut.") for name in inner} & set(MODULES)


def test_following_one_computation_takes_few_hops():
    """The longest chain of imports from the estimator down."""
    depth = {}

    def longest(module):
        if module not in depth:
            below = set(top_imports(module)) - {module}
            depth[module] = max(((module, *longest(name)) for name in below), key=len, default=())
            depth[module] = depth[module] or (module,)
        return depth[module]

    chain = longest("gpod")
    assert len(chain) <= 12, " -> ".join(chain)


@pytest.mark.parametrize("room", [m for m in MODULES if MODULES[m].name == "__init__.py"])
def test_every_room_says_what_is_in_it(room):
    assert ast.get_docstring(ast.parse(MODULES[room].read_text(encoding="utf-8")))


@pytest.mark.parametrize("module", MODULES)
def test_only_cut_knows_the_cuts(module):
    """The names of the cuts are compared nowhere but in cut.py."""
    if module != "cut":
        for node in ast.walk(ast.parse(MODULES[module].read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                text = ast.unparse(node)
                assert "'ncut'" not in text and "'ratiocut'" not in text, text


def test_importing_is_cheap():
    code = "import sys, eigencut; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name.split(".")[0] for name in done.stdout.split()}
    assert not loaded & {"matplotlib", "pandas", "dask", "pyarrow", "polars", "rich", "click"}


WALK = """
import sys, threading
from sklearn.datasets import make_blobs
from eigencut import GPOD
X, _ = make_blobs(1000, centers=3, random_state=0)
seen = set()
def note(frame, event, _):
    if event == "call":
        seen.add(frame.f_code.co_filename)
sys.setprofile(note), threading.setprofile(note)
GPOD(3).fit(X)
sys.setprofile(None)
print(*seen, sep=chr(10))
"""


def test_the_walk_of_a_fit_is_drawn_as_it_is():
    """Files that docs/architecture.md does not name, and files that it names for nothing."""
    page = (SOURCE.parents[1] / "docs" / "architecture.md").read_text(encoding="utf-8")
    drawn = set(re.findall(r"`([\w/]+\.py)`", page.split("<!-- walk -->")[1].split("<!-- end")[0]))
    done = subprocess.run([sys.executable, "-c", WALK], capture_output=True, text=True, check=True)
    passed = {Path(line) for line in done.stdout.splitlines() if line.startswith(str(SOURCE))}
    passed = {str(path.relative_to(SOURCE)) for path in passed}
    assert drawn == passed - {"kernels/__init__.py"}  # the build in C, if there is one
    assert len(drawn) <= 30
