"""Warnings that point at the user's line."""

from __future__ import annotations

import sys
import warnings

from eigencut.exceptions import GraphWarning

_OURS = ("eigencut", "sklearn", "contextlib")


def warn_user(message: str) -> None:
    """Warn at the innermost line outside this library and scikit-learn."""
    level, frame = 1, sys._getframe(0)
    while frame.f_back is not None:
        frame, level = frame.f_back, level + 1
        module = frame.f_globals.get("__name__", "")
        if module.split(".")[0] not in _OURS:
            break
    warnings.warn(message, GraphWarning, stacklevel=level)
