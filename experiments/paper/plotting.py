"""Figures, as PNG and SVG, that come out the same from the same numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLORS = ("#1f4e79", "#e07b39", "#5b8c5a")


def subplots(rows: int, columns: int, **options: Any) -> tuple[Any, Any]:
    """A figure that no window shows, and its axes."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(
            "The figures need matplotlib, which is not installed: pip install 'eigencut[plot]'."
        ) from error
    size = options.pop("figsize", (4 * columns, 3 * rows))
    figure = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False, **options)


def save(figure: Any, folder: Path, name: str) -> None:
    """``folder/name.png`` and ``folder/name.svg``."""
    import matplotlib as mpl

    folder.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        figure.savefig(folder / f"{name}.png", dpi=100)
        figure.savefig(folder / f"{name}.svg", dpi=100, metadata={"Date": None})
