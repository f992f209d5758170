"""What a parser makes of HTML."""

from html.parser import HTMLParser


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
