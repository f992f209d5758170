"""Coarser cuts of a fitted model as a tree, by joining its clusters two by two.

Each step joins the two groups with the strongest link: the weight between them, divided by what
chance would put between groups of their masses (average linkage on the graph). Links never grow
from one step to the next, because the link of a union is a mean of two links. If no groups are
connected, the two with the nearest means are joined, provided that there are coordinates.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.sparse import csr_array, issparse

from eigencut._utils.arrays import Array, Indices
from eigencut._utils.json_ready import HtmlTable, JsonReady, Printed
from eigencut._utils.validation import check_count, is_integer, needed
from eigencut.exceptions import invalid
from eigencut.fitted import FittedCut, FittedDiscreteCut
from eigencut.graphs.base import EDGE

# The graph of the clusters is ``B_kl = sum over x in k, y in l of W(x, y)`` with the factor 1/n of
# the graph. A model that keeps its rows can compute W times the indicators, and a discrete cut
# keeps B itself. Other models (landmarks, precomputed affinities) keep only K eigenfunctions of
# their graph. With the indicators Z, ``A = Z^T M U`` and the masses m of the clusters,
#
#     Z^T L Z = A Lambda A^T + sum over the unknown eigenpairs of lambda_j a_j a_j^T,
#
# and the ``a_j a_j^T`` add up to ``diag(m) - A A^T``, which is known. No unknown lambda_j is below
# the largest known one. Putting that one in their place gives lower bounds of cuts.


@dataclass(frozen=True)
class ClusterWeights:
    """The graph of the clusters: weights, masses, sizes and means."""

    weights: Array  # B, symmetric; the diagonal is the weight within clusters
    mass: Array  # of each cluster: its volume for NCut, its rows for RatioCut
    rows: Array  # the number of rows in each cluster
    means: Array | None  # of the rows of each cluster, if known
    exact: bool


def cluster_weights(fitted: FittedCut) -> ClusterWeights:
    """Return the graph of the clusters of a fitted cut, on its training rows."""
    affinity, K, labels = fitted.affinity, fitted.n_clusters, fitted.partition.labels
    count, places = affinity.multiplicity_, getattr(affinity, "rows_", None)
    rows: Any = np.bincount(labels, count, K)
    if isinstance(fitted, FittedDiscreteCut):
        weights, exact = fitted.links.toarray() / affinity.n_rows_, True
        mass = weights.sum(axis=1) if fitted.cut.mass_is_degree else rows
    else:
        weights, mass, exact = _by_functions(fitted, places)
    weights = (weights + weights.T) / 2
    # Drop weights that the eigensolver does not count as edges; eigenvectors err by up to 1e-8.
    least = (EDGE if exact else 1e-8) * np.sqrt(np.outer(mass, mass))
    weights = np.where(weights > least, weights, 0.0)
    places, means = getattr(affinity, "landmark_rows_", None) if places is None else places, None
    if places is not None:
        share = count / np.maximum(rows, 1.0)[labels]
        sums = csr_array((share, labels, np.arange(len(labels) + 1)), (len(labels), K)).T @ places
        means = np.asarray(sums.toarray() if issparse(sums) else sums)
    return ClusterWeights(weights, mass, rows=rows, means=means, exact=exact)


def _by_functions(fitted: FittedCut, places: Any) -> tuple[Array, Array, bool]:
    """Return the weights and masses of clusters, and whether the weights are exact."""
    functions, count = fitted.functions, fitted.affinity.multiplicity_
    is_in = fitted.partition.labels[:, np.newaxis] == np.arange(fitted.n_clusters)
    weight = count * functions.cut.mass(functions.degrees)
    if places is not None:
        product = fitted.affinity.apply(places, is_in.astype(np.float64))
        to_clusters = np.exp(product.log_scale)[:, np.newaxis] * product.values
        return (count[:, np.newaxis] * is_in).T @ to_clusters, weight @ is_in, True
    pairs, part = functions.pairs, functions.pairs.takes_part
    coefficients = (weight[part, np.newaxis] * is_in[part]).T @ pairs.vectors[part]
    unknown = np.diag(weight[part] @ is_in[part]) - coefficients @ coefficients.T
    laplacian = (coefficients * pairs.values) @ coefficients.T + pairs.values[-1] * unknown
    volumes = np.diag((count * functions.degrees) @ is_in)
    return volumes - laplacian, weight @ is_in, False


# With ``counts="auto"``, links fall by at least this factor after a level,
FALLS = 2.0
# and a level has at least this many times the groups of the next one.
APART = 1.5


@dataclass(frozen=True)
class Joining(JsonReady):
    """Two groups that become one.

    The link is the weight between the two, divided by what chance would put there: 0 without any
    edge, 1 for parts of a graph without clusters.
    """

    kept: int  # the smaller number, which the union keeps
    joined: int
    n_groups: int  # before
    cut_value: float  # of the cut into ``n_groups``
    link: float


@dataclass(frozen=True, repr=False)
class Hierarchy(Printed, JsonReady):
    """The cuts into 1 to K groups of clusters, nested. ``print`` it to see the tree.

    Attributes
    ----------
    cut, joinings : str and tuple of Joining
        The cut of the model, and the steps from its K clusters to one group.
    sizes, numbers : array of shape (K,)
        Rows of each cluster, and its number; ``update`` can leave gaps between numbers.
    cut_values, exact : array of shape (K,) and bool
        Values of the cuts into 1, 2, ..., K groups. They are lower bounds if ``exact`` is False:
        then the model has not kept its rows, and weights come from its eigenfunctions.
    """

    cut: str
    sizes: Array
    joinings: tuple[Joining, ...]
    cut_values: Array
    exact: bool
    numbers: Indices

    def labels(self, n_groups: int) -> Indices:
        """Return the number of each cluster's group in the cut into ``n_groups``.

        ``hierarchy.labels(3)[model.predict(X)]`` labels rows. A group has the smallest number of
        its clusters. Numbers that no cluster has get -1.
        """
        K = len(self.sizes)
        if not (is_integer(n_groups) and 1 <= n_groups <= K):
            expected = f"be an integer from 1 to the {K} clusters of the model"
            raise invalid("n_groups", expected, repr(n_groups), "use recluster for more")
        group = np.full(int(self.numbers[-1]) + 1, -1)
        group[self.numbers] = self.numbers
        for joining in self.joinings[: K - n_groups]:
            group[group == joining.joined] = joining.kept
        return group

    def levels(self, counts: Sequence[int] | str = "auto", min_children: int = 1) -> Indices:
        """Return the number of each cluster's group at several levels, as ``predict_levels`` does.

        If the tree gives groups fewer than ``min_children``, these groups join others first.

        Returns
        -------
        array of shape (n_levels, K)
            Numbers as of ``labels``. A group of a coarser level consists of groups of a finer one.
        """
        if isinstance(counts, str) and counts == "auto":
            counts = self._clear_counts(min_children)
        listed: list[Any] = list(counts) if isinstance(counts, (Sequence, np.ndarray)) else []
        K = len(self.sizes)
        are_counts = all(is_integer(n) and 1 <= n <= K for n in listed)
        if not listed or not are_counts or (np.diff(listed) >= 0).any():
            expected = f"be numbers of groups, each below the one before it, {K} at most"
            raise invalid("counts", expected, repr(counts), "leave it out, or recluster for more")
        check_count("min_children", min_children, "use the default of 1")
        levels = [self.labels(n_groups) for n_groups in listed]
        for level, n_groups in enumerate(listed[1:] if min_children > 1 else (), 1):
            if n_groups * min_children > listed[level - 1]:
                got = f"{n_groups} groups x {min_children} > {listed[level - 1]}"
                expected = "leave enough groups of one level for the next"
                raise invalid("min_children", expected, got, "use fewer groups or children")
            levels[level] = self._joined(levels[level - 1], n_groups, min_children)
        return np.array(levels)

    def to_frame(self) -> Any:
        """Return a pandas DataFrame, a row for each joining of two groups."""
        return needed("pandas", "pandas").DataFrame(self.to_dict()["joinings"])

    def linkage(self) -> Array:
        """Return the tree in the form of ``scipy.cluster.hierarchy``, e.g. for its dendrogram.

        Heights are 1 minus the link. Leaf k is the k-th cluster, or topic k of BERTopic if sizes
        differ: ``topic_model.hierarchical_topics(documents, linkage_function=lambda _: Z)``.
        """
        K, steps = len(self.sizes), np.zeros((len(self.sizes) - 1, 4))
        node = {int(number): (place, 1) for place, number in enumerate(self.numbers)}
        for step, joining in enumerate(self.joinings):
            (a, n_a), (b, n_b) = node[joining.kept], node.pop(joining.joined)
            steps[step] = min(a, b), max(a, b), 1 - min(joining.link, 1.0), n_a + n_b
            node[joining.kept] = K + step, n_a + n_b
        return steps

    def _clear_counts(self, min_children: int) -> list[int]:
        """Return K, and the numbers of groups after which links fall most."""
        links = np.maximum([joining.link for joining in self.joinings], EDGE)  # of K, ..., 2 groups
        falls, chosen = links[:-1] / links[1:], [len(self.sizes)]
        for place in np.argsort(-falls, kind="stable"):
            n_groups = len(self.sizes) - 1 - int(place)
            around = [sorted((n_groups, other)) for other in chosen]
            is_apart = all(b >= max(APART, min_children) * a for a, b in around)
            if falls[place] >= FALLS and is_apart:
                chosen.append(n_groups)
        return sorted(chosen, reverse=True)

    def _joined(self, group: Indices, n_groups: int, min_children: int) -> Indices:
        """Join groups in the order of the tree, so that all can still get enough children."""
        from scipy.cluster.hierarchy import cophenet
        from scipy.spatial.distance import squareform

        tree = self.linkage()
        tree[:, 2] = np.arange(len(tree))
        meet = squareform(cophenet(tree))  # the step at which two clusters meet, as a distance
        order = np.argsort(group[self.numbers], kind="stable")
        there, starts = np.unique(group[self.numbers][order], return_index=True)
        near = np.minimum.reduceat(meet[np.ix_(order, order)], starts, axis=0)
        near = np.minimum.reduceat(near, starts, axis=1)
        np.fill_diagonal(near, np.inf)
        parent, children = np.arange(len(there)), dict.fromkeys(range(len(there)), 1)
        while len(children) > n_groups:
            left = near.copy()
            while True:
                a, b = divmod(int(np.argmin(left)), len(left))
                rest = [n for one, n in children.items() if one not in (a, b)]
                if _most_full([*rest, children[a] + children[b]], min_children) >= n_groups:
                    break
                left[a, b] = left[b, a] = np.inf
            parent[parent == b] = a
            children[a] += children.pop(b)
            near[a] = near[:, a] = np.minimum(near[a], near[b])
            near[b] = near[:, b] = near[a, a] = np.inf
        coarse = np.full(len(group), -1)
        coarse[self.numbers] = there[parent][np.searchsorted(there, group[self.numbers])]
        return coarse

    @property
    def _title(self) -> str:
        about = "" if self.exact else " (lower bounds)"
        return f"{len(self.sizes)} clusters as a tree, with values of the {self.cut}{about}"

    def _nodes(self) -> Iterator[tuple[str, int, Joining | None]]:
        """Yield each node's branch and name, its rows, and the cut into its parts."""
        parts: dict[int, list[Joining]] = {}
        whole = np.diff(np.rint(np.cumsum(self.sizes)), prepend=0).astype(int)  # so they add up
        for joining in reversed(self.joinings):
            parts.setdefault(joining.kept, []).append(joining)
        # A node: its number, how many cuts of its group are above it, and the text before it.
        open_nodes = [(int(self.numbers[0]), 0, "", "")]
        while open_nodes:
            number, n_made, branch, below = open_nodes.pop()
            cuts = parts.get(number, [])[n_made:]
            n_groups = cuts[0].n_groups - 1 if cuts else len(self.sizes)
            rows = int(whole[self.labels(n_groups)[self.numbers] == number].sum())
            yield f"{branch}{number if branch else 'all'}", rows, cuts[0] if cuts else None
            if cuts:
                open_nodes.append((cuts[0].joined, 0, f"{below}└─ ", f"{below}   "))
                open_nodes.append((number, n_made + 1, f"{below}├─ ", f"{below}│  "))

    def __str__(self) -> str:
        lines = [self._title, ""]
        for name, rows, cut in self._nodes():
            value = f"; cut into {cut.n_groups} groups: {cut.cut_value:.3g}" if cut else ""
            lines.append(f"{name}: {rows} rows{value}")
        return "\n".join(lines)

    def _html_tables(self) -> Iterator[HtmlTable]:
        rows = [
            (name, n, cut.n_groups if cut else "", f"{cut.cut_value:.3g}" if cut else "")
            for name, n, cut in self._nodes()
        ]
        yield self._title, ("group", "rows", "cut into groups", "cut value"), rows


