"""The check of pictures finds what is wrong with a picture."""

import pytest

from pictures import check_picture

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")
from matplotlib import pyplot  # noqa: E402


@pytest.fixture
def figure():
    found, ax = pyplot.subplots(figsize=(4, 3), layout="constrained")
    ax.plot([0, 1], [0, 1], "o-")
    ax.set(xlabel="rows", ylabel="excess")
    yield found
    pyplot.close(found)


def test_a_good_picture_passes(figure):
    check_picture(figure)


def test_a_figure_without_panels():
    with pytest.raises(AssertionError, match="no panel"):
        check_picture(pyplot.figure())


def test_an_empty_panel(figure):
    figure.axes[0].lines[0].remove()
    with pytest.raises(AssertionError, match="nothing with data in the panel 'rows'"):
        check_picture(figure)


def test_one_empty_panel_of_two(figure):
    figure.add_axes([0.7, 0.7, 0.2, 0.2], xlabel="empty")
    with pytest.raises(AssertionError, match="nothing with data in the panel 'empty'"):
        check_picture(figure)


@pytest.mark.parametrize("what", ["nan", "white", "outside"])
def test_data_that_cannot_be_seen(figure, what):
    line = figure.axes[0].lines[0]
    if what == "nan":
        line.set_ydata([float("nan")] * 2)
    elif what == "white":
        line.set_color("white")
    else:
        figure.axes[0].set(xlim=(5, 6), ylim=(5, 6))
    with pytest.raises(AssertionError, match="is empty"):
        check_picture(figure)


def test_a_label_that_is_cut_off(figure):
    figure.axes[0].set_xlabel("a label far too long for a figure of this size, " * 3)
    with pytest.raises(AssertionError, match=r"a label far too long.* is cut off"):
        check_picture(figure)


def test_a_legend_that_is_cut_off(figure):
    figure.set_layout_engine("none")
    figure.axes[0].set_position([0.2, 0.25, 0.75, 0.65])
    figure.axes[0].legend(["beside"], loc="upper left", bbox_to_anchor=(1.0, 1.0))
    with pytest.raises(AssertionError, match="'beside' is cut off"):
        check_picture(figure)


def test_a_tick_label_that_is_cut_off(figure):
    figure.set_layout_engine("none")
    figure.axes[0].set_position([0.2, 0.25, 0.75, 0.65])
    figure.axes[0].set_ylabel("")
    figure.axes[0].set_yticks([0.5], ["a name of a cluster that is too long for the margin"])
    with pytest.raises(AssertionError, match=r"a name of a cluster.* is cut off"):
        check_picture(figure)
