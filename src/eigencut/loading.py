"""``load``: read models from files, even from files of strangers."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from eigencut.affinities import Gaussian, Landmarks, Neighbors, Precomputed, RankedNeighbors
from eigencut.exceptions import ModelFileError, printable, shortened
from eigencut.gpod import GPOD
from eigencut.hierarchy.recluster import Reclustered
from eigencut.io.model_format import Header, read
from eigencut.io.state_reader import StateReader
from eigencut.tables.table_model import TableModel

# The classes that can be loaded, by their names in files.
_AFFINITIES = (Gaussian, Landmarks, Neighbors, Precomputed, RankedNeighbors)
CLASSES: dict[str, type] = {
    kind._saved_as: kind for kind in (GPOD, Reclustered, TableModel, *_AFFINITIES)
}


def load(path: str | os.PathLike[str], *, mmap: bool = False) -> Any:
    """Read a model from a file. Loading runs no code, so a file from a stranger is safe.

    Everything in the file is checked. The model predicts exactly what the saved one predicted, with
    the same versions of the libraries on the same kind of machine.

    Parameters
    ----------
    path : path
    mmap : bool, default=False
        Whether arrays stay in the file, mapped into memory and shared between processes. The file
        must then not change; ``save`` to the same name is safe, because it makes a new file.

    Returns
    -------
    GPOD, TableModel or Reclustered

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from eigencut import GPOD, load
    >>> model = GPOD(2).fit([[0.0], [0.1], [5.0], [5.1]])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(Path(folder, "rows.eigencut"))
    ...     again = load(Path(folder, "rows.eigencut"))
    >>> bool((again.labels_ == model.labels_).all())
    True
    """
    header, arrays = read(path, mmap=mmap)
    try:
        return StateReader(_joined(header, arrays), classes=CLASSES).as_fitted(object)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        short = printable(shortened(str(error), 300))  # the text may quote a hostile file
        raise ModelFileError(f"{os.fspath(path)} cannot be loaded: {short}") from error


def _joined(header: Header, arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Put the arrays back into the nested state: the inverse of ``state_reader._split``."""
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
