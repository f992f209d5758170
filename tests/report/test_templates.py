"""Templates: whatever stands in braces is text."""

import re
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import eigencut.report.page
from eigencut.report.page import environment
from eigencut.report.summary import clipped, visible
from tags import read

FOLDER = Path(eigencut.report.page.__file__).parent / "templates"
ENVIRONMENT = environment()
ELEMENT = ENVIRONMENT.from_string('<p data-tip="{{ tip }}">{{ text }}</p>')
OWN = ENVIRONMENT.from_string('{% from "macros.html.j2" import own %}{{ own(text, 50) }}')


@given(st.text(), st.text())
def test_texts_and_attributes_come_back_as_they_were(text, tip):
    found = read(ELEMENT.render(text=text, tip=tip))
    assert found.tags == [("p", {"data-tip": visible(tip)})]
    assert found.text == visible(text)


@given(st.text(max_size=300))
def test_texts_of_users_keep_to_themselves(text):
    found = read(OWN.render(text=text))
    assert [tag for tag, _ in found.tags] == ["bdi"]
    assert found.text == clipped(text, 50) and len(found.text) >= min(len(text), 50)
    assert not set(found.text) & set("\x00\x1b\n\r\u202e\u2066")


def test_a_name_that_claims_to_be_html_is_text():
    class Claims(str):
        def __html__(self):
            return self

    assert "<b>" not in OWN.render(text=Claims("<b>"))


def test_letters_of_all_scripts_stay_and_controls_show():
    assert visible("שלום 👩‍👩‍👧 é") == "שלום 👩‍👩‍👧 é"
    assert visible("a\u202eb\x00c\ud800") == "a\\u202eb\\x00c\\ud800"


def test_no_template_switches_escaping_off():
    texts = [path.read_text("utf-8") for path in sorted(FOLDER.glob("*.j2"))]
    assert len(texts) == 6 and ENVIRONMENT.autoescape is True
    for text in texts:
        assert not re.search(r"\|\s*(safe|tojson|xmlattr|urlize)\b|autoescape|Markup", text)
        assert not re.search(r"<\w[^>]* [\w-]+=\{\{", text)  # an attribute without quotes


def test_without_jinja_the_page_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "jinja2", None)
    with pytest.raises(ImportError, match=r"jinja2 is needed for this: pip install 'eigencut\[re"):
        environment()
