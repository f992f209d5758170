"""Which graph the default cuts when labels are known that its clusters do not explain.

``benchmarks/studies/known_labels.md`` has the data on which this was chosen, and others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from sklearn.base import clone

from eigencut.affinity import Affinity, Neighbors
from eigencut.runtime.progress import note
from eigencut.selection.chosen import Chosen
from eigencut.selection.default_graph import symmetric_graph

if TYPE_CHECKING:
    from eigencut.fitted import CutGraph

_WIDE_NEIGHBORS = 50  # at most half the rows of an average cluster


def graphs_for_labels(
    chosen: Chosen, taken: Affinity, allows: Callable[[Affinity], bool]
) -> Chosen:
    """Graphs that known labels may prefer to the one that was taken without them.

    Without labels a graph is good that shows a clear cut: classes that overlap in a few columns are
    then lost to a column that falls in two. Labels can tell: the symmetric graph, which is in fewer
    pieces, and one of more neighbours are looked at too. Nothing is where the affinity was given,
    or where rows are so many that it was chosen on some of them.

    Parameters
    ----------
    chosen : Chosen
    taken : Affinity
        The one of its affinities that was taken.
    allows : callable
        Whether there is memory for an affinity.
    """
    if not chosen.spectra or not isinstance(taken, Neighbors):
        return Chosen(chosen.n_clusters, ())
    n, K = chosen.spectra[0].graph.n_vertices, chosen.n_clusters
    symmetric = symmetric_graph(n, K, taken.metric)
    wide = clone(symmetric).set_params(n_neighbors=min(_WIDE_NEIGHBORS, n // (2 * K)))
    wanted = [symmetric]
    if wide.n_neighbors > symmetric.n_neighbors and allows(wide):
        wanted.append(wide)
    there = {repr(affinity): place for place, affinity in enumerate(chosen.affinities)}
    others = [affinity for affinity in wanted if repr(affinity) != repr(taken)]
    places = [there.get(repr(affinity)) for affinity in others]
    return Chosen(
        K,
        tuple(
            affinity if place is None else chosen.affinities[place]
            for affinity, place in zip(others, places, strict=True)
        ),
        chosen.compared,
        {i: chosen.spectra[place] for i, place in enumerate(places) if place in chosen.spectra},
    )


def most_agreeing(taken: CutGraph, others: Iterable[CutGraph]) -> CutGraph:
    """The cut that errs least at known rows that were left out."""
    best = taken
    for one in others:
        assert one.agreement is not None and best.agreement is not None
        note(f"error {one.agreement.error:.3f} of known labels by {one.fitted.affinity!r}")
        if one.agreement.error < best.agreement.error:
            best = one
    return best
