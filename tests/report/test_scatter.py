"""The picture of clusters: far rows leave room for the others, and zoom finds them."""

import re

import numpy as np
import pytest

from eigencut import GPOD, Gaussian
from eigencut.report.page import frame
from eigencut.report.page import page as page_of
from eigencut.report.summary import summarize

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")
CENTRES = np.array([[0.0, 0.0], [8.0, 0.0], [4.0, 7.0]])


@pytest.fixture(scope="module")
def summary():
    rng = np.random.default_rng(0)
    X = CENTRES[np.arange(180) % 3] + rng.normal(size=(180, 2))
    new = np.vstack([X[:37] + 0.1, [[900.0, 800.0], [950.0, 700.0], [990.0, -5.0]]])
    return summarize(GPOD(3, affinity=Gaussian(1.0)).fit(X), X, X_new=new, n_refits=0)


@pytest.fixture
def page(browser, summary, tmp_path):
    place = tmp_path / "report.html"
    place.write_text(page_of(summary), encoding="utf-8")
    found = browser.open(place)
    now = "{block: 'center', behavior: 'instant'}"
    found.evaluate(f"document.querySelector('.scatter').scrollIntoView({now})")
    yield found
    assert found.errors == []
    found.close()


def places(page, selector=".scatter .mark"):
    script = f"""[...document.querySelectorAll({selector!r})].filter(m => !m.closest('.away'))
        .map(m => m.getBoundingClientRect())
        .map(r => [r.left + r.width / 2, r.top + r.height / 2])"""
    return np.array(page.evaluate(script))


def box(page):
    script = "(() => { const r = document.querySelector('.scatter svg').getBoundingClientRect();"
    return page.evaluate(f"{script} return [r.left, r.top, r.width, r.height]; }})()")


def test_far_new_rows_do_not_squash_the_clusters(page, summary):
    left, top, width, height = box(page)
    at = (places(page) - [left, top]) / [width, height]
    assert ((at > 0) & (at < 1)).all()
    assert (np.ptp(at[:180], axis=0) > 0.7).all()  # clusters fill the picture
    far = (places(page, ".scatter .mark[data-x]") - [left, top]) / [width, height]
    assert len(far) == 3 and (np.abs(far - 0.5).max(axis=1) > 0.47).all()  # at its edge
    said = page.evaluate("document.querySelector('[aria-labelledby=picture] .reading').textContent")
    assert "3 new rows lie beyond the frame" in said
    tips = page.evaluate("[...document.querySelectorAll('[data-x]')].map(m => m.dataset.tip)")
    assert all(said.endswith("beyond the frame") for said in tips)


def test_zooming_out_finds_them(page):
    before = places(page)
    for _ in range(30):
        page.evaluate("document.querySelector('[data-zoom=out]').click()")
    left, top, width, height = box(page)
    far = (places(page, ".scatter .mark[data-x]") - [left, top]) / [width, height]
    assert len({tuple(place) for place in far.round(3)}) == 3  # each in its place
    # The two above are above, and the angle is that of the rows.
    assert far[:, 1].argmax() == 2
    page.click(*centre(page), times=2)
    np.testing.assert_allclose(places(page), before, atol=0.05)


def centre(page):
    left, top, width, height = box(page)
    return left + width / 2, top + height / 2


@pytest.mark.parametrize("way", ["key", "button", "wheel"])
def test_zooming_in_spreads_marks_and_is_undone(page, way):
    before = places(page)
    x, y = centre(page)
    page.click(x, y)  # the focus
    if way == "key":
        page.press("+")
        page.press("+")
    elif way == "button":
        page.evaluate("document.querySelector('[data-zoom=in]').click()")
        page.evaluate("document.querySelector('[data-zoom=in]').click()")
    else:
        page.wheel(x, y, -300)
        page.evaluate("new Promise(done => setTimeout(done, 200))")
    inside = places(page)
    assert 5 < len(inside) < len(before)
    radii = page.evaluate("document.querySelector('.scatter circle').getAttribute('r')")
    assert radii == "4"  # marks keep their size
    nearest = lambda at: np.median(  # noqa: E731
        np.sort(np.linalg.norm(at[:, None] - at[None], axis=2), axis=1)[:, 1]
    )
    assert nearest(inside) > 1.5 * nearest(before)
    page.evaluate("document.querySelector('.scatter').focus()")
    page.press("0")
    np.testing.assert_allclose(places(page), before, atol=0.05)


def test_the_wheel_scrolls_the_page_unless_the_picture_was_clicked(page):
    before = places(page)
    y = page.evaluate("scrollY")
    page.wheel(*centre(page), 100)
    page.evaluate("new Promise(done => setTimeout(done, 400))")
    assert page.evaluate("scrollY") > y
    np.testing.assert_allclose(np.diff(places(page), axis=0), np.diff(before, axis=0), atol=0.1)


def test_a_picture_that_is_zoomed_in_can_be_dragged(page):
    x, y = centre(page)
    page.click(x, y)
    page.press("+")
    first = places(page, ".scatter .number")
    mouse = dict(button="left", clickCount=1)
    page.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
    page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + 40, y=y + 10, buttons=1, **mouse)
    page.call("Input.dispatchMouseEvent", type="mouseReleased", x=x + 40, y=y + 10, **mouse)
    moved = places(page, ".scatter .number") - first
    np.testing.assert_allclose(moved, np.tile([40, 10], (3, 1)), atol=1.0)


def test_without_far_rows_nothing_is_said_of_them(summary):
    rng = np.random.default_rng(1)
    X = CENTRES[np.arange(90) % 3] + rng.uniform(-1, 1, size=(90, 2))
    text = page_of(summarize(GPOD(3, affinity=Gaussian(1.0)).fit(X), X, n_refits=0))
    assert "beyond the frame" not in re.sub(r"<script>.*</script>", "", text, flags=re.DOTALL)


def test_a_small_cluster_far_away_has_its_place_in_the_frame():
    """Two in a hundred rows, of a cluster of their own, are no strays."""
    values = np.concatenate([np.linspace(0, 1, 98), [50.0, 50.1]])
    labels, old = np.repeat([0, 1], [98, 2]), np.zeros(100, dtype=bool)
    assert frame(values, labels, old)[1] >= 50.0
    # As strays of the large cluster they are.
    assert frame(values, np.zeros(100, dtype=int), old)[1] < 2.0
    # And if they are new, whatever their label.
    assert frame(values, labels, labels == 1)[1] < 2.0


@pytest.mark.parametrize("values", [np.zeros(5), np.array([1.0])])
def test_degenerate_frames(values):
    labels, new = np.zeros(len(values), dtype=int), np.zeros(len(values), dtype=bool)
    low, high = frame(values, labels, new)
    assert values.min() <= low <= high <= values.max()
