"""What "auto" has decided, and what it has found on the way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from eigencut._utils.arrays import Array
from eigencut._utils.progress import note, stage
from eigencut._utils.validation import check_n_clusters
from eigencut.affinities import Affinity
from eigencut.auto.spectrum import Choice, Spectrum
from eigencut.cut import Cut
from eigencut.discretization import Partition
from eigencut.graphs.base import Graph
from eigencut.solvers.relaxed_cut import RelaxedCut, relaxed_cut


class Compared(NamedTuple):
    """An affinity that was looked at, in words, and how clearly it shows the clusters."""

    affinity: str
    score: float


class CutGraph(NamedTuple):
    """A graph, its relaxed cut, and the clusters of its vertices where they are known."""

    affinity: Affinity
    graph: Graph
    relaxed: RelaxedCut
    partition: Partition | None = None


@dataclass(frozen=True)
class Chosen:
    """What a fit begins with.

    Attributes
    ----------
    n_clusters : int
    affinities : tuple of Affinity
        The one to take, and what to take instead if its cut is not sound.
    compared : tuple of Choice
        What was compared, with scores; nothing where nothing was to be chosen.
    spectra : dict of int to Spectrum
        Graphs of all rows that were cut in order to choose, by the place of their affinity.
    graph : Graph or None
        That of the first affinity, where it is there already.
    """

    n_clusters: int
    affinities: tuple[Affinity, ...]
    compared: tuple[Choice, ...] = ()
    spectra: dict[int, Spectrum] = field(default_factory=dict)
    graph: Graph | None = None

    def report(self) -> None:
        """Say what was compared, and what is taken first."""
        for one in self.compared:
            note(f"score {one.score:.2f} of {one.affinity!r}, {one.n_clusters} clusters")
        if self.compared:
            note(f"takes {self.affinities[0]!r}")

    def relaxed_cuts(
        self, X: Any, cut: Cut, sample_weight: Array | None = None
    ) -> Iterator[CutGraph]:
        """Each affinity, fitted on X, its graph and the relaxed cut; what is known is reused."""
        K = self.n_clusters
        for place, affinity in enumerate(self.affinities):
            known = self.spectra.get(place)
            with stage("graph"):
                there = known.graph if known else self.graph if place == 0 else None
                graph = there or affinity.fit_graph(X, sample_weight)
                check_n_clusters(K, graph.n_vertices, graph.vertices_are)
            if known is not None and known.cut is cut:
                yield CutGraph(affinity, graph, known.relaxed_of(K), known.partition(K))
            else:
                yield CutGraph(affinity, graph, relaxed_cut(graph, affinity, cut, K))
