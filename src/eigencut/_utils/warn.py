"""Warnings that point at the user's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from eigencut._utils.contexts import holding
from eigencut.exceptions import GraphWarning

_OURS = ("eigencut", "sklearn", "contextlib")
_heard: ContextVar[list[str] | None] = ContextVar("eigencut_heard", default=None)


@contextmanager
def hearing_warnings() -> Iterator[list[str]]:
    """The words of all warnings that ``warn_user`` gives inside, but for silenced ones.

    Examples
    --------
    >>> with hearing_warnings() as heard, warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", GraphWarning)
    ...     warn_user("nobody hears this")
    >>> heard
    []
    """
    heard: list[str] = []
    with holding(_heard, heard):
        yield heard


def _are_silenced() -> bool:
    """Whether the foremost filter for our warnings drops them, as parts of a fit ask for."""
    for action, message, category, module, _ in warnings.filters:
        if message is None and module is None and issubclass(GraphWarning, category):
            return action == "ignore"
    return False


def warn_user(message: str) -> None:
    """Warn at the innermost line outside this library and scikit-learn."""
    heard = _heard.get()
    if heard is not None and message not in heard and not _are_silenced():
        heard.append(message)
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None:
        frame, level = frame.f_back, level + 1
        module = frame.f_globals.get("__name__", "")
        if module.split(".")[0] not in _OURS:
            break
    warnings.warn(message, GraphWarning, stacklevel=level)
