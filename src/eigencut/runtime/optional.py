"""Packages that only an extra brings."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(module: str, extra: str) -> Any:
    """Import what an extra brings, or say how to get it."""
    try:
        return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise ImportError(
            f"{package} is needed for this: pip install 'eigencut[{extra}]'."
        ) from error
