"""Write reports to files: text, JSON, or an HTML page that needs no other file.

Every template escapes the text of users. The page also has a content security policy, by which
browsers send no request and run only the script with the given digest.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.validation import needed
from eigencut.exceptions import invalid
from eigencut.inspection.describe import value_in_words
from eigencut.io.atomic import check_replaceable, replacing
from eigencut.plotting.style import cluster_style, spaced
from eigencut.report.summary import (
    ColumnBars,
    ModelSummary,
    Picture,
    clipped,
    counted,
    percent,
    summarize,
    unbroken,
    visible,
)

FRAME = (720.0, 470.0)  # width and height of the picture of rows


class Mark(NamedTuple):
    """A point in an SVG picture, its class in the style sheet, and the text of its tooltip."""

    x: float
    y: float
    kind: str
    tip: str
    far: tuple[float, float] | None = None  # its true place, if it is drawn at the edge instead


def outline(shape: str, radius: float) -> str:
    """Return the SVG path of a marker around 0; circles need no path."""
    corners = {
        "square": [(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
        "triangle": [(0, -1.2), (1.1, 0.8), (-1.1, 0.8)],
        "triangle-down": [(0, 1.2), (1.1, -0.8), (-1.1, -0.8)],
        "diamond": [(0, -1.3), (1.3, 0), (0, 1.3), (-1.3, 0)],
    }
    if shape in corners:
        places = [f"{short(radius * a)} {short(radius * b)}" for a, b in corners[shape]]
        return f"M{'L'.join(places)}Z"
    r, d = f"{radius:g}", f"{2 * radius:g}"
    return f"M-{r} -{r}l{d} {d}m0 -{d}l-{d} {d}"  # a cross


def short(value: float) -> str:
    """Return a coordinate as text, rounded to a tenth."""
    return f"{value:.1f}".removesuffix(".0")


def column_plot(bars: ColumnBars, names: dict[int, str]) -> dict[str, Any]:
    """Return the drawing of a column's values: a row of bars for each cluster."""
    left, right, height = 130.0, 432.0, 34.0
    step = (right - left) / len(bars.bars)
    gap = 0.0 if bars.ends else 3.0
    rows = []
    for place, (cluster, shares) in enumerate(bars.shares.items()):
        base, most = height * (place + 1), max(max(shares), 1e-12)  # the tallest bar fills the row
        path = ""
        for i, share in enumerate(shares):
            if share:
                x, y = left + i * step, base - (height - 6) * share / most
                path += f"M{short(x)} {short(base)}V{short(y)}h{short(step - gap)}V{short(base)}z"
        order = np.argsort(-np.array(shares), kind="stable")[:3]
        parts = [f"{bars.bars[i]} ({percent(shares[i])})" for i in order if shares[i]]
        tip = f"{clipped(names[cluster], 40)}: mostly {', '.join(parts)}"
        rows.append((cluster, cluster_style(cluster), clipped(names[cluster], 15), base, path, tip))
    ticks = [] if bars.ends is None else [(left, bars.ends[0], ""), (right, bars.ends[1], "end")]
    if bars.is_log:
        ticks.append(((left + right) / 2, "log scale", "mid"))
    bottom = height * len(rows)
    return dict(bars=bars, rows=rows, left=left, right=right, bottom=bottom, ticks=ticks)


def scatter(picture: Picture, names: dict[int, str]) -> dict[str, Any]:
    """Return the picture of rows as points, with far rows at the edge of the frame."""
    labels, is_new = np.asarray(picture.labels), np.asarray(picture.is_new)
    (x, drawn_x), (y, drawn_y) = (
        _placed(values, labels, is_new, length)
        for values, length in zip((np.array(picture.x), -np.array(picture.y)), FRAME, strict=True)
    )
    beyond = (x != drawn_x) | (y != drawn_y)
    groups, numbers = [], []
    for cluster in (-1, *names):
        name, own = clipped(names.get(cluster, "in no cluster"), 60), labels == cluster
        marks = []
        for i in np.flatnonzero(own):
            which, kind = ("new row", "mark new") if is_new[i] else ("row", "mark")
            place = clipped(picture.places[i], 60).removeprefix("row ")
            tip = f"{which} {place} · {name} · margin {picture.margins[i]:.2f}"
            tip += " · beyond the frame" if beyond[i] else ""
            far = (x[i], y[i]) if beyond[i] else None
            marks.append(Mark(drawn_x[i], drawn_y[i], kind, tip, far=far))
        if marks:
            groups.append((cluster, cluster_style(cluster), marks))
        if marks and cluster >= 0 and len(names) <= 60:  # more numbers would cover the points
            middle = float(np.median(drawn_x[own])), float(np.median(drawn_y[own])) + 7
            numbers.append((cluster, *middle))
    n_beyond, n_new = int((beyond & ~is_new).sum()), int((beyond & is_new).sum())
    return dict(groups=groups, numbers=numbers, n_beyond=n_beyond, n_new_beyond=n_new, frame=FRAME)


def _placed(
    values: Array, labels: Indices, is_new: NDArray[np.bool_], length: float
) -> tuple[Array, Array]:
    """Return the places of values in a drawing of this length, and where they are drawn."""
    margin, edge, farthest = 26.0, 9.0, 1e6  # far values are drawn in the margin, at ``edge``
    low, high = frame(values, labels, is_new)
    scale = (length - 2 * margin) / ((high - low) or 1.0)
    with np.errstate(over="ignore"):
        places = np.clip(margin + (values - low) * scale, -farthest, farthest)
    inside = (values >= low) & (values <= high)
    return places, np.where(inside, places, np.clip(places, edge, length - edge))


