"""Which clusters are hard to tell apart, and where support ends."""

from __future__ import annotations

import numpy as np

from eigencut._utils.arrays import Indices
from eigencut.report.seen_rows import SeenRows
from eigencut.report.summary import PairDoubt, SupportSummary

_BINS = 40
_WIDEST = 2.0  # times the range of ordinary rows, that bins of support reach below the least
_NARROWEST = 1e-9


def doubt_of_pairs(seen: SeenRows, numbers: Indices) -> tuple[PairDoubt, ...]:
    """Pairs of clusters with unsure rows, the largest share first."""
    if len(numbers) < 2:
        return ()
    of_cluster = {int(number): int((seen.answers.labels == number).sum()) for number in numbers}
    # Of equal probabilities the first is the label.
    unsure = seen.answers.probabilities[seen.is_unsure]
    torn = np.sort(np.argsort(-unsure, axis=1, kind="stable")[:, :2], axis=1)
    found = []
    for (a, b), n in zip(*np.unique(torn, axis=0, return_counts=True), strict=True):
        first, second = int(numbers[a]), int(numbers[b])
        n_rows = of_cluster[first] + of_cluster[second]
        found.append(PairDoubt(first, second, int(n), n_rows, float(n / n_rows)))
    return tuple(sorted(found, key=lambda pair: (-pair.share, pair.first, pair.second)))


def unsure_share(seen: SeenRows, cluster: int | None = None) -> float | None:
    """The share of rows that are unsure, of a cluster or of all."""
    there = np.ones(len(seen.places), dtype=bool)
    if cluster is not None:
        there = seen.answers.labels == cluster
    return float(seen.is_unsure[there].mean()) if there.any() else None


def support_of(least: float, seen: SeenRows | None, new: SeenRows | None) -> SupportSummary:
    """How the support of rows and new rows is spread, next to the least."""
    values = [np.empty(0) if rows is None else rows.answers.support for rows in (seen, new)]
    together = np.concatenate(values)
    edges, counts = np.empty(0), [np.empty(0), np.empty(0)]
    if len(together):
        high = float(max(together.max(), least))
        usual = max(high - least, float(np.ptp(np.quantile(together, [0.05, 0.95]))))
        low = max(float(min(together.min(), least)), least - _WIDEST * usual)
        edges = np.linspace(low, max(high, low + _NARROWEST), _BINS + 1)
        counts = [np.histogram(np.clip(of, low, high), edges)[0] for of in values]
    return SupportSummary(
        least=least,
        outside=None if seen is None else seen.share_outside,
        new_outside=None if new is None else new.share_outside,
        edges=tuple(map(float, edges)),
        counts=tuple(map(int, counts[0])),
        new_counts=tuple(map(int, counts[1])),
    )
