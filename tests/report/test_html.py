"""Elements: whatever is not an element is text."""

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from eigencut.report.html import clipped, element, user_text, visible


class Reader(HTMLParser):
    """What a parser makes of a page: tags, their attributes, and text."""

    def __init__(self):
        super().__init__()
        self.tags, self.text = [], ""

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, data):
        self.text += data


def read(html):
    reader = Reader()
    reader.feed(html)
    reader.close()
    return reader


@given(st.text(), st.text())
def test_texts_and_attributes_come_back_as_they_were(text, tip):
    found = read(element("p", text, data_tip=tip))
    assert found.tags == [("p", {"data-tip": visible(tip)})]
    assert found.text == visible(text)


@given(st.text(max_size=300))
def test_texts_of_users_keep_to_themselves(text):
    found = read(user_text(text, 50))
    assert [tag for tag, _ in found.tags] == ["bdi"] and len(clipped(text, 50)) >= min(
        len(text), 50
    )
    assert found.text == clipped(text, 50)
    assert not set(found.text) & set("\x00\x1b\n\r\u202e\u2066")


def test_letters_of_all_scripts_stay_and_controls_show():
    assert visible("שלום 👩‍👩‍👧 é") == "שלום 👩‍👩‍👧 é"
    assert visible("a\u202eb\x00c\ud800") == "a\\u202eb\\x00c\\ud800"


def test_children_of_every_kind():
    assert element("p", None, ["a", element("b", 3)], hidden=False) == "<p>a<b>3</b></p>"
