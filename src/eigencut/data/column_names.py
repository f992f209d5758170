"""Names of columns: by which columns are found, and how errors list them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

_LISTED = 8  # columns named in an error


def quoted(names: Sequence[str]) -> str:
    """Names for an error message, not too many of them."""
    listed = ", ".join(repr(name) for name in names[:_LISTED])
    return listed if len(names) <= _LISTED else f"{listed}, ... ({len(names)} in all)"


def plain_names(n_columns: int) -> tuple[str, ...]:
    """x1, x2, ...: names of columns that have none."""
    return tuple(f"x{i}" for i in range(1, n_columns + 1))


def absent(wanted: Sequence[str], names: Iterable[str]) -> list[str]:
    """Those of the wanted names that are not among the names."""
    present = set(names)
    return [name for name in wanted if name not in present]


def places(wanted: Sequence[str], names: Sequence[str]) -> list[int]:
    """Where the wanted names stand among the names."""
    place_of = {name: place for place, name in enumerate(names)}
    return [place_of[name] for name in wanted]


def refuse_duplicates(names: Sequence[str]) -> None:
    """Columns are found by name, so a name must stand for one."""
    twice = sorted(name for name, times in Counter(names).items() if times > 1)
    if twice:
        raise ValueError(
            f"Columns must have different names. Got {quoted(twice)} more than once; rename them."
        )


def present(names: Sequence[str], needed: Sequence[str]) -> Sequence[str]:
    """The needed columns of a model, if a table has them."""
    missing = absent(needed, names)
    if missing:
        raise ValueError(
            "The table must have the columns that the model was fitted on. "
            f"Got no {quoted(missing)} among {quoted(names)}; rename or add them."
        )
    return needed