def frame(values: Array, labels: Indices, is_new: NDArray[np.bool_]) -> tuple[float, float]:
    """Return the limits of the picture: the middle 90 % of each cluster, and half of it around."""
    # New rows and tiny clusters (below 1 % of the rows, or 20 % of an average cluster) are ignored,
    # however far away they are.
    deciding = ~is_new if (~is_new).any() else np.ones(len(values), dtype=bool)
    clusters, counts = np.unique(labels[deciding & (labels >= 0)], return_counts=True)
    least = min(0.01, 0.2 / max(len(clusters), 1)) * deciding.sum()
    low, high = np.inf, -np.inf
    for cluster in clusters[counts >= least]:
        first, last = np.percentile(values[deciding & (labels == cluster)], (5.0, 95.0))
        low = min(low, first - 0.5 * (last - first))
        high = max(high, last + 0.5 * (last - first))
    if low > high:
        return float(values.min()), float(values.max())
    return float(max(low, values.min())), float(min(high, values.max()))


def page(summary: ModelSummary) -> str:
    """Return a summary as an HTML page."""
    templates, clusters, picture = environment(), summary.clusters, summary.picture
    script = templates.get_template("page.js").render()
    page: str = templates.get_template("page.html.j2").render(
        summary=summary,
        clusters={one.cluster: one for one in clusters},
        has_cards=any(one.contrasts or one.rule or one.words or one.typical for one in clusters),
        effects=_effects(summary),
        columns=[column_plot(bars, summary.names) for bars in summary.bars],
        picture=scatter(picture, summary.names) if picture is not None and picture.x else None,
        digest=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )
    return page


def environment() -> Any:
    """Return the environment of the templates, which escapes all text and control characters."""
    jinja2 = needed("jinja2", "report")
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader("eigencut.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        # Values with __html__ are the output of templates, which is escaped already.
        finalize=lambda value: (
            visible(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
        ),
    )
    filters = (clipped, cluster_style, counted, in_words, outline, percent, short, spaced, unbroken)
    templates.filters |= {function.__name__: function for function in filters}
    return templates


def _effects(summary: ModelSummary) -> list[tuple[tuple[str, str], dict[int, float]]]:
    """Return the effects of columns (or categories) by cluster, the strongest column first."""
    effects: dict[tuple[str, str], dict[int, float]] = {}
    for cluster in summary.clusters[:30]:
        for contrast in cluster.contrasts:
            if contrast.how in ("more central", "more extreme"):
                continue  # neither larger nor smaller values: only the cards of clusters show it
            row = (contrast.column, getattr(contrast, "category", ""))
            effects.setdefault(row, {})[cluster.cluster] = contrast.effect
    return sorted(effects.items(), key=lambda row: -max(map(abs, row[1].values())))


def in_words(value: Any) -> str:
    """Return a text clipped, and a number as people write it."""
    return clipped(value, 60) if isinstance(value, str) else value_in_words(value)


# The functions that turn a summary into the content of a file, by the ending of its name.
FORMS: dict[str, Callable[[ModelSummary], str]] = {
    ".html": page,
    ".json": lambda summary: json.dumps(summary.to_dict(), ensure_ascii=True, indent=1) + "\n",
    ".txt": lambda summary: f"{summary}\n",
}


def write(
    model: Any, X: Any = None, path: str | os.PathLike[str] = "report.html", **how: Any
) -> ModelSummary:
    """Write a report on a fitted model to one file: an HTML page, text or JSON.

    A file of this name is replaced. See ``docs/report.md``.

    Parameters
    ----------
    model : fitted GPOD, TableModel or Reclustered
    X : array-like of shape (n_samples, n_features), optional
        The rows to describe: those of the fit, or others like them; see ``summarize``.
    path : path, default="report.html"
        A name that ends in .html, .json or .txt, which decides the format.
    **how
        Further arguments of ``summarize``: ``X_new``, ``documents``, ``names``, ``title``,
        ``data``, ``n_refits``, ``random_state``.

    Returns
    -------
    ModelSummary

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> model = GPOD(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = write(model, X, Path(folder) / "moons.html", n_refits=0)
    >>> summary.sentences[0]
    '2 clusters of 200 rows: 50 % and 50 %.'
    """
    if isinstance(X, str | os.PathLike):
        remedy = "use write(model, X, path), or write(model, path=...) without rows"
        raise invalid("X", "be rows, and path comes after it", repr(os.fspath(X)), remedy)
    known = summarize.__kwdefaults__ or {}
    if unknown := sorted(how.keys() - known.keys()):
        remedy = f"use {', '.join(known)}"
        raise invalid("how", "be arguments of summarize", ", ".join(unknown), remedy, TypeError)
    form_of(path)  # before any work
    check_replaceable(path)
    summary = summarize(model, X, **how)
    save_summary(summary, path)
    return summary


def save_summary(summary: ModelSummary, path: str | os.PathLike[str]) -> None:
    """Write a summary in the format that the ending of the file's name tells."""
    content = form_of(path)(summary).encode("utf-8", "backslashreplace")
    with replacing(path) as file:
        file.write(content)


def form_of(path: str | os.PathLike[str]) -> Callable[[ModelSummary], str]:
    """Return the function that turns a summary into the content of a file of this name."""
    ending = Path(path).suffix.lower() if isinstance(path, (str, os.PathLike)) else None
    if ending not in FORMS:
        expected, remedy = "end in .html, .json or .txt", "name it e.g. report.html"
        raise invalid("path", expected, repr(str(path)), remedy)
    return FORMS[ending]
