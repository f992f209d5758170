"""The page in a browser: no error, no request, marks in every panel, words beside marks, and names
that are nothing but text."""

import re
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest

from eigencut import GPOD, Gaussian, TableModel
from eigencut.report.page import page as page_of
from eigencut.report.summary import PairDoubt, summarize
from tags import read

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

HOSTILE = {
    "script": "<script>window.pwned = 1</script>",
    "quotes": '"\'><img src=x onerror="window.pwned=1">`${1}`',
    "end": "</script></style></title>--><svg onload=window.pwned=1>",
    "emoji": "👩‍👩‍👧 🧨",
    "backwards": "שלום \u202eevil",
    "long": "x" * 10_240,
}
PANELS = ["picture", "sizes", "effects", "quality", "changes", "doubt", "cuts", "choice"]


@pytest.fixture(scope="module")
def summary():
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, 360)
    columns = {
        name: np.array([0.0, 3, 9])[(true + k) % 3] + rng.normal(size=360)
        for k, name in enumerate(HOSTILE.values())
    }
    frame = pd.DataFrame(columns | {"town": np.array([*HOSTILE.values()])[true]})
    model = TableModel(GPOD(3, affinity=Gaussian(0.8))).fit(frame[:240])
    names = {0: HOSTILE["script"], 1: HOSTILE["quotes"], 2: HOSTILE["backwards"]}
    # A document is one hostile text after the other, a word of it begins with a letter.
    texts = [f"{HOSTILE['script']} word{k}</li><b>{HOSTILE['quotes']}" for k in true[:240]]
    return summarize(
        model,
        frame[:240],
        X_new=frame[240:],
        documents=texts,
        names=names,
        title=HOSTILE["end"],
        n_refits=1,
    )


@pytest.fixture(scope="module")
def path(summary, tmp_path_factory):
    found = tmp_path_factory.mktemp("report") / "report.html"
    found.write_text(page_of(summary), encoding="utf-8")
    return found


@pytest.fixture(scope="module")
def shown(browser, path):
    found = browser.open(path)
    yield found
    found.close()


def tip(page):
    return page.evaluate("tip.hidden ? null : tip.textContent")


def centre(page, selector):
    box = f"document.querySelector({selector!r})"
    page.evaluate(f"{box}.scrollIntoView({{block: 'center', behavior: 'instant'}})")
    script = f"(() => {{ const b = {box}.getBoundingClientRect();"
    return page.evaluate(f"{script} return [b.left + b.width / 2, b.top + b.height / 2]; }})()")


def test_no_error_no_request_and_marks_in_every_panel(shown):
    assert shown.errors == [] and shown.requests == []
    for panel in PANELS:
        script = (
            f"document.getElementById('{panel}').parentElement.querySelectorAll('.mark').length"
        )
        assert shown.evaluate(script) > 0, panel
    cards = "document.querySelectorAll('.card').length"
    assert shown.evaluate(cards) == 3
    assert shown.evaluate("document.querySelectorAll('.scatter .mark').length") == 360


def test_hostile_names_are_text(shown, summary):
    assert shown.evaluate("window.pwned === undefined")
    assert shown.evaluate("document.scripts.length") == 1
    assert shown.evaluate("document.images.length") == 0
    text = shown.evaluate("document.body.innerText")
    for name in ("script", "quotes", "end", "emoji"):
        assert HOSTILE[name] in text
    assert "שלום \\u202eevil" in text and "x" * 50 in text and "x" * 500 not in text
    assert shown.evaluate("document.title") == HOSTILE["end"]
    tips = shown.evaluate("[...document.querySelectorAll('.mark')].map(m => m.dataset.tip)")
    assert any(HOSTILE["script"] in said for said in tips) and all(tips)


