"""Whether a picture can be seen: panels with marks in them, text that is not cut off."""

import numpy as np

_LEAST_MARKED = 2e-4  # share of a panel's pixels that are not background
_SLACK = 1.0  # pixels by which text may stand out, for rounding


def check_picture(figure):
    """An error that says what is wrong with a figure, once it is drawn."""
    figure.canvas.draw()
    pixels = np.asarray(figure.canvas.buffer_rgba())[..., :3].astype(int)
    assert figure.axes, "the figure has no panel"
    for ax in figure.axes:
        assert has_data(ax), f"nothing with data in the panel {name_of(ax)}"
        share = marked_share(ax, pixels)
        assert share >= _LEAST_MARKED, f"the panel {name_of(ax)} is empty: {share:.2%} marked"
    for text in texts_of(figure):
        box = text.get_window_extent()
        height, width = pixels.shape[:2]
        is_inside = (
            box.x0 >= -_SLACK
            and box.y0 >= -_SLACK
            and box.x1 <= width + _SLACK
            and box.y1 <= height + _SLACK
        )
        assert is_inside, f"the text {text.get_text()!r} is cut off: {box}"


def name_of(ax):
    return repr(ax.get_xlabel() or ax.get_ylabel() or ax.get_label())


def has_data(ax):
    """Whether any artist has a point, a cell or an area of its own."""
    points = [len(line.get_xdata()) for line in ax.get_lines()]
    images = [np.size(image.get_array()) for image in ax.images]
    others = [
        len(item.get_offsets()) + len(item.get_paths())
        for item in ax.collections
        if item.get_array() is None or np.size(item.get_array())
    ]
    return any([*points, *images, *others, *(1 for _ in ax.patches)])


def marked_share(ax, pixels):
    """The share of the pixels inside of a panel, its frame left out, that are not background."""
    box = ax.get_window_extent()
    height = len(pixels)
    inside = pixels[
        max(round(height - box.y1) + 3, 0) : max(round(height - box.y0) - 3, 0),
        max(round(box.x0) + 3, 0) : max(round(box.x1) - 3, 0),
    ]
    background = np.rint(255 * np.array(ax.get_facecolor()[:3])).astype(int)
    return float((np.abs(inside - background).max(axis=-1) > 8).mean()) if inside.size else 0.0


def texts_of(figure):
    """All text that is drawn."""
    from matplotlib.text import Text

    hidden = not_drawn(figure)
    for text in figure.findobj(match=Text):
        if text.get_visible() and text.get_text().strip() and id(text) not in hidden:
            yield text


def not_drawn(figure):
    """Labels of ticks beyond the ends of their axis, which matplotlib keeps and does not draw."""
    found = set()
    for ax in figure.axes:
        for axis in (ax.xaxis, ax.yaxis):
            low, high = sorted(axis.get_view_interval())
            slack = 1e-9 * (high - low)
            for ticks, n_ticks in (
                (axis.majorTicks, len(axis.get_majorticklocs())),
                (axis.minorTicks, len(axis.get_minorticklocs())),
            ):
                for place, tick in enumerate(ticks):
                    is_inside = low - slack <= tick.get_loc() <= high + slack
                    if place >= n_ticks or not is_inside:
                        found |= {id(tick.label1), id(tick.label2)}
    return found
