"""What all displays have: ``plot``, ``ax_`` and ``figure_``."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from eigencut._utils.validation import shown
from eigencut.plotting.axes import SIZE, axes_or_new


class DisplayMixin(ABC):
    """A display holds plain arrays, and draws them on axes of matplotlib.

    Attributes
    ----------
    ax_ : matplotlib axes
        What it was drawn on last.
    figure_ : matplotlib figure
        Of these axes.
    """

    ax_: Any
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Default: those of a new figure.

        Returns
        -------
        display
            Itself, with ``ax_`` and ``figure_``.
        """
        found = axes_or_new(ax, self._size())
        self._draw(found)
        self.ax_, self.figure_ = found, found.figure
        return self

    def _size(self) -> tuple[float, float]:
        """Of a new figure, in inches."""
        return SIZE

    @abstractmethod
    def _draw(self, ax: Any) -> None: ...


def check_drawable(name: str, value: Any, expected: str, source: str) -> None:
    """An error for what is not of a class of eigencut, by its name; ``source`` is what returns one.

    By name, for what draws itself by a display stands above that display.
    """
    own = [kind.__name__ for kind in type(value).__mro__ if kind.__module__.startswith("eigencut.")]
    if expected not in own:
        raise ValueError(
            f"{name} must be a {expected}, which {source} returns. Got {shown(value)}; pass that."
        )
