"""The least support of rows that count as inside, once it is decided."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class JudgedSupport:
    """A least support that is decided, and how many of how many rows have less.

    Examples
    --------
    >>> judged = JudgedSupport(-2.0, n_outside=3, n_rows=100).decayed(0.5).added(1, 50)
    >>> judged.share
    0.025
    """

    least: float
    n_outside: float
    n_rows: float
    one_row: float = 1.0  # what an ordinary row counts

    @property
    def share(self) -> float:
        """Of rows with less."""
        return self.n_outside / self.n_rows

    def quantile(self, share: float) -> float:
        """What is decided, whatever the share was."""
        return self.least

    def judged(self, share: float) -> JudgedSupport:
        return self

    def decayed(self, decay: float) -> JudgedSupport:
        """As if every row counted only ``decay``."""
        outside, n_rows = decay * self.n_outside, decay * self.n_rows
        return replace(self, n_outside=outside, n_rows=n_rows)

    def added(self, n_outside: float, n_rows: float) -> JudgedSupport:
        """With more rows."""
        outside = self.n_outside + n_outside
        return replace(self, n_outside=outside, n_rows=self.n_rows + n_rows)
