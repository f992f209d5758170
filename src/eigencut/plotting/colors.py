"""Colours and markers of clusters: a style for each number, for eyes of any kind.

Eight colours differ under normal vision and without either kind of cone (``tests/plots`` simulates
that): no two of them are closer than 11 in CIEDE2000, those of neighbouring numbers than 20. From
the ninth cluster on they come again with another marker: 40 clusters have styles of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

COLORS = (
    "#3277f0",  # blue
    "#e07b00",  # orange
    "#03775b",  # green
    "#513087",  # violet
    "#7ebde7",  # sky
    "#7d2e14",  # brown
    "#e2c21e",  # yellow
    "#d6336c",  # pink
)
MARKERS = ("circle", "square", "triangle", "diamond", "triangle-down")
OUTSIDE_COLOR = "#8d939b"  # of rows without a cluster
OUTSIDE_MARKER = "cross"
FEW_CLUSTERS = len(COLORS)  # above, colours come again and numbers must be written beside


@dataclass(frozen=True)
class Style:
    """How the rows of a cluster are drawn.

    Attributes
    ----------
    color : str
        "#rrggbb".
    marker : str
        A word of ``MARKERS``, or ``OUTSIDE_MARKER``; those who draw have names of their own for it.
    """

    color: str
    marker: str


def cluster_style(number: int) -> Style:
    """The colour and the marker of a cluster; below 0, of rows that have none.

    Parameters
    ----------
    number : int

    Returns
    -------
    Style

    Examples
    --------
    >>> cluster_style(0), cluster_style(8)
    (Style(color='#3277f0', marker='circle'), Style(color='#3277f0', marker='square'))
    """
    if number < 0:
        return Style(OUTSIDE_COLOR, OUTSIDE_MARKER)
    turn, place = divmod(int(number), len(COLORS))
    return Style(COLORS[place], MARKERS[turn % len(MARKERS)])


def lighter(color: str, share: float = 0.75) -> str:
    """A colour mixed with so much white: for areas behind points.

    Parameters
    ----------
    color : str
        "#rrggbb".
    share : float
        Of white, from 0 to 1.

    Returns
    -------
    str

    Examples
    --------
    >>> lighter("#000080", 0.5)
    '#8080c0'
    """
    parts = (int(color[place : place + 2], 16) for place in (1, 3, 5))
    return "#" + "".join(f"{round(part + share * (255 - part)):02x}" for part in parts)
