"""Segments of images: the name under which ``eigencut.integrations.image`` is imported."""

from eigencut.integrations.image import segment

__all__ = ["segment"]
