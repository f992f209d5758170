"""Segments of images: the name under which ``eigencut.integrations.image`` is imported."""

from eigencut.integrations.image import cut_normalized, segment

__all__ = ["cut_normalized", "segment"]
