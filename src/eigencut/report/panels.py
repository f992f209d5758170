"""The panels of a page: a heading, what is to be seen, and how to read it."""

from __future__ import annotations

from collections.abc import Sequence

from eigencut.plotting.sampling import spaced
from eigencut.report.drawings import spectrum_drawing, support_drawing, swatch
from eigencut.report.html import Html, clipped, element, user_text
from eigencut.report.scatter import scatter
from eigencut.report.sentences import counted, percent
from eigencut.report.summary import ClusterSummary, ModelSummary

_PAIRS = 12
_EFFECT_COLUMNS = 24  # of the table of effects
_EFFECT_CLUSTERS = 30
_LISTED = 300  # clusters, in tables

ARROWS = "arrow keys walk through the marks"
ZOOM_KEYS = "plus and minus zoom, 0 shows all again"


def panel(identity: str, title: str, *content: Html | None, reading: object = None) -> Html:
    """A part of the page with a heading; ``reading`` says how it is read."""
    return element(
        "section",
        element("h3", title, id=identity),
        *content,
        None if reading is None else element("p", reading, class_="reading"),
        class_="panel",
        aria_labelledby=identity,
    )


def chart(label: str, *content: Html | None, kind: str = "", keys: str = "") -> Html:
    """What has marks: one stop of the Tab key, and arrow keys within; ``keys`` are further ones."""
    return element(
        "div",
        *content,
        class_=f"chart {kind}".strip(),
        tabindex="0",
        role="group",
        aria_label="; ".join(filter(None, (label, ARROWS, keys))),
    )


def table(head: Sequence[object], rows: Sequence[Sequence[object]], caption: str) -> Html:
    """A table whose first column names the rows."""
    top = element("tr", *(element("th", text, scope="col") for text in head))
    body = [
        element("tr", element("th", row[0], scope="row"), *(element("td", c) for c in row[1:]))
        for row in rows
    ]
    inside = (element("caption", caption), element("thead", top), element("tbody", *body))
    return element("table", *inside)


def cluster_label(cluster: ClusterSummary, longest: int = 60) -> Html:
    """The mark and the name of a cluster."""
    name = user_text(cluster.name, longest)
    return element("span", swatch(cluster.cluster), " ", name, class_="cluster")


def picture_panel(summary: ModelSummary) -> Html | None:
    """Rows in the plane, and a legend whose entries can be switched off."""
    picture = summary.picture
    if picture is None or not picture.x:
        return None
    names = {cluster.cluster: cluster.name for cluster in summary.clusters}
    found = scatter(picture, names)
    entries = [
        element(
            "button",
            swatch(cluster.cluster),
            element("bdi", clipped(cluster.name, 40)),
            element("span", spaced(cluster.size), class_="count"),
            type="button",
            aria_pressed="true",
            data_toggle=cluster.cluster,
        )
        for cluster in summary.clusters[:_LISTED]
    ]
    n_new = sum(picture.is_new)
    n_old = len(picture.x) - n_new
    parts = [
        f"{spaced(n)} of {spaced(of)} {what}"
        for n, of, what in (
            (n_old, picture.n_rows, "rows"),
            (n_new, picture.n_new, "new rows (rings)"),
        )
        if n
    ]
    reading = (
        f"{' and '.join(parts)}. Points are {picture.projection}; to the right: "
        f"{clipped(picture.axes[0], 60)}, upwards: {clipped(picture.axes[1], 60)}."
    )
    beyond = [
        counted(n, what)
        for n, what in ((found.n_beyond, "row"), (found.n_new_beyond, "new row"))
        if n
    ]
    if beyond:
        verb = "lies" if found.n_beyond + found.n_new_beyond == 1 else "lie"
        reading += (
            f" {' and '.join(beyond)} {verb} beyond the frame, which is that of the clusters: "
            "drawn at its edge. Zoom out to see where."
        )
    legend = element("div", *entries, class_="legend", role="group", aria_label="Show clusters")
    return panel(
        "picture",
        "The rows in the plane",
        chart("Rows in the plane", found.drawn, kind="scatter", keys=ZOOM_KEYS),
        _zoom_buttons(),
        legend,
        reading=reading,
    )


def _zoom_buttons() -> Html:
    """Hidden until the script is there, which they need."""
    kinds = (("in", "+", "Zoom in"), ("out", "−", "Zoom out"), ("all", "Reset", "Reset the zoom"))
    buttons = [
        element("button", text, type="button", data_zoom=kind, aria_label=said, title=said)
        for kind, text, said in kinds
    ]
    hint = "or the wheel, after a click; drag to move, double click to reset; keys + − 0"
    return element("div", *buttons, element("span", hint), class_="zoom", hidden=True)


