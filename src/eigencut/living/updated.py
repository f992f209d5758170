"""What an update has done to the clusters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from eigencut.extension.cluster_numbers import ClusterNumbers
from eigencut.risk.json_ready import JsonReady
from eigencut.runtime.arrays import Array


@dataclass(frozen=True)
class Updated(JsonReady):
    """Which clusters went on, which are new and which have gone.

    Attributes
    ----------
    kept, new, retired : tuple of int
        Numbers of clusters. Those of retired ones are not given again.
    sizes : dict of int to float
        The rows of each cluster that there is now, as far as they are not forgotten.
    n_rows : float
        Rows that the model stands for now.
    n_new_landmarks : int
        Landmarks that were placed for rows that none represented; 0 without landmarks.

    Examples
    --------
    >>> print(Updated((0, 2), (3,), (1,), {0: 60.0, 2: 41.0, 3: 12.0}, 113.0))
    113 rows, 3 clusters
      kept     0 (60 rows), 2 (41 rows)
      new      3 (12 rows)
      retired  1
    """

    kept: tuple[int, ...]
    new: tuple[int, ...]
    retired: tuple[int, ...]
    sizes: dict[int, float]
    n_rows: float
    n_new_landmarks: int = 0

    @classmethod
    def of(
        cls,
        numbers_before: ClusterNumbers,
        numbers: ClusterNumbers,
        sizes: Array,
        n_new_landmarks: int = 0,
    ) -> Updated:
        """From the numbers that there were, those that there are, and their sizes."""
        before, now = numbers_before.numbers, numbers.numbers
        return cls(
            kept=tuple(np.intersect1d(before, now).tolist()),
            new=tuple(np.setdiff1d(now, before).tolist()),
            retired=tuple(np.setdiff1d(before, now).tolist()),
            sizes=dict(zip(now.tolist(), sizes.tolist(), strict=True)),
            n_rows=float(sizes.sum()),
            n_new_landmarks=n_new_landmarks,
        )

    def __str__(self) -> str:
        lines = [f"{self.n_rows:.0f} rows, {len(self.sizes)} clusters"]
        for word, numbers in (("kept", self.kept), ("new", self.new)):
            listed = ", ".join(f"{k} ({self.sizes[k]:.0f} rows)" for k in numbers)
            lines += [f"  {word:8} {listed}"] if numbers else []
        if self.retired:
            lines.append(f"  retired  {', '.join(map(str, self.retired))}")
        if self.n_new_landmarks:
            lines.append(f"  {self.n_new_landmarks} landmarks placed for rows without support")
        return "\n".join(lines)
