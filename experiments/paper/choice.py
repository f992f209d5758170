"""Choosing a candidate without any label, by what its clusters of the training rows look like.

The paper's bound on the discrete solution grows with the gap between it and the continuous one
(Theorems 2 and 4): so the cut to take is the one whose gap is small. Three things make a gap small
that is worth nothing, and are ruled out: a cluster of a few outlying rows, a graph fallen to dust,
and differences among gaps that are all as large as those of a cloud without clusters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from eigencut.gpod import GPOD
from experiments.paper.candidates import STANDARDIZE, UNIT_ROWS, Candidate

BALANCED = 1 / 2  # least size of a cluster, in units of n / K
DUST = 1 / 4  # most pieces of a graph, in units of n
CLEAN = 1 / 4  # largest gap of a clean cut; clouds without clusters have about 0.35
# Rows of unit length have no outliers, which RatioCut singles out.
ORDER = (STANDARDIZE, UNIT_ROWS)


@dataclass(frozen=True)
class Look:
    """What a clustering of the training rows looks like.

    Attributes
    ----------
    gap : float
        ``|| one_hot - rows(U) R ||_F / sqrt(n (K - 1))``, POD's objective for each row and degree
        of freedom.
    balance : float
        Size of the smallest cluster, in units of n / K.
    pieces : float
        Connected components of the graph, in units of n.
    """

    gap: float
    balance: float
    pieces: float

    @classmethod
    def of(cls, model: GPOD) -> Look:
        """Of a fitted model."""
        n, K = len(model.labels_), model.n_clusters_
        smallest = np.bincount(model.labels_, minlength=K).min()
        return cls(
            gap=float(model.partition_.gap_history[-1] / np.sqrt(n * max(K - 1, 1))),
            balance=float(K * smallest / n),
            pieces=model.n_components_found_ / n,
        )

    @property
    def is_sound(self) -> bool:
        return self.balance >= BALANCED and self.pieces <= DUST


Looks = Mapping[Candidate, Look]


def clean_or_wide(looks: Looks) -> Candidate:
    """The cleanest sound cut; where none is clean, the widest sound one.

    Standardized rows are asked first, rows of unit length only where no cut of the former is sound.
    """
    sound = sound_ones(looks)
    best = cleanest(sound)
    return best if looks[best].gap <= CLEAN else widest(sound)


def sound_ones(looks: Looks) -> Looks:
    """The candidates with a sound cut, of the first preprocessing that has any.

    Where none has, the one candidate with the best balance.
    """
    for preprocessing in ORDER:
        of_it = {c: look for c, look in looks.items() if c.preprocessing == preprocessing}
        sound = {c: look for c, look in of_it.items() if look.is_sound}
        if sound:
            return sound
    best = max(looks, key=lambda c: looks[c].balance)
    return {best: looks[best]}


def cleanest(looks: Looks) -> Candidate:
    """The smallest gap; of equal ones, the graph in the fewest pieces."""
    return min(looks, key=lambda c: (round(looks[c].gap, 2), looks[c].pieces))


def widest(looks: Looks) -> Candidate:
    """The largest scale; of equal ones, the local one."""
    return max(looks, key=lambda c: (c.scale, c.kind == "local"))


# The first is the one that counts; the others were tried and are shown beside it.
CHOSEN = "chosen"
CHOICES: dict[str, Callable[[Looks], Candidate]] = {
    CHOSEN: clean_or_wide,
    "cleanest sound": lambda looks: cleanest(sound_ones(looks)),
    "widest sound": lambda looks: widest(sound_ones(looks)),
    "cleanest of all": cleanest,
}
