"""Trees of clusters against brute force on the whole graph."""

import json
import re
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import average, cut_tree
from scipy.spatial.distance import squareform

from conftest import same_partition
from eigencut import GPOD, Gaussian, Landmarks, TableModel
from eigencut.hierarchy.hierarchy import ClusterWeights, cluster_weights, join_all

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

RNG = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0], [0, 3], [9, 0], [9, 3], [30, 0]])
TRUE = RNG.integers(0, 5, 260)
X = CENTRES[TRUE] + 0.7 * RNG.normal(size=(260, 2))


def brute_force(W, labels, mass):
    """Groups at every level: the mean weight between all of their rows, again each time."""
    groups = [np.flatnonzero(labels == k) for k in range(labels.max() + 1)]
    levels = {len(groups): [set(labels[g]) for g in groups]}
    while len(groups) > 1:
        links = {
            (i, j): W[np.ix_(a, b)].sum() / (mass[a].sum() * mass[b].sum())
            for i, a in enumerate(groups)
            for j, b in enumerate(groups)
            if i < j
        }
        i, j = max(links, key=links.get)
        groups[i] = np.concatenate([groups[i], groups[j]])
        del groups[j]
        levels[len(groups)] = [set(labels[g]) for g in groups]
    return levels


def groups_of(hierarchy, k):
    labels = hierarchy.labels(k)
    return [set(np.flatnonzero(labels == g)) for g in np.unique(labels)]


def test_groups_and_cut_values_are_those_of_the_whole_graph(cut):
    model = GPOD(5, cut=cut, affinity=Gaussian(2.0)).fit(X)
    found = model.hierarchy()
    W = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(2) / 8)
    mass = W.sum(axis=1) if cut == "ncut" else np.ones(260)
    levels = brute_force(W, model.labels_, mass)
    for k in range(1, 6):
        assert sorted(map(sorted, groups_of(found, k))) == sorted(map(sorted, levels[k]))
        groups = np.eye(5)[found.labels(k)[model.labels_]]
        sizes = (mass if cut == "ncut" else 260 * mass) @ groups  # as means over pairs
        inside = np.diag(groups.T @ W @ groups)
        known = np.divide((W.sum(axis=1) @ groups) - inside, sizes, where=sizes > 0, out=0 * sizes)
        assert found.cut_values[k - 1] == pytest.approx(known.sum(), abs=1e-10), k
    assert found.exact and found.sizes.sum() == 260


def test_nearby_clusters_join_first():
    found = GPOD(5, affinity=Gaussian(2.0)).fit(X)
    groups = found.hierarchy().labels(3)[found.labels_]
    assert same_partition(groups, np.array([0, 0, 1, 1, 2])[TRUE])


def random_weights(seed, K):
    rng = np.random.default_rng(seed)
    B = rng.exponential(size=(K, K))
    B = B + B.T
    return ClusterWeights(B, B.sum(axis=1), np.ones(K), None, True)


@settings(max_examples=40)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_levels_are_nested_and_numbers_stay(seed, K):
    found = join_all(random_weights(seed, K), "ncut")
    assert found.labels(K).tolist() == list(range(K)) and not found.labels(1).any()
    for k in range(1, K):
        coarse, fine = found.labels(k), found.labels(k + 1)
        assert len(set(coarse.tolist())) == k
        assert (coarse[fine] == coarse).all()  # a group's number is that of one of its clusters
        assert (coarse <= np.arange(K)).all()
        split = np.flatnonzero(coarse != fine)
        assert (
            len(set(fine[split].tolist())) == 1
        )  # one group is cut, and one part keeps its number
    links = [joining.link for joining in found.joinings]
    assert all(a >= b - 1e-9 for a, b in pairwise(links))
    assert (np.diff(found.cut_values) >= -1e-12).all()


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(3, 8))
def test_with_equal_masses_it_is_scipys_average_linkage(seed, K):
    rng = np.random.default_rng(seed)
    B = rng.random((K, K))
    B = (B + B.T) / 2
    found = join_all(ClusterWeights(B, np.ones(K), np.ones(K), None, True), "ratiocut")
    known = average(squareform(1 - B * (1 - np.eye(K)) - np.eye(K), checks=False))
    for k in range(2, K):
        assert same_partition(found.labels(k), cut_tree(known, k).ravel())


