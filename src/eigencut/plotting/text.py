"""Text of users in pictures: shown as it is, and never read as mathematics."""

from __future__ import annotations

from eigencut._utils.validation import printable

_LONGEST = 40  # characters of a name on an axis


def plain(text: object, longest: int = _LONGEST) -> str:
    r"""The text as matplotlib shows it letter by letter, on one line and not too long.

    Parameters
    ----------
    text : object
        What ``str`` makes of it.
    longest : int
        Characters; of longer text the end is left out.

    Returns
    -------
    str

    Examples
    --------
    >>> print(plain("price_$ and cost_$"), plain("two\nlines"), plain("x" * 50, longest=6))
    price_\$ and cost_\$ two\nlines xxxxx…
    """
    shown = printable(str(text))
    shown = shown if len(shown) <= longest else shown[: longest - 1] + "…"
    return shown.replace("$", r"\$")  # between two of them, it would be a formula
