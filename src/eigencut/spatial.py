"""Regions of maps: the name under which ``eigencut.integrations.spatial`` is imported."""

from eigencut.integrations.spatial import regions

__all__ = ["regions"]