@settings(max_examples=30)
@given(st.permutations(range(6)), st.floats(1e-6, 1e6))
def test_order_and_units_of_the_weights_do_not_matter(order, scale):
    plain = random_weights(3, 6)
    order = np.array(order)
    weights, mass = scale * plain.weights[np.ix_(order, order)], scale * plain.mass[order]
    moved = ClusterWeights(weights, mass, np.ones(6), None, True)
    for k in range(1, 7):
        found = join_all(moved, "ncut").labels(k)
        assert same_partition(join_all(plain, "ncut").labels(k)[order], found)


def test_pieces_without_edges_join_by_their_means():
    model = GPOD(4, affinity="neighbors").fit(
        np.array([[0.0, 0], [0, 40], [900, 0], [900, 50]])[TRUE % 4] + RNG.normal(size=(260, 2))
    )
    found = model.hierarchy()
    assert not found.cut_values.any()
    assert same_partition(found.labels(2)[model.labels_], TRUE % 4 // 2)


def test_landmarks_know_it_without_rows_to_a_bound(tmp_path):
    model = GPOD(5, affinity=Landmarks(60)).fit(X)
    found = model.hierarchy()
    assert not found.exact and "(lower bounds)" in str(found)
    groups = found.labels(3)[model.predict(X)]
    assert same_partition(groups, np.array([0, 0, 1, 1, 2])[TRUE])
    graph = model.affinity_.fit_graph(X)  # what the fit has thrown away
    Z = np.eye(5)[model.fitted_cut_.partition.labels] * graph.multiplicity[:, np.newaxis]
    B = Z.T @ graph.matmat(Z)
    exact = (1 - B.diagonal() / B.sum(axis=1)).sum()
    assert found.cut_values[-1] <= exact + 1e-9
    assert found.cut_values[-1] >= model.eigenvalues_.sum() - 1e-9


def test_with_all_eigenvectors_the_estimate_is_exact(cut):
    rows = X[:12]
    W = np.exp(-((rows[:, np.newaxis] - rows) ** 2).sum(2) / 50)
    model = GPOD(12, cut=cut, affinity="precomputed", n_init=1).fit(W)
    found = cluster_weights(model.fitted_cut_)
    Z = np.eye(12)[model.fitted_cut_.partition.labels]
    np.testing.assert_allclose(found.weights, Z.T @ W @ Z / 12, atol=1e-8)


def test_clusters_without_rows_join_first():
    B = np.array([[5.0, 1, 0], [1, 5, 0], [0, 0, 0]])
    found = join_all(ClusterWeights(B, B.sum(axis=1), np.array([3.0, 2, 0]), None, True), "ncut")
    assert found.joinings[0].joined == 2 and found.labels(2).tolist() == [0, 1, 0]


def test_the_tree_is_printed_and_plain_data():
    found = TableModel(GPOD(5, affinity=Gaussian(2.0)), scale="none").fit(X).hierarchy()
    lines = str(found).splitlines()
    assert lines[2].startswith("all: 260 rows; cut into 2 groups: ")
    leaves = [line for line in lines[2:] if "groups" not in line]
    assert len(leaves) == 5 and len(lines) == 2 + 9
    sizes = sorted(int(line.split(": ")[1].split()[0]) for line in leaves)
    assert sizes == sorted(found.sizes.astype(int).tolist())
    plain = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert len(plain["joinings"]) == 4 and plain["cut"] == "ncut"
    assert found.to_frame()["link"].tolist() == [one.link for one in found.joinings]


def test_one_cluster_is_a_tree():
    found = GPOD(1, affinity=Gaussian(2.0)).fit(X).hierarchy()
    assert found.labels(1).tolist() == [0] and "all: 260 rows" in str(found)


@pytest.mark.parametrize("wrong", [0, 6, 2.0, True, "2"])
def test_numbers_of_groups_that_are_refused(wrong):
    found = join_all(random_weights(0, 5), "ncut")
    with pytest.raises(ValueError, match="n_groups must be an integer from 1 to the 5 clusters"):
        found.labels(wrong)


def test_printed_sizes_add_up():
    """Of landmarks, they are fractions."""
    tree = GPOD(3, affinity=Gaussian(2.0)).fit(X).hierarchy()
    found = replace(tree, sizes=np.array([100.4, 100.4, 59.2]))
    lines = str(found).splitlines()[2:]
    rows = [int(re.search(r": (\d+) rows", line)[1]) for line in lines]
    leaves = [n for n, line in zip(rows, lines, strict=True) if "cut into" not in line]
    assert len(leaves) == 3 and sum(leaves) == rows[0] == 260
    assert sum(rows) - 2 * 260 in (leaves[i] + leaves[j] for i, j in ((0, 1), (1, 2)))
