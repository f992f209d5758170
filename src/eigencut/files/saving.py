"""Objects kept in files: ``save`` and ``load``.

What can be saved stands in the table ``SAVABLE`` and answers two questions: ``state()`` is what was
fitted, as plain values, arrays, and other such objects; ``restore(state)`` takes it back instead of
a fit. A file describes an object as ``{"class": ..., "parameters": ..., "state": ...}``: plain
values in the header, arrays by their path (see ``files.format``). A class is looked up in the
table, never imported by a name that a file gives.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib import import_module
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eigencut._version import __version__
from eigencut.exceptions import ModelFileError
from eigencut.files.format import Header, read, write
from eigencut.files.reader import State

# Classes that can be saved, and the modules that hold them.
SAVABLE = {
    "GPOD": "eigencut.estimator",
    "Gaussian": "eigencut.affinity",
    "Landmarks": "eigencut.affinity",
    "Neighbors": "eigencut.affinity",
    "Precomputed": "eigencut.affinity",
    "TableModel": "eigencut.data.table_model",
}
_LIBRARIES = ("numpy", "scipy", "scikit-learn")

Kind = TypeVar("Kind")


def save(model: Any, path: str | os.PathLike[str], *, include_training_data: bool = True) -> None:
    """Write a fitted model to a file; ``model.save(path)`` is the same.

    Parameters
    ----------
    model : fitted GPOD or TableModel
    path : path
    include_training_data : bool, default=True
        See ``GPOD.save``.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from eigencut import GPOD
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = GPOD(n_clusters=3).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder) / "model.eigencut"
    ...     model.save(path)
    ...     again = load(path)
    >>> bool((again.predict(X + 0.1) == model.predict(X + 0.1)).all())
    True
    """
    values, arrays = _split(_fitted(model, include_training_data))
    content = {
        "eigencut": __version__,
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in _LIBRARIES},
        "model": values,
    }
    write(path, content, arrays)


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Read a model from a file, whoever wrote it; nothing in it is ever run.

    Everything is verified before it is used. The model predicts, bit for bit, what the saved one
    did (with the same versions of the libraries on the same kind of machine).

    Parameters
    ----------
    path : path
    mmap : bool, default=False
        Leave the arrays in the file, mapped into memory and shared between processes. The file
        must then stay unchanged; ``save`` over it is safe, for it makes a new one.

    Returns
    -------
    GPOD or TableModel
    """
    header, arrays = read(path, mmap=mmap)
    try:
        return restored(State(_joined(header, arrays)), object)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {error}") from error


def restored(described: State, kind: type[Kind]) -> Kind:
    """The fitted object that a file describes, if it is of this kind."""
    found = _unfitted_from(described)
    if not isinstance(found, kind):
        raise ModelFileError(f"a {kind.__name__} is expected. Got {type(found).__name__}.")
    found.restore(described.part("state"))  # type: ignore[attr-defined]
    return found


def _unfitted_from(described: State) -> Any:
    name = described.word("class", SAVABLE)
    parameters = described.part("parameters")
    given = parameters.scalars()
    given |= {group: _unfitted_from(parameters.part(group)) for group in parameters.groups()}
    return getattr(import_module(SAVABLE[name]), name)(**given)


# --------------------------------------------------------------------------- objects to plain trees


def _class_name(item: Any) -> str:
    kind = type(item).__name__
    if SAVABLE.get(kind) is None or not type(item).__module__.startswith(SAVABLE[kind]):
        raise ValueError(
            f"Only {', '.join(SAVABLE)} can be saved. Got {kind}, which is Python code; "
            "of a kernel, use affinity='precomputed' with the weights that it computes."
        )
    return kind


def _unfitted(item: Any) -> dict[str, Any]:
    kind, given = _class_name(item), item.get_params(deep=False)
    parameters = {name: _parameter(name, value) for name, value in given.items()}
    return {"class": kind, "parameters": parameters}


def _fitted(item: Any, include_training_data: bool) -> dict[str, Any]:
    _class_name(item)  # before asking it for its state
    state = {
        name: _fitted(value, include_training_data) if hasattr(value, "get_params") else value
        for name, value in item.state(include_training_data).items()
    }
    return {**_unfitted(item), "state": state}


def _parameter(name: str, value: Any) -> Any:
    if hasattr(value, "get_params"):
        return _unfitted(value)
    value = value.item() if isinstance(value, np.generic) else value
    if not (value is None or isinstance(value, (bool, int, float, str))):
        raise ValueError(
            f"{name} must be a number, a word or None for a model to be saved. Got "
            f"{type(value).__name__}, which is Python code; use another, or set_params({name}=...)."
        )
    return value


def _split(tree: Mapping[str, Any], path: str = "") -> tuple[dict[str, Any], dict[str, Any]]:
    """The plain values of a tree, and its arrays by their path in it."""
    values: dict[str, Any] = {}
    arrays: dict[str, NDArray[Any]] = {}
    for name, value in tree.items():
        here = f"{path}{name}"
        if isinstance(value, np.ndarray):
            arrays[here] = value
        elif isinstance(value, Mapping):
            values[name], found = _split(value, f"{here}.")
            arrays |= found
        else:
            values[name] = value.item() if isinstance(value, np.generic) else value
    return values, arrays


def _joined(header: Header, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """The tree that ``_split`` took apart."""
    tree = header.content.get("model")
    for path, array in arrays.items():
        *groups, name = path.split(".")
        place: Any = tree
        for group in groups:
            place = place.get(group) if isinstance(place, dict) else None
        if not isinstance(place, dict) or name in place:
            raise ModelFileError(f"the array {path} has no place in the model.")
        place[name] = array
    return tree if isinstance(tree, dict) else {}