def sizes_panel(summary: ModelSummary) -> Html:
    """Bars of sizes, with what else is one number for each cluster."""
    largest = max((cluster.size for cluster in summary.clusters), default=1.0) or 1.0
    n_new = sum(cluster.n_new or 0 for cluster in summary.clusters) or 1
    has_new, has_firm = bool(summary.n_new), summary.stability is not None
    head = ["cluster", "rows", "share", *(["new rows"] if has_new else []), "margin", "unsure"]
    rows = []
    for one in summary.clusters[:_LISTED]:
        new = one.n_new or 0
        tip = f"{clipped(one.name, 60)}: {spaced(one.size)} rows, {percent(one.share)}"
        bar = element(
            "span",
            class_="mark bar",
            data_tip=tip,
            style=f"--w:{100 * one.size / largest:.2f}%",
        )
        cells = [
            cluster_label(one),
            element("span", bar, element("span", spaced(one.size)), class_="bars"),
            percent(one.share),
            *([f"{spaced(new)}, {percent(new / n_new)}"] if has_new else []),
            "–" if one.margin is None else f"{one.margin:.2f}",
            "–" if one.unsure is None else percent(one.unsure),
            *(["–" if one.stability is None else percent(one.stability)] if has_firm else []),
        ]
        rows.append(cells)
    of_rows = "new rows" if has_new else "rows"
    reading = (
        "Margin: how clearly rows belong, from 0 (torn) to 1 (certain), on average. Unsure: the "
        f"share of {of_rows} with a margin below 0.1."
    )
    if summary.stability is not None:
        firm = summary.stability
        reading += (
            f" Stays: the share of labels that stay in {counted(firm.n_refits, 'refit')} on "
            f"samples of {spaced(firm.n_rows)} rows."
        )
    found = table([*head, *(["stays"] if has_firm else [])], rows, "Sizes of clusters")
    return panel("sizes", "Sizes", chart("Sizes of clusters", found, kind="wide"), reading=reading)


def doubt_panel(summary: ModelSummary) -> Html | None:
    """Shares of unsure rows between pairs of clusters."""
    if summary.unsure is None or len(summary.clusters) < 2:
        return None
    names = {cluster.cluster: cluster for cluster in summary.clusters}
    largest = max((pair.share for pair in summary.pairs), default=1.0)
    rows = []
    for pair in summary.pairs[:_PAIRS]:
        both = names[pair.first], names[pair.second]
        said = " and ".join(clipped(one.name, 40) for one in both)
        tip = f"{said}: {pair.n_unsure} of {pair.n_rows} rows are unsure, {percent(pair.share)}"
        width = f"--w:{100 * pair.share / largest:.2f}%"
        bar = element("span", class_="mark bar plain", data_tip=tip, style=width)
        label = element("span", *(cluster_label(one, 30) for one in both), class_="between")
        rows.append(
            [label, element("span", bar, element("span", percent(pair.share)), class_="bars")]
        )
    which = "new rows" if summary.n_new else "rows"
    reading = (
        f"Of the {which} of two clusters, those with a margin below 0.1 that nearly belong to the "
        f"other. Of all {which} {percent(summary.unsure)} are unsure."
    )
    if not rows:
        tip = f"{percent(summary.unsure)} of {which} are unsure"
        none = element("p", "No two clusters share unsure rows.", class_="mark calm", data_tip=tip)
        return panel("doubt", "Unsure between two clusters", chart("Doubt", none), reading=reading)
    found = table(["clusters", "unsure"], rows, "Unsure rows between pairs of clusters")
    shown = chart("Unsure rows between pairs of clusters", found, kind="wide")
    return panel("doubt", "Unsure between two clusters", shown, reading=reading)


def effects_panel(summary: ModelSummary) -> Html | None:
    """A table of clusters and the columns that distinguish them, coloured by effect."""
    effects: dict[tuple[str, str], dict[int, float]] = {}
    for cluster in summary.clusters[:_EFFECT_CLUSTERS]:
        for contrast in cluster.contrasts:
            row = (contrast.column, getattr(contrast, "category", ""))
            effects.setdefault(row, {})[cluster.cluster] = contrast.effect
    if not effects:
        return None
    strongest = sorted(effects, key=lambda row: -max(map(abs, effects[row].values())))
    clusters = summary.clusters[:_EFFECT_CLUSTERS]
    rows = []
    for column, category in strongest[:_EFFECT_COLUMNS]:
        label = [user_text(column, 40), *([" is ", user_text(category, 30)] if category else [])]
        cells: list[object] = [element("span", label)]
        for cluster in clusters:
            effect = effects[column, category].get(cluster.cluster)
            cells.append(_effect_cell(clipped(column, 40), cluster, effect))
        rows.append(cells)
    head = ["column", *(cluster_label(cluster, 16) for cluster in clusters)]
    found = table(head, rows, "Effects of columns in clusters")
    reading = (
        "Effect: how much more often a row of the cluster has the larger value than a row "
        "elsewhere does, from −1 to +1; of words the difference of their shares. Empty where a "
        "column is not among the strongest of a cluster."
    )
    left_out = len(effects) - len(rows)
    if left_out > 0:
        reading += f" {left_out} weaker columns are not shown."
    return panel(
        "effects",
        "Columns that distinguish",
        chart("Effects of columns", found, kind="wide heat"),
        reading=reading,
    )


