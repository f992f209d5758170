"""Text of users on a terminal: what would move the cursor, or hide, is shown as an escape."""

from __future__ import annotations


def printable(text: str, also: str = "") -> str:
    """The text with an escape for each character that does not print, but for those in ``also``.

    Examples
    --------
    >>> print(printable("red \\x1b[31m, back \\u202e, two\\nlines"))
    red \\x1b[31m, back \\u202e, two\\nlines
    """
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() or character in also else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
