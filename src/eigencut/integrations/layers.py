"""Levels of a model as datamapplot takes them: layers of labels, the finest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def layers(
    levels: Sequence[Any], names: Mapping[int, str] | None = None, unlabelled: str = "Unlabelled"
) -> list[NDArray[Any]]:
    """Return levels as a list of layers.

    Parameters
    ----------
    levels : array of shape (n_levels, n_rows)
        Of ``model.predict_levels``.
    names : dict of int to str, optional
        What numbers are called: then layers are texts, as datamapplot takes them, and a number
        without a name is its text. Default: layers are numbers from 0 on without gaps.
    unlabelled : str, default="Unlabelled"
        What rows without a label are called.

    Returns
    -------
    list of arrays of shape (n_rows,)

    Examples
    --------
    >>> layers([[0, 4, 2, -1], [0, 2, 2, -1]])
    [array([ 0,  2,  1, -1]), array([ 0,  1,  1, -1])]
    >>> layers([[0, 2, -1]], {2: "birds"})[0].tolist()
    ['0', 'birds', 'Unlabelled']
    """
    found = []
    for level in levels:
        numbers, place = np.unique(np.maximum(level, -1), return_inverse=True)
        own: Any = np.arange(len(numbers)) - int(numbers[0] < 0)
        if names is not None:
            words = [str(names.get(number, number)) for number in numbers.tolist()]
            own = np.array([unlabelled, *words[1:]] if numbers[0] < 0 else words)
        found.append(own[place.ravel()])
    return found