def _effect_cell(column: str, cluster: ClusterSummary, effect: float | None) -> Html | None:
    if effect is None:
        return None
    side = "high" if effect > 0 else "low"
    tip = f"{column} in {clipped(cluster.name, 40)}: effect {effect:+.2f}"
    style = f"--s:{abs(effect):.2f}"
    return element("span", f"{effect:+.2f}", class_=f"mark cell {side}", data_tip=tip, style=style)


def spectrum_panel(summary: ModelSummary) -> Html:
    """Eigenvalues and the gap."""
    spectrum = summary.spectrum
    reading = (
        "Filled: one for each cluster; the smaller, the less weight is cut. The number of clusters "
        "is a clear one where a large gap follows."
    )
    if spectrum.measured and spectrum.n_rows < summary.n_fitted:
        reading += f" These are of the same graph on {spaced(spectrum.n_rows)} of the rows."
    elif not spectrum.measured:
        reading += " Without rows the next eigenvalues are not known."
    drawn = chart("Eigenvalues", spectrum_drawing(spectrum))
    return panel("spectrum", "Spectrum", drawn, reading=reading)


def support_panel(summary: ModelSummary) -> Html | None:
    """How well the model knows the rows."""
    support = summary.support
    if not support.edges:
        return None
    shares = [
        f"{percent(share)} of {which}"
        for share, which in ((support.new_outside, "new rows"), (support.outside, "rows"))
        if share is not None
    ]
    reading = (
        "Left of the line lies what the model does not know: its rows have next to nothing like "
        f"it. That is {' and '.join(shares)}."
    )
    drawn = chart("Support of rows", support_drawing(support))
    return panel("support", "Inside what the model knows", drawn, reading=reading)


def cuts_panel(summary: ModelSummary) -> Html | None:
    """What leaves each cluster, on rows of the fit and on new rows."""
    kinds = (("on the rows of the fit", "own"), ("on new rows", "fresh"))
    values = [
        (one, [(one.cut_training, *kinds[0]), (one.cut_new, *kinds[1])])
        for one in summary.clusters[:_LISTED]
    ]
    known = [value for _, both in values for value, *_ in both if value is not None]
    if not known:
        return None
    most = max(*known, 1e-12) if len(known) > 1 else max(known[0], 1e-12)
    rows = []
    for one, both in values:
        dots = [
            element(
                "span",
                class_=f"mark dot {kind}",
                style=f"--at:{100 * value / most:.2f}%",
                data_tip=f"{clipped(one.name, 60)}: {value:.3g} {where}",
            )
            for value, where, kind in both
            if value is not None
        ]
        numbers = [f"{value:.2g}" if value is not None else "–" for value, *_ in both]
        rows.append([cluster_label(one), element("span", *dots, class_="track"), *numbers])
    head = ["cluster", f"0 to {most:.2g}", "fit", "new"]
    found = table(head, rows, "What leaves each cluster")
    reading = (
        "What leaves a cluster over its size: 0 is a cluster without any weight to others. "
        "Filled: rows of the fit; ring: new rows. Close together is good."
    )
    shown = chart("What leaves each cluster", found, kind="wide")
    return panel("cuts", "Does it hold on new rows?", shown, reading=reading)


def choice_panel(summary: ModelSummary) -> Html:
    """What was compared, and taken."""
    choice = summary.choice
    found = choice.compared
    low = min((one.score for one in found), default=0.0)
    high = max((one.score for one in found), default=0.0)
    width = (high - min(low, 0.0)) or 1.0
    rows = []
    for one in found:
        share = (one.score - min(low, 0.0)) / width
        tip = f"score {one.score:.2f} of {clipped(one.affinity, 160)}"
        bar = element(
            "span", class_="mark bar plain", data_tip=tip, style=f"--w:{100 * share:.2f}%"
        )
        score = element("span", bar, element("span", f"{one.score:.2f}"), class_="bars")
        rows.append([element("code", clipped(one.affinity, 160)), score])
    if not rows:
        tip = f"taken: {clipped(choice.graph, 160)}"
        given = element("code", clipped(choice.graph, 160), class_="mark", data_tip=tip)
        rows = [[given, Html("given")]]
    how = "chosen from the data" if choice.chosen_clusters else "given"
    reading = (
        f"{choice.n_clusters} clusters, {how} (n_clusters={clipped(choice.asked_clusters, 40)}). "
        f"Taken: {clipped(choice.graph, 200)}. A larger score shows clusters more "
        "clearly; the first graph stays unless another one shows them much more clearly."
    )
    shown = chart("Graphs that were compared", table(["graph", "score"], rows, "Graphs"))
    return panel("choice", "How it was chosen", shown, reading=reading)
