"""Code in cells of tables runs: on every page, whatever is a call or a parameter with its value.

A span is code that can run if it is a Python expression with a call in it and nothing left open
(``...``), a keyword argument, or a value below the name of a parameter. Formulas are no Python,
commands are none, and names alone are the matter of ``test_docs_names.py``.
"""

import ast
import builtins
import functools
import inspect
import re
from contextlib import nullcontext
from importlib.util import find_spec

import numpy as np
import pytest
import sklearn.cluster
import sklearn.metrics.pairwise
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

import doc_pages
import eigencut
from eigencut import GPOD, Affinity, TableModel, report
from eigencut.affinities.base import VectorAffinity

PAGES = [doc_pages.ROOT / "README.md", *doc_pages.PAGES]
PUBLIC = [getattr(eigencut, name) for name in eigencut.__all__]
TAKE_KEYWORDS = [
    *(kind for kind in PUBLIC if inspect.isclass(kind) and not issubclass(kind, Exception)),
    sklearn.cluster.SpectralClustering,  # of which a page tells how to leave it
    report.summarize,
    eigencut.scanpy.cluster,
]


def spans(page):
    """Code in the cells of the tables of a page; fenced blocks have tests of their own."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for line in re.findall(r"^\|.*\|$", text, re.M):
        yield from re.findall(r"`([^`]+)`", line)


def parsed(code):
    try:
        return ast.parse(code, mode="eval").body
    except SyntaxError:
        return None


def is_open(tree):
    """Whether something is left for the reader to fill in."""
    return any(isinstance(node, ast.Constant) and node.value is ... for node in ast.walk(tree))


def keyword(code):
    """The keyword argument that a span is, or None."""
    found = parsed(f"f({code})") if re.match(r"[a-z_]\w*=[^=]", code) else None
    return found.keywords[0] if found is not None and len(found.keywords) == 1 else None


def runs(code):
    tree = parsed(code)
    has_call = tree is not None and any(isinstance(node, ast.Call) for node in ast.walk(tree))
    return has_call and not is_open(tree)


def cells(wanted):
    """Each span once, with the first page that has it."""
    found = {}
    for page in PAGES:
        for code in spans(page):
            if wanted(code):
                found.setdefault(code, page.stem)
    return [pytest.param(code, id=f"{page}: {code}") for code, page in found.items()]


CALLS = cells(runs)
KEYWORDS = cells(lambda code: keyword(code) is not None and not is_open(keyword(code)))


def modules(code, names):
    """Packages that the code is of, as ``mlflow.sklearn.log_model(...)`` is."""
    bases = {n.value.id for n in ast.walk(parsed(code)) if is_attribute_of_name(n)}
    return sorted(name for name in bases - set(names) if not hasattr(builtins, name))


def is_attribute_of_name(node):
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)


def method(code, names):
    """Of what ``apply(X_new, V)`` is a call, where a table tells of the methods of a class."""
    function = parsed(code).func if isinstance(parsed(code), ast.Call) else None
    if not isinstance(function, ast.Name) or function.id in names:
        return None
    found = [getattr(kind, function.id, None) for kind in (Affinity, VectorAffinity, GPOD)]
    return next(filter(None, found), None)


@pytest.fixture
def more_names(names, request):
    """What cells speak of besides what blocks do."""
    X, k = names["X"], sklearn.metrics.pairwise.rbf_kernel
    curve = functools.partial(eigencut.theory.learning_curve, n_repeats=2)
    rooms = (eigencut.inspection, eigencut.theory)
    given = {name: getattr(room, name) for room in rooms for name in room.__all__}
    given |= {name: getattr(eigencut, name) for name in eigencut.__all__}
    given |= {name: getattr(eigencut.plotting, name) for name in eigencut.plotting.__all__}
    given |= names | {"K": 3, "k": k, "A": X, "B": X, "gamma": 1.0, "functools": functools}
    given |= {
        "np": np,
        "make_pipeline": make_pipeline,
        "StandardScaler": StandardScaler,
        "w": np.ones(len(X)),
        "x": np.exp(X),
        "polynomial_kernel": sklearn.metrics.pairwise.polynomial_kernel,
    }
    given |= {"texts": ["a text"] * len(X), "rows": eigencut.Rows.from_array(X)}
    code = request.getfixturevalue("code")
    if '"note"' in code:
        given["frame"] = names["frame"].assign(note=None)
    if "curve" in code and "target" in code:
        given |= {"curve": curve(GPOD(3), X, [50, 100, 200]), "target": 0.05}
    if ".dask." in code:
        given["X"] = pytest.importorskip("dask.array").from_array(X, chunks=(100, 2))
        given["model"] = GPOD(3, affinity="landmarks").fit(X)
    return given


@pytest.mark.parametrize("code", CALLS)
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_calls_run(code, more_names):
    if ".spark." in code:
        pytest.skip("needs a Spark session: tests/integrations/test_spark.py")
    if (found := method(code, more_names)) is not None:
        inspect.signature(found).bind("self", *parsed(code).args)
        return
    for name in modules(code, more_names):
        if find_spec(name) is None:
            pytest.skip(f"{name} is not installed: make test-integrations")
    value = eval(compile(code, "a cell of a table", "eval"), more_names)
    if isinstance(value, Affinity):
        value = GPOD(3, affinity=value)
    if hasattr(value, "fit") and isinstance(value, BaseEstimator) and not is_fitted(value):
        labels = value.fit(more_names["X"]).predict(more_names["X_heldout"])
        assert labels.shape == (60,) and np.issubdtype(labels.dtype, np.integer)


@pytest.mark.parametrize("code", KEYWORDS)
def test_parameters_exist_and_take_the_value(code, names):
    found = keyword(code)
    known = [kind for kind in TAKE_KEYWORDS if found.arg in inspect.signature(kind).parameters]
    assert known, f"nothing has a parameter {found.arg}"
    eval(compile(ast.Expression(found.value), code, "eval"), vars(eigencut) | names)


def values():
    """Values in columns of tables that are headed by a parameter: ``metric``, ``columns={...}``."""
    found = {}
    for page in PAGES:
        text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
        for table in re.findall(r"(?:^\|.*\|\n)+", text, re.M):
            head, _, *lines = (
                re.split(r" *(?<!\\)\| *", line)[1:-1] for line in table.splitlines()
            )
            for place, name in enumerate(head):
                asked = re.match(r"(?:.*`)?(metric|missing|columns|n_clusters)(={.*}|=)?\b", name)
                for line in lines if asked and len(name.split()) < 6 else ():
                    for code in re.findall(r"`([^`]+)`", line[place]):
                        if isinstance(parsed(code), ast.Constant | ast.List):
                            found.setdefault((asked[1], code), page.stem)
    return [pytest.param(*of, id=f"{page}: {'='.join(of)}") for of, page in found.items()]


VALUES = values()


@pytest.mark.parametrize(("name", "code"), VALUES)
@pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
def test_values_are_taken(name, code, names):
    value, rng = ast.literal_eval(code), np.random.default_rng(0)
    X, frame = names["X"], names["frame"][["x", "y"]]
    if name == "metric":
        sets = rng.integers(0, 2, (400, 14)).astype(float)
        GPOD(3, metric=value).fit(sets if value in ("hamming", "jaccard") else X)
    elif name == "n_clusters":
        assert GPOD(value).fit(X).n_clusters_ >= 1
    elif name == "missing":
        frame.iloc[3, 0] = np.nan
        with pytest.raises(ValueError, match="missing") if value == "refuse" else nullcontext():
            assert TableModel(GPOD(3), missing=value).fit(frame).predict(frame).shape == (400,)
    else:
        words = value if isinstance(value, list) else ["a", "b", "c"]
        kinds = {"numeric": np.arange(400.0), "boolean": np.arange(400) % 2 == 0}
        kinds["date"] = np.datetime64("2026-01-01") + np.arange(400).astype("timedelta64[D]")
        kind = "" if isinstance(value, list) else value.split(":")[0]
        frame["c"] = kinds.get(kind, np.resize(words, 400))
        TableModel(GPOD(3), columns={"c": value}).fit(frame)


def is_fitted(model):
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def test_what_is_code_and_what_is_none():
    for code in ("model.predict(X)", "GPOD(3)", "k(A, B)"):
        assert runs(code)
    for none in ("exp(-distance² / 2 sigma²)", "sqrt(2 - 2 cos)", "eigencut fit TABLE -o MODEL"):
        assert not runs(none)
    for none in ("GPOD(...)", "labels_", '"auto"', "--drop name", "affinity/", "cut.py"):
        assert not runs(none)
    assert keyword('affinity="landmarks"').arg == "affinity"
    assert keyword("--new TABLE") is keyword("a == b") is keyword("f(a=1)") is None


def test_tables_with_code_are_found():
    pages = {str(param.id).split(":")[0] for param in (*CALLS, *KEYWORDS)}
    assert pages >= {"cheat-sheet", "defaults", "weights", "migration", "plots", "scale"}
    assert pages >= {"describe", "how-it-works", "uncertainty"}
    assert {str(param.id).split(":")[0] for param in VALUES} >= {"defaults", "tables", "choosing-k"}
    assert len(CALLS) > 60 and len(KEYWORDS) > 15 and len(VALUES) > 12
