"""Save fitted objects as plain values and arrays, and read them back with a check of every value.

A class that can be saved has a name in files (``_saved_as``), a method ``_state()``, and a method
``_restore(state)``, which reads values through the checks of ``StateReader``. A file describes an
object as ``{"class": ..., "parameters": ..., "state": ...}`` (see ``io.model_format``).
"""

from __future__ import annotations

import math
import os
import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.validation import numbers_in_words
from eigencut._version import __version__
from eigencut.exceptions import ModelFileError, invalid, shortened
from eigencut.io.model_format import write

Shape = tuple[int | None, ...]  # None: any length

LARGEST = 1e200  # of numbers in files that the library computes with, against overflow
Kind = TypeVar("Kind")


class StateReader:
    """A group of values in a file; its methods raise ``ModelFileError`` for unexpected values."""

    def __init__(
        self, values: Any, where: str = "", classes: Mapping[str, type] | None = None
    ) -> None:
        if not isinstance(values, Mapping):
            raise ModelFileError(f"{where or 'the content'} must be a group of values.")
        self._values = values
        self._where = where
        self._classes = classes or {}

    def _name(self, name: str) -> str:
        return f"{self._where}.{name}" if self._where else name

    def __contains__(self, name: str) -> bool:
        return name in self._values

    def raw(self, name: str) -> Any:
        """Return the value of this name in the file, unchecked."""
        if name not in self._values:
            raise ModelFileError(f"{self._name(name)} is missing.")
        return self._values[name]

    def part(self, name: str) -> StateReader:
        """Return a group of values inside this one."""
        return StateReader(self.raw(name), self._name(name), self._classes)

    def parts(self, name: str) -> list[StateReader]:
        """Return a list of groups of values inside this one."""
        value = self.raw(name)
        if not isinstance(value, list):
            raise self._refuse(name, "a list")
        return [StateReader(item, self._name(name), self._classes) for item in value]

    def fitted(self, name: str, kind: type[Kind]) -> Kind:
        """Return a fitted object, if it is of this kind."""
        return self.part(name).as_fitted(kind)

    def as_fitted(self, kind: type[Kind]) -> Kind:
        """Return the fitted object that this group describes, if it is of this kind."""
        model = self._unfitted(kind)
        model._restore(self.part("state"))  # type: ignore[attr-defined]
        return model

    def _unfitted(self, kind: type[Kind]) -> Kind:
        """Return an object of the class and the parameters of this group, without its state."""
        known = self._classes[self.word("class", self._classes)]  # never import a name in a file
        if not issubclass(known, kind):
            what = self._where or "the content"
            raise ModelFileError(f"{what} must be of kind {kind.__name__}. Got {known.__name__}.")
        parameters, kinds = self.part("parameters"), getattr(known, "_parameter_kinds", {})
        given = dict(parameters._values)
        for name, only in getattr(known, "_retired_parameters", {}).items():  # in older files
            if given.pop(name, only) != only:
                raise parameters._refuse(name, f"{only!r}, since this parameter was removed")
        for name, value in given.items():
            if name in kinds and isinstance(value, Mapping):
                given[name] = inner = parameters.part(name)._unfitted(kinds[name])
                getattr(inner, "_check_parameters", int)()  # fitted objects do it in ``_restore``
            elif not (value is None or isinstance(value, (bool, int, float, str))):
                raise parameters._refuse(name, "a number or a word")
            elif type(value) is int and abs(value) > 2**32:  # larger than any valid parameter
                raise parameters._refuse(name, "an integer below 2^32", repr(value))
        return known(**given)

    def groups(self) -> list[str]:
        """Return the names of the groups of values inside this one."""
        return [name for name, value in self._values.items() if isinstance(value, Mapping)]

    def _refuse(self, name: str, expected: str, got: str | None = None) -> ModelFileError:
        """Return the error for a value that is not what it must be."""
        said = "" if got is None else f" Got {shortened(got)}."
        return ModelFileError(f"{self._name(name)} must be {expected}.{said}")

    def integer(self, name: str, least: int, most: int = 2**53) -> int:
        """Return an integer between ``least`` and ``most``."""
        value = self.raw(name)
        if type(value) is not int or not least <= value <= most:
            raise self._refuse(name, f"an integer from {least} to {most}", repr(value))
        return value

    def number(self, name: str, least: float = -LARGEST, most: float = LARGEST) -> float:
        """Return a number between ``least`` and ``most``."""
        value = self.raw(name)
        if type(value) not in (int, float) or not least <= value <= most:
            raise self._refuse(name, f"a number from {least:g} to {most:g}", repr(value))
        return float(value)

    def flag(self, name: str) -> bool:
        """Return True or False."""
        value = self.raw(name)
        if type(value) is not bool:
            raise self._refuse(name, "true or false", repr(value))
        return value

    def word(self, name: str, choices: Mapping[str, Any] | tuple[str, ...]) -> str:
        """Return a word that must be one of the choices."""
        value = self.raw(name)
        if not (isinstance(value, str) and value in choices):
            raise self._refuse(name, f"one of {', '.join(choices)}", repr(value))
        return value

    def words(self, name: str, length: int | None = None, most: int | None = None) -> list[str]:
        """Return a list of different words, of this length or of at most ``most`` words."""
        expected = "different names" if length is None else f"{length} different names"
        value = self.texts(name, most, expected)
        if len(set(value)) < len(value) or length not in (None, len(value)):
            raise self._refuse(name, expected)
        return value

    def texts(self, name: str, most: int | None, expected: str = "a few texts") -> list[str]:
        """Return a list of at most ``most`` texts."""
        value = self.raw(name)
        is_list = isinstance(value, list) and all(isinstance(text, str) for text in value)
        if not is_list or len(value) > (most or len(value)):
            raise self._refuse(name, expected)
        return list(value)

    def words_and_numbers(self, name: str) -> list[tuple[str, float]]:
        """Return a list of pairs of a word and a finite number."""
        value = self.raw(name)
        pairs: list[Any] = value if isinstance(value, list) else [value]
        for pair in pairs:
            is_pair = isinstance(pair, list) and [type(part) for part in pair] == [str, float]
            if not (is_pair and math.isfinite(pair[1])):
                raise self._refuse(name, "pairs of a word and a number")
        return [(word, number) for word, number in pairs]

    def array(
        self, name: str, shape: Shape, least: float = -LARGEST, most: float = LARGEST
    ) -> NDArray[np.float64]:
        """Return an array of float64 of this shape, between ``least`` and ``most``."""
        found = self.coordinates(name, shape)
        if found.min() < least or found.max() > most:
            raise self._refuse(name, f"from {least:g} to {most:g}")
        return found

    def coordinates(self, name: str, shape: Shape) -> NDArray[np.float64]:
        """Return an array of finite float64 of this shape, of any magnitude."""
        return self._array(name, shape, np.dtype("<f8"))

    def indices(self, name: str, shape: Shape, below: int, least: int = 0) -> NDArray[np.intp]:
        """Return an array of integers from ``least`` to ``below``, exclusive."""
        found = self._array(name, shape, np.dtype("<i8"))
        if found.min() < least or found.max() >= below:
            raise self._refuse(name, f"from {least} to {below - 1}")
        return found.astype(np.intp, copy=False)

    def flags(self, name: str, shape: Shape) -> NDArray[np.bool_]:
        """Return an array of truth values, kept as the bytes 0 and 1."""
        found = self._array(name, shape, np.dtype("|u1"))
        if found.max() > 1:
            raise self._refuse(name, "0 or 1")
        return found.astype(bool)

    def csr(self, name: str, n_rows: int, n_columns: int | None = None) -> Any:
        """Return a sparse array of ``n_rows`` rows that ``csr_state`` described."""
        from scipy import sparse

        part = self.part(name)
        width = part.integer("n_columns", least=1, most=2**31 - 1)
        starts = part.indices("starts", (n_rows + 1,), below=2**53)
        data = part.coordinates("data", (int(starts[-1]),))
        columns = part.indices("columns", data.shape, below=width)
        if n_columns not in (None, width) or starts[0] != 0 or (np.diff(starts) < 0).any():
            raise ModelFileError(f"{self._name(name)} is not a sparse array.")
        return sparse.csr_array((data, columns, starts), shape=(n_rows, width))

    def _array(self, name: str, shape: Shape, dtype: np.dtype[Any]) -> NDArray[Any]:
        value = self.raw(name)
        wanted = tuple("any" if length is None else length for length in shape)
        expected = f"{self._name(name)} must be numbers of shape ({', '.join(map(str, wanted))})"
        if not isinstance(value, np.ndarray) or value.dtype != dtype:
            raise ModelFileError(f"{expected} and type {dtype.str}.")
        if value.ndim != len(shape) or any(
            length not in (None, found) for length, found in zip(shape, value.shape, strict=True)
        ):
            raise ModelFileError(f"{expected}. Got shape {value.shape}.")
        if not np.isfinite(value).all():
            raise ModelFileError(f"{expected}. Got NaN or infinity.")
        return value


def csr_state(matrix: Any) -> dict[str, Any]:
    """Return the state of a sparse CSR array, as plain values and arrays."""
    return {
        "n_columns": int(matrix.shape[1]),
        "starts": matrix.indptr.astype(np.int64),
        "columns": matrix.indices.astype(np.int64),
        "data": matrix.data.astype(np.float64),
    }


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
    name = vars(type(item)).get("_saved_as")  # not inherited: derived classes cannot be restored
    if name is None:
        raise ValueError(
            "Only models and affinities of eigencut that are plain numbers can be saved. Got "
            f"{type(item).__name__}, which is Python code; instead of a kernel function, use "
            "affinity='precomputed' with the weights that it computes."
        )
    return str(name)


def _unfitted(item: Any) -> dict[str, Any]:
    kind = _class_name(item)
    given = getattr(item, "_saved_parameters", item.get_params)(deep=False)
    parameters = {name: _parameter(name, value) for name, value in given.items()}
    return {"class": kind, "parameters": parameters}


def _fitted(item: Any, include_training_data: bool) -> dict[str, Any]:
    _class_name(item)  # raises an error for classes that cannot be saved, which have no state
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
    """Return the plain values of a nested state, and separately its arrays by their path in it."""
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
