"""Writing a fitted model to a file.

What can be saved says its name there (``_saved_as``) and answers two questions: ``_state()`` is
what was fitted, as plain values, arrays, and other such objects; ``_restore(state)`` takes it back
instead of a fit. A file describes an object as ``{"class": ..., "parameters": ..., "state": ...}``:
plain values in the header, arrays by their path (see ``io.model_format``).
"""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.validation import numbers_in_words
from eigencut._version import __version__
from eigencut.exceptions import invalid
from eigencut.io.model_format import write


def save_model(
    model: Any, path: str | os.PathLike[str], *, include_training_data: bool = True
) -> None:
    """Write a fitted model, or an affinity, to a file."""
    values, arrays = _split(_fitted(model, include_training_data))
    content = {
        "eigencut": __version__,
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in ("numpy", "scipy", "scikit-learn")},
        "model": values,
    }
    write(path, content, arrays)


def _class_name(item: Any) -> str:
    name = vars(type(item)).get("_saved_as")  # its own: a class derived from it is another
    if name is None:
        raise ValueError(
            "Only models and affinities of eigencut that are plain numbers can be saved. Got "
            f"{type(item).__name__}, which is Python code; of a kernel, use affinity='precomputed' "
            "with the weights that it computes."
        )
    return str(name)


def _unfitted(item: Any) -> dict[str, Any]:
    kind = _class_name(item)
    given = getattr(item, "_saved_parameters", item.get_params)(deep=False)
    parameters = {name: _parameter(name, value) for name, value in given.items()}
    return {"class": kind, "parameters": parameters}


def _fitted(item: Any, include_training_data: bool) -> dict[str, Any]:
    _class_name(item)  # before asking it for its state
    state = {
        name: _fitted(value, include_training_data) if hasattr(value, "get_params") else value
        for name, value in item._state(include_training_data).items()
    }
    return {**_unfitted(item), "state": state}


def _parameter(name: str, value: Any) -> Any:
    if hasattr(value, "get_params"):
        return _unfitted(value)
    value = value.item() if isinstance(value, np.generic) else value
    if name == "n_clusters" and isinstance(value, (range, list, tuple)):
        return numbers_in_words(value)
    if not (value is None or isinstance(value, (bool, int, float, str))):
        expected = "be a number, a word or None for a model to be saved"
        got = f"{type(value).__name__}, which is Python code"
        raise invalid(name, expected, got, f"use another, or set_params({name}=...)")
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
