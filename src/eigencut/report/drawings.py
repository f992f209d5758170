"""Drawings of a page: marks of SVG, each with the words that appear beside it.

Text in a drawing shrinks with it, so there is little; names stand beside it, in HTML.
"""

from __future__ import annotations

import math

import numpy as np

from eigencut.plotting.colors import cluster_style
from eigencut.report.html import Html, element, joined
from eigencut.report.summary import SpectrumSummary, SupportSummary

_SMALL = (440.0, 250.0)  # of the drawings here
_BOX = (52.0, 14.0, 428.0, 206.0)  # within these: left, top, right, bottom


def drawing(width: float, height: float, *children: Html | None) -> Html:
    """A drawing as wide as its place. What it shows is said by the element around it."""
    return element(
        "svg", *children, viewBox=f"0 0 {width:g} {height:g}", aria_hidden="true", class_="drawing"
    )


def marker(shape: str, x: float, y: float, radius: float, **attributes: object) -> Html:
    """A mark at a place: a circle, or a path around 0 that is moved there."""
    if shape == "circle":
        place = {"cx": short_number(x), "cy": short_number(y)}
        return element("circle", **place, r=short_number(radius), **attributes)
    corners = {
        "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        "triangle": [(0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        "triangle-down": [(0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
        "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    }
    moved = f"translate({short_number(x)} {short_number(y)})"
    r = radius
    if shape in corners:
        places = [f"{short_number(r * a)} {short_number(r * b)}" for a, b in corners[shape]]
        return element("path", d=f"M{'L'.join(places)}Z", transform=moved, **attributes)
    d = f"M{-r:g} {-r:g}l{2 * r:g} {2 * r:g}m0 {-2 * r:g}l{-2 * r:g} {2 * r:g}"
    kind = f"{attributes.pop('class_', '')} cross".strip()
    return element("path", d=d, transform=moved, class_=kind, **attributes)


def swatch(cluster: int) -> Html:
    """The mark of a cluster, for a line of text."""
    style = cluster_style(cluster)
    shape = marker(style.marker, 8, 8, 5.5, class_="swatch-mark")
    return element(
        "svg",
        shape,
        viewBox="0 0 16 16",
        width="16",
        height="16",
        aria_hidden="true",
        style=f"--c:{style.color}",
        class_="k swatch",
    )


def spectrum_drawing(spectrum: SpectrumSummary) -> Html:
    """Eigenvalues as points, those of clusters filled; the gap after the last of them."""
    K, values = len(spectrum.values), spectrum.measured or spectrum.values
    left, top, right, bottom = _BOX
    highest = max(*values, 1e-12) if len(values) > 1 else max(values[0], 1e-12)
    at_x = lambda i: left + (right - left) * (i + 0.5) / len(values)  # noqa: E731
    at_y = lambda value: bottom - (bottom - top) * value / highest  # noqa: E731
    marks = [_grid(0.0, highest), _below("number of the eigenvalue")]
    if len(values) > K:
        x, width = (at_x(K - 1) + at_x(K)) / 2, (right - left) / len(values)
        box = {"x": short_number(x - 0.3 * width), "width": short_number(0.6 * width)}
        low, high = at_y(values[K - 1]), at_y(values[K])
        tip = f"gap after {K}: from {values[K - 1]:.3g} to {values[K]:.3g}"
        span = {"y": short_number(high), "height": short_number(max(low - high, 1.5))}
        marks.append(element("rect", **box, **span, class_="mark gap", data_tip=tip))
    for i, value in enumerate(values):
        kind = "mark own" if i < K else "mark beyond"
        tip = f"eigenvalue {i + 1}: {value:.3g}" + ("" if i < K else ", beyond the clusters")
        place = {"x": float(at_x(i)), "y": float(at_y(value)), "radius": 5.0}
        marks.append(marker("circle", **place, class_=kind, data_tip=tip))
        if len(values) <= 16 or (i + 1) % math.ceil(len(values) / 12) == 0:
            marks.append(
                element(
                    "text",
                    i + 1,
                    x=short_number(at_x(i)),
                    y=short_number(bottom + 17),
                    class_="tick mid",
                )
            )
    return drawing(*_SMALL, *marks)


def support_drawing(support: SupportSummary) -> Html:
    """Two histograms of shares, rows and new rows, and the line below which is outside."""
    left, top, right, bottom = _BOX
    edges = np.asarray(support.edges)
    at_x = lambda value: left + (right - left) * (value - edges[0]) / (edges[-1] - edges[0])  # noqa: E731
    both = [("rows", support.counts), ("new rows", support.new_counts)]
    shares = [(name, counts, sum(counts)) for name, counts in both if sum(counts)]
    highest = max(max(counts) / total for _, counts, total in shares)
    marks = [_grid(0.0, highest, as_percent=True), _below("support, log of the mean affinity")]
    for name, counts, total in shares:
        for i, n in enumerate(counts):
            if n:
                height = (bottom - top) * n / total / highest
                x, width = at_x(edges[i]), at_x(edges[i + 1]) - at_x(edges[i])
                tip = f"{n} {name} ({n / total:.1%}), support {edges[i]:.3g} to {edges[i + 1]:.3g}"
                box = {"x": short_number(x + 0.4), "width": short_number(max(width - 0.8, 0.5))}
                span = {"y": short_number(bottom - height), "height": short_number(height)}
                kind = "mark bin new" if name == "new rows" else "mark bin"
                marks.append(element("rect", **box, **span, class_=kind, data_tip=tip))
    for value, anchor in ((edges[0], "start"), (edges[-1], "end")):
        place = {"x": short_number(at_x(value)), "y": short_number(bottom + 17)}
        marks.append(element("text", f"{value:.3g}", **place, class_=f"tick {anchor}"))
    at = short_number(at_x(np.clip(support.least, edges[0], edges[-1])))
    tip = f"below {support.least:.3g}: outside what the model knows"
    line = {"x1": at, "x2": at, "y1": short_number(top), "y2": short_number(bottom)}
    marks.append(element("line", **line, class_="mark least", data_tip=tip))
    return drawing(*_SMALL, *marks)


def _grid(low: float, high: float, as_percent: bool = False) -> Html:
    """Four lines across, and what they stand for."""
    left, top, right, bottom = _BOX
    lines = []
    for share in (0.0, 1 / 3, 2 / 3, 1.0):
        y, value = bottom - share * (bottom - top), low + share * (high - low)
        ends = {
            "x1": short_number(left),
            "x2": short_number(right),
            "y1": short_number(y),
            "y2": short_number(y),
        }
        text = f"{value:.0%}" if as_percent else f"{value:.2g}"
        lines.append(element("line", **ends, class_="grid"))
        place = {"x": short_number(left - 7), "y": short_number(y + 4)}
        lines.append(element("text", text, **place, class_="tick end"))
    return joined(lines)


def _below(text: str) -> Html:
    left, _, right, bottom = _BOX
    place = {"x": short_number((left + right) / 2), "y": short_number(bottom + 37)}
    return element("text", text, **place, class_="axis mid")


def short_number(value: float) -> str:
    """A coordinate to a tenth."""
    return f"{value:.1f}".removesuffix(".0")
