"""What ``GPOD.drift`` returns, and how it is printed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from eigencut.risk.json_ready import JsonReady
from eigencut.runtime.arrays import Array, Indices
from eigencut.runtime.printable import printable

_DOUBT = 0.01  # p-values below are not believed to be chance
_N_TESTS = 3
_SHOWN = 8  # columns in which a new cluster is shown


@dataclass(frozen=True)
class Change(JsonReady):
    """A number before and now, and how often chance alone would make as large a difference."""

    before: float
    now: float
    p_value: float


@dataclass(frozen=True)
class NewCluster(JsonReady):
    """Rows without support that are as dense among themselves as other rows are.

    Attributes
    ----------
    n_rows : int
    centre : array of shape (n_features,), or None for tables that hold words
        Their mean.
    rows : array of shape (n_rows,)
        Their places among the new rows.
    cells : dict of str to float, str or None; or None
        Of tables that hold words, a row in the middle of them, by column.
    """

    n_rows: int
    centre: Array | None
    rows: Indices
    cells: dict[str, float | str | None] | None = None


@dataclass(frozen=True)
class Drift(JsonReady):
    """How new rows differ from those that a model has seen.

    Attributes
    ----------
    n_rows : int
        New rows.
    n_compared : float
        Rows that they were compared with.
    without_support : Change
        Shares of rows without support; its p-value is of more of them than before.
    cut_value : Change
        The sum over clusters of the share of weight that goes to rows of other clusters (with
        RatioCut, of the weight per row).
    shares : dict of int to tuple of float
        The share of each cluster, before and now, by its number.
    p_shares : float
        Of all shares together.
    new_cluster : NewCluster or None
        If one stands out.
    p_values_hold : bool
        False where landmarks have too few rows each: then p-values are too small, and no verdict.
    """

    n_rows: int
    n_compared: float
    without_support: Change
    cut_value: Change
    shares: dict[int, tuple[float, float]]
    p_shares: float
    new_cluster: NewCluster | None
    p_values_hold: bool = True

    @property
    def p_value(self) -> float:
        """Of all three together: three times the smallest, at most 1 (Bonferroni)."""
        found = (self.without_support.p_value, self.cut_value.p_value, self.p_shares)
        return min(1.0, _N_TESTS * min(found))

    @property
    def has_drifted(self) -> bool:
        """Whether chance alone would do this less than once in a hundred times.

        False where p-values do not hold.
        """
        return self.p_values_hold and self.p_value < _DOUBT

    @property
    def verdict(self) -> str:
        """The same in words."""
        if not self.p_values_hold:
            return "Too few rows for each landmark to say whether the rows have drifted"
        return "The rows have drifted" if self.has_drifted else "No sign of drift"

    def to_dict(self) -> dict[str, Any]:
        """The fields, ``p_value`` and ``has_drifted`` as plain Python, ready for JSON."""
        more = {"p_value": self.p_value, "has_drifted": self.has_drifted}
        return {**super().to_dict(), **more}

    def __str__(self) -> str:
        support, cut = self.without_support, self.cut_value
        lines = [
            f"{self.verdict} (p = {self.p_value:.2g}): {counted(self.n_rows)}, compared with "
            f"{self.n_compared:.0f} of the model's",
            f"  without support  {support.now:8.2%}  before {support.before:8.2%}  "
            f"p = {support.p_value:.2g}",
            f"  cut value        {cut.now:8.4g}  before {cut.before:8.4g}  p = {cut.p_value:.2g}",
        ]
        for place, (number, (before, now)) in enumerate(self.shares.items()):
            p_value = f"  p = {self.p_shares:.2g} (all shares)" if place == 0 else ""
            lines.append(f"  cluster {number:<8} {now:8.2%}  before {before:8.2%}{p_value}")
        if self.new_cluster is None:
            lines.append("  no new cluster stands out")
        else:
            lines.append(
                f"  new cluster      {self.new_cluster.n_rows} rows {_where(self.new_cluster)}"
            )
        return "\n".join(lines)


def counted(n_rows: int) -> str:
    return f"{n_rows} row{'' if n_rows == 1 else 's'}"


def _where(found: NewCluster) -> str:
    """Where a new cluster lies: around what numbers, or what a row of it holds."""
    if found.centre is not None:
        return f"around {_some([f'{value:.4g}' for value in found.centre])}"
    if found.cells is not None:
        return f"such as {_some([f'{name} {_cell(c)}' for name, c in found.cells.items()])}"
    return f"such as row {int(found.rows[0])} (the first is 0)"


def _cell(value: float | str | None) -> str:
    if value is None:
        return "missing"
    return printable(value) if isinstance(value, str) else f"{value:.4g}"


def _some(texts: list[str]) -> str:
    return ", ".join(texts[:_SHOWN]) + (", ..." if len(texts) > _SHOWN else "")
