"""Which rows are shown where there are too many to see, and the words that say so."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigencut._utils.arrays import Indices

MOST_SHOWN = 50_000  # points of a picture; more only cover each other


@dataclass(frozen=True)
class Shown:
    """Rows that are shown.

    Attributes
    ----------
    rows : array of shape (n_shown,)
        Their places, ascending.
    n_rows : int
        Of how many.
    """

    rows: Indices
    n_rows: int

    @property
    def is_all(self) -> bool:
        """Whether no row is left out."""
        return len(self.rows) == self.n_rows

    @property
    def sentence(self) -> str:
        """How many rows are shown, and of how many if not all are."""
        if self.is_all:
            return f"{spaced(self.n_rows)} rows"
        return f"{spaced(len(self.rows))} of {spaced(self.n_rows)} rows"


def shown_rows(n_rows: int, most: int = MOST_SHOWN, random_state: int = 0) -> Shown:
    """All rows, or so many of them at random: the same ones each time.

    Parameters
    ----------
    n_rows : int
    most : int
    random_state : int

    Returns
    -------
    Shown

    Examples
    --------
    >>> shown_rows(1_000_000).sentence
    '50 000 of 1 000 000 rows'
    >>> shown_rows(1500).sentence
    '1500 rows'
    """
    if n_rows <= most:
        return Shown(np.arange(n_rows), n_rows)
    chosen = np.random.default_rng(random_state).choice(n_rows, most, replace=False, shuffle=False)
    return Shown(np.sort(chosen), n_rows)


def spaced(number: float) -> str:
    """A number of rows with a space between thousands, from five digits on.

    Parameters
    ----------
    number : float
        Rounded where it is not whole, as sums of weights are.

    Returns
    -------
    str

    Examples
    --------
    >>> spaced(1797), spaced(50_000)
    ('1797', '50 000')
    """
    whole = round(number)
    return str(whole) if abs(whole) < 10_000 else f"{whole:,}".replace(",", " ")