def with_text(value, text):
    """The same data with this text wherever there is one."""
    if isinstance(value, str):
        return text
    if isinstance(value, dict):
        return {key: with_text(item, text) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        return type(value)(with_text(item, text) for item in value)
    if is_dataclass(value):
        parts = {one.name: with_text(getattr(value, one.name), text) for one in fields(value)}
        return replace(value, **parts)
    return value


@pytest.mark.parametrize("text", [*HOSTILE.values(), "{{ 7 * 7 }}{% raw %}"])
def test_no_text_of_a_summary_adds_a_tag(summary, text):
    """In every place of every template: the tags are those of a harmless text."""
    full = replace(summary, risk=None, warnings=("w",), notes=("n",))
    tags = [
        [(tag, sorted(given)) for tag, given in read(page_of(with_text(full, each))).tags]
        for each in ("harmless", text)
    ]
    assert tags[0] == tags[1] and sum(tag == "script" for tag, _ in tags[1]) == 1
    assert "li" in {tag for tag, _ in tags[1]} and full.clusters[0].words


@pytest.mark.parametrize("panel", PANELS)
def test_words_appear_under_the_mouse(shown, panel):
    selector = f"section[aria-labelledby='{panel}'] .mark"
    shown.evaluate(f"document.querySelector({selector!r}).id = 'here-{panel}'")
    shown.move(2, 2)
    assert tip(shown) is None
    shown.move(*centre(shown, f"#here-{panel}"))
    said = shown.evaluate(f"document.getElementById('here-{panel}').dataset.tip")
    if panel == "picture":  # points cover each other
        assert re.match(r"(new )?row \d+ · ", tip(shown))
    else:
        assert tip(shown) == said


def press_until(page, key, selector):
    """Press a key until an element has the focus."""
    for _ in range(60):
        page.press(key)
        if page.evaluate(f"document.activeElement.matches({selector!r})"):
            return
    raise AssertionError(f"{key} does not lead to {selector}")


def test_the_keyboard_reaches_every_mark_and_switch(browser, path):
    """By nothing but keys."""
    page = browser.open(path)
    press_until(page, "Tab", "#theme")
    ground = "getComputedStyle(document.body).backgroundColor"
    before = page.evaluate(ground)
    page.press("Enter")
    assert page.evaluate(ground) != before
    press_until(page, "Tab", ".scatter")
    page.press("Home")
    assert re.match(r"(new )?row \d+ · ", tip(page))
    press_until(page, "Tab", ".legend button")
    page.press(" ")
    hidden = "document.querySelectorAll('.scatter .off').length"
    assert page.evaluate(hidden) == 2  # points and number
    assert page.evaluate("document.activeElement.getAttribute('aria-pressed')") == "false"
    press_until(page, "Tab", ".chart.wide")
    page.press("Home")
    first = tip(page)
    page.press("ArrowRight")
    assert first and tip(page) and tip(page) != first
    page.press("End")
    last = tip(page)
    page.press("ArrowDown")
    assert tip(page) == first != last
    page.press("Escape")
    assert tip(page) is None
    press_until(page, "Tab", "details:not(.panel) summary")
    page.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open")
    assert page.errors == []
    page.close()


@pytest.mark.parametrize("dark", [False, True])
def test_it_fits_a_phone_in_light_and_dark(browser, path, dark):
    page = browser.open(path, width=390, height=800, dark=dark)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    low = page.evaluate("getComputedStyle(document.body).backgroundColor").strip("rgb()").split(",")
    assert (int(low[0]) < 60) is dark
    small = """[...document.querySelectorAll('text, p, li, td, th, bdi')].filter(e => {
        const r = e.getBoundingClientRect();
        return e.textContent.trim() && r.height > 0 && r.height < 9; }).length"""
    assert page.evaluate(small) == 0
    assert page.errors == []
    page.close()


@pytest.mark.parametrize("width", [1440, 390])
def test_nothing_is_wider_than_the_page_when_all_is_open(browser, path, width):
    page = browser.open(path, width=width)
    opened = "(() => { const all = [...document.querySelectorAll('details')];"
    opened += " all.forEach(d => { d.open = true; }); return all.length; })()"
    assert page.evaluate(opened) == 4
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # Tables scroll in their box; whatever else there is fits the page by itself.
    too_wide = f"""[...document.querySelectorAll('body *')].filter(e => {{
        const scrolls = e.scrollWidth > e.clientWidth + 1
            && getComputedStyle(e).overflowX === 'auto';
        return !e.closest('.chart.wide, .skip, svg') &&
            (scrolls || e.getBoundingClientRect().right > {width}); }})
        .map(e => e.outerHTML.slice(0, 80))"""
    assert page.evaluate(too_wide) == []
    lines = page.evaluate("document.querySelector('pre').innerText").splitlines()
    assert lines[0].startswith("3 clusters, fitted on") and len(lines) > 10
    assert not any("\\n" in line for line in lines)
    page.close()


def test_the_words_of_the_switch_and_settings_are_whole(browser, path):
    page = browser.open(path)
    theme = "document.getElementById('theme').textContent"
    assert page.evaluate(theme) == "Dark"
    page.click(*centre(page, "#theme"))
    assert page.evaluate(theme) == "Light"
    lines = """[...document.querySelectorAll('[aria-labelledby=settings] tbody th')].map(e => {
        const range = document.createRange(); range.selectNodeContents(e);
        return [e.textContent, range.getClientRects().length]; })"""
    assert dict(page.evaluate(lines))["outlier_quantile"] == 1
    page.close()


def test_tables_that_scroll_say_so(browser, path):
    said = "getComputedStyle(document.querySelector('.chart.wide'), '::before').content"
    for width, there in ((1440, False), (390, True)):
        page = browser.open(path, width=width)
        assert ("scroll sideways" in page.evaluate(said)) is there
        page.close()


def test_landmarks_headings_and_names_are_right(shown):
    assert shown.evaluate("document.querySelectorAll('main, header, footer, nav').length") == 4
    levels = shown.evaluate("[...document.querySelectorAll('h1,h2,h3')].map(h => +h.tagName[1])")
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    ids = shown.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
    assert len(set(ids)) == len(ids)
    parts = "[...document.querySelectorAll('section, article')]"
    named = shown.evaluate(f"{parts}.map(e => e.getAttribute('aria-labelledby'))")
    links = shown.evaluate("[...document.querySelectorAll('a')].map(a => a.hash.slice(1))")
    assert len(named) > 10 and set(named + links) <= set(ids)


def test_it_prints(shown):
    assert shown.print_to_pdf().startswith(b"%PDF")


def test_what_is_closed_is_printed(browser, path):
    page = browser.open(path)
    height = "document.querySelector('pre').getBoundingClientRect().height"
    shown_of_pre = "document.querySelector('pre').checkVisibility({contentVisibilityAuto: true})"
    assert not page.evaluate(shown_of_pre)
    page.call("Emulation.setEmulatedMedia", media="print")
    page.evaluate("new Promise(done => setTimeout(done, 100))")
    assert page.evaluate(shown_of_pre) and page.evaluate(height) > 200
    page.call("Emulation.setEmulatedMedia", media="")
    # Browsers whose style sheets cannot open them have an event.
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    opened = "document.querySelectorAll('details[open]').length"
    assert page.evaluate(opened) == 4
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert page.evaluate(opened) == 0
    page.close()


def test_the_file_is_small_and_names_no_address(path):
    text = path.read_text(encoding="utf-8")
    assert len(text) < 600_000
    assert not re.search(r"(https?:)?//[a-z]", text.replace(HOSTILE["quotes"], ""))


def test_hundreds_of_clusters_and_long_names_stay_small(summary):
    first = summary.clusters[0]
    many = tuple(replace(first, cluster=k, name=HOSTILE["long"]) for k in range(300))
    picture = replace(summary.picture, labels=tuple(k % 300 for k in range(360)))
    pairs = tuple(PairDoubt(k, k + 1, 1, 9, 1 / 9) for k in range(299))
    text = page_of(replace(summary, clusters=many, picture=picture, pairs=pairs))
    assert len(text.encode()) < 3_000_000
    assert text.count('class="panel card"') == 60 and "240 smaller clusters have no card" in text


def test_the_table_of_effects_has_no_spread_on_the_axis_of_larger_values():
    from types import SimpleNamespace

    from eigencut.inspection.describe import columns_of, contrasts
    from eigencut.report.page import _effects

    draw = np.random.default_rng(0)
    labels = np.repeat([0, 1], 300)
    values = np.concatenate([0.4 + 0.1 * draw.normal(size=300), 5 * draw.normal(size=300)])
    found = contrasts(columns_of(np.column_stack([values, labels + 0.0])), labels, 2)
    assert {one.how for of in found for one in of} >= {"more central", "higher"}
    clusters = [SimpleNamespace(cluster=k, contrasts=found[k]) for k in (0, 1)]
    table = dict(_effects(SimpleNamespace(clusters=clusters)))
    assert table == {("x2", ""): {0: -1.0, 1: 1.0}}
