"""What users pass to a report, checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from eigencut._utils.arrays import Indices
from eigencut._utils.validation import check_count, shown


def check_arguments(title: Any, stability: Any, n_refits: Any, random_state: Any) -> None:
    """All but rows and names."""
    if not (title is None or isinstance(title, str)):
        raise ValueError(f"title must be a text. Got {shown(title)}; use str(title).")
    if not isinstance(stability, (bool, np.bool_)):
        raise ValueError(
            f"stability must be True or False. Got {shown(stability)}; use n_refits for how often."
        )
    check_count("n_refits", n_refits, "use the default of 10")
    is_seed = isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool)
    if not is_seed or random_state < 0:
        raise ValueError(
            f"random_state must be an integer of at least 0. Got {shown(random_state)}; use 0."
        )


def checked_names(names: Any, numbers: Indices) -> dict[int, str]:
    """What each cluster is called."""
    known = [int(number) for number in numbers]
    given = {} if names is None else names
    if not isinstance(given, Mapping):
        raise ValueError(
            "names must be a mapping from numbers of clusters to texts. Got "
            f"{shown(names)}; use e.g. {{0: 'regulars'}}."
        )
    for number, name in given.items():
        if isinstance(number, bool) or number not in known:
            raise ValueError(
                f"names must be of clusters of the model, {', '.join(map(str, known))}. Got a "
                f"name of {shown(number)}; leave it out."
            )
        if not isinstance(name, str) or not name.strip():
            raise ValueError(
                f"names must be texts that are not empty. Got {shown(name)} for cluster {number}; "
                "leave it out."
            )
    called = {number: str(given.get(number, f"cluster {number}")) for number in known}
    first: dict[str, int] = {}
    for number, name in called.items():
        other = first.setdefault(name.strip(), number)
        if other != number:
            raise ValueError(
                f"names must be different. Got {shown(name)} for clusters {other} and {number}; "
                "give one of them another name."
            )
    return called