def hierarchy_of(fitted: FittedCut, numbers: Indices) -> Hierarchy:
    """Return the tree of the clusters of a fitted cut; ``numbers`` are those of the clusters."""
    tree = join_all(cluster_weights(fitted), fitted.cut.name)
    named = [
        replace(one, kept=int(numbers[one.kept]), joined=int(numbers[one.joined]))
        for one in tree.joinings
    ]
    return replace(tree, joinings=tuple(named), numbers=numbers)


def _most_full(children: Sequence[int], enough: int) -> int:
    """Return how many groups with enough children can be made by joining groups with these."""
    few = sorted(n for n in children if n < enough)
    n_full = len(children) - len(few)
    while few:
        have = few.pop()
        while have < enough and few:
            have += few.pop(0)
        n_full += have >= enough
    return n_full


def join_all(graph: ClusterWeights, cut: str) -> Hierarchy:
    """Join clusters until one group is left; return the tree."""
    B, mass, count, K = graph.weights.copy(), graph.mass.copy(), graph.rows.copy(), len(graph.mass)
    means = graph.means
    if means is not None:  # scaled so that no square is infinite, and centred
        means = means / (np.abs(means).max() or 1.0)
        means -= means.mean(axis=0)
    total_mass, total = float(mass.sum()), float(B.sum())
    per_chance = total_mass**2 / total if total > 0 else 0.0
    values, joinings = np.zeros(K), []
    for n_groups in range(K, 1, -1):
        leaves = B.sum(axis=1) - B.diagonal()
        values[n_groups - 1] = np.divide(leaves, mass, out=np.zeros(K), where=mass > 0).sum()
        products = np.outer(mass, mass)
        links = per_chance * np.divide(B, products, out=np.zeros((K, K)), where=products > 0)
        kept, joined = _next(links, mass, means)
        value, link = float(values[n_groups - 1]), float(links[kept, joined])
        joinings.append(Joining(kept, joined, n_groups, value, link))
        if means is not None:
            both = max(float(count[kept] + count[joined]), np.finfo(np.float64).tiny)
            means[kept] = (count[kept] * means[kept] + count[joined] * means[joined]) / both
        B[kept] += B[joined]
        B[:, kept] += B[:, joined]
        B[joined] = B[:, joined] = 0.0
        for sums in (mass, count):
            sums[kept] += sums[joined]
        mass[joined] = np.nan  # marks it as joined
    return Hierarchy(cut, graph.rows, tuple(joinings), values, graph.exact, np.arange(K))


def _next(links: Array, mass: Array, means: Array | None) -> tuple[int, int]:
    """Return the two groups to join next, the smaller number first."""
    is_group = ~np.isnan(mass)
    is_empty = is_group & (mass <= 0)
    pairs = np.triu(is_group[:, np.newaxis] & is_group, 1)
    if is_empty.any():  # join clusters without rows first, which changes nothing else
        pairs[np.ix_(~is_empty, is_group & ~is_empty)] = False
    strongest = np.where(pairs, np.nan_to_num(links), -np.inf)
    if strongest.max() <= 0 and means is not None:
        squares = (means**2).sum(axis=1)
        apart = squares[:, np.newaxis] + squares - 2 * means @ means.T
        strongest = np.where(pairs, -apart, -np.inf)
    kept, joined = np.unravel_index(int(np.argmax(strongest)), strongest.shape)
    return int(kept), int(joined)
