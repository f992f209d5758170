"""What files of older versions of the format hold, turned into what the present version would hold.

``MIGRATIONS[v]`` goes from version v to v + 1, and every version below the present one has one: a
file is read by going through all of them in order (see ``docs/policies.md``). They run before the
content is checked, on files that anyone may have written: they must not trust it either.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from eigencut.exceptions import ModelFileError

Content = dict[str, Any]  # the plain values of a header
Arrays = dict[str, Any]  # numpy arrays by their path in the model


def _same_arrays(content: Content, arrays: Arrays) -> Arrays:
    return arrays


@dataclass(frozen=True)
class Migration:
    """One step, from the content of a version to that of the next.

    ``content`` turns the plain values, and knows no arrays, since a header is also read alone;
    ``arrays`` turns the arrays, and is given the plain values of the older version too.
    """

    content: Callable[[Content], Content]
    arrays: Callable[[Content, Arrays], Arrays] = _same_arrays


# Format 2 can hold what an older reader would pass over in silence: numbers of clusters that have
# gaps, and the sums that landmarks are updated from. Format 1 has neither; nothing else differs.
MIGRATIONS: dict[int, Migration] = {1: Migration(lambda content: content)}


def migrated(version: int, target: int, content: Content, arrays: Arrays) -> tuple[Content, Arrays]:
    """The content and arrays of a file of one version, as a later version would hold them.

    Without arrays, as when a header alone is read, only the content is turned.

    Examples
    --------
    >>> MIGRATIONS[-1] = Migration(lambda content: {"name": content["title"]})
    >>> migrated(-1, 0, {"title": "moons"}, {})
    ({'name': 'moons'}, {})
    >>> del MIGRATIONS[-1]
    """
    for older in range(version, target):
        step = MIGRATIONS[older]  # a version without one is a mistake of ours, not of the file
        try:
            arrays = step.arrays(content, arrays) if arrays else {}
            content = step.content(content)
        except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
            raise ModelFileError(f"it is not what eigencut writes in format {older}.") from error
    return content, arrays
