"""Nested labels of several levels."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.cluster.hierarchy import cut_tree, is_valid_linkage
from sklearn.metrics import adjusted_rand_score

from eigencut import GPOD, Gaussian, TableModel, load
from eigencut.cli import main
from eigencut.hierarchy.hierarchy import ClusterWeights, join_all

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

RNG = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0], [0, 4], [12, 0], [12, 4], [40, 0], [40, 4]])
TRUE = RNG.integers(0, 6, 360)
X = CENTRES[TRUE] + 0.5 * RNG.normal(size=(360, 2))


@pytest.mark.parametrize("solver", ["relaxed", "discrete"])
def test_levels_are_nested_and_keep_numbers(solver, tmp_path):
    model = GPOD(6, affinity="gaussian", solver=solver).fit(X)
    new = X + 0.1
    found = model.predict_levels(new, (6, 3, 2))
    assert found.shape == (3, 360) and (found[0] == model.predict(new)).all()
    for fine, coarse, n_groups in ((found[0], found[1], 3), (found[1], found[2], 2)):
        assert len(np.unique(coarse)) == n_groups
        for group in np.unique(fine):
            assert len(np.unique(coarse[fine == group])) == 1
        for group in np.unique(coarse):
            assert group == fine[coarse == group].min()
    order = RNG.permutation(360)
    assert (model.predict_levels(new[order], (6, 3, 2)) == found[:, order]).all()
    model.save(tmp_path / "model.eigencut")
    assert (load(tmp_path / "model.eigencut").predict_levels(new, (6, 3, 2)) == found).all()


def test_coarse_levels_are_the_pairs_of_blobs():
    model = TableModel(GPOD(6, affinity="gaussian"), scale="none").fit(X)
    found = model.predict_levels(X, [3])
    assert len({tuple(np.unique(TRUE[found[0] == k] // 2)) for k in np.unique(found[0])}) == 3


def test_outliers_stay_outliers():
    model = GPOD(6, affinity="gaussian", outliers="label").fit(X)
    assert (model.predict_levels([[500.0, 500]], (6, 2)) == -1).all()


@pytest.mark.parametrize("counts", [(), (2, 3), (3, 3), "63", 5, (7, 2), (3, 0)])
def test_wrong_levels_are_refused(counts):
    with pytest.raises(ValueError, match="must be"):
        GPOD(6, affinity="gaussian").fit(X).predict_levels(X, counts)


def test_command_line(tmp_path, capsys):
    path, model, out = tmp_path / "a.csv", tmp_path / "m.eigencut", tmp_path / "labels.csv"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    assert main(["fit", str(path), "-k", "6", "--scale", "none", "-o", str(model)]) == 0
    predict = ["predict", str(model), str(path), "-o", str(out)]
    assert main([*predict, "--levels", "3,2"]) == 0
    lines = out.read_text().splitlines()
    assert lines[0] == "cluster,level_3,level_2"
    written = np.loadtxt(lines[1:], delimiter=",", dtype=int)
    assert (load(model).predict_levels(X, (3, 2)) == written[:, 1:].T).all()
    assert main([*predict, "--levels", "auto"]) == 0
    assert "level_6" in out.read_text().splitlines()[0]
    assert main([*predict, "--levels", "3;2"]) == 2
    assert "like 20,5" in capsys.readouterr().err


def random_tree(K, seed):
    rng = np.random.default_rng(seed)
    B = rng.uniform(size=(K, K)) ** 6
    weights = B + B.T + 3 * np.eye(K)
    found = ClusterWeights(weights, weights.sum(axis=1), rng.uniform(1, 9, K), None, True)
    return join_all(found, "ncut")


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 25), st.integers(1, 4), st.integers(0, 1000), st.data())
def test_every_group_has_its_children(K, least, seed, data):
    tree, counts = random_tree(K, seed), [K]
    while counts[-1] >= 2 * least and len(counts) < 4:
        n_groups = data.draw(st.integers(1, min(counts[-1] // least, counts[-1] - 1)))
        counts.append(n_groups)
    levels = tree.levels(counts, least)
    assert [len(np.unique(level)) for level in levels] == counts
    for fine, coarse in pairwise(levels):
        for group in np.unique(coarse):
            own = np.unique(fine[coarse == group])
            assert len(own) >= least and group == own.min()
        for group in np.unique(fine):
            assert len(np.unique(coarse[fine == group])) == 1
    assert (tree.levels(counts, 1) == [tree.labels(count) for count in counts]).all()


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 12), st.integers(0, 1000))
def test_the_tree_as_scipy_has_it(K, seed):
    tree = random_tree(K, seed)
    Z = tree.linkage()
    assert Z.shape == (K - 1, 4) and (np.diff(Z[:, 2]) >= -1e-12).all()
    if K > 1:
        assert is_valid_linkage(Z)
        Z[:, 2] = np.arange(K - 1)  # equal links are joined one after another
        for n_groups in range(1, K + 1):
            found = cut_tree(Z, n_groups).ravel()
            assert adjusted_rand_score(found, tree.labels(n_groups)) == 1


def test_gaps_of_the_hierarchy_are_levels():
    centres = [[a + b + c, 0.0] for a in (0, 400) for b in (0, 60) for c in (0, 8)]
    rows = np.repeat(centres, 40, axis=0) + np.random.default_rng(0).normal(size=(320, 2))
    model = GPOD(8, affinity=Gaussian(sigma=12.0)).fit(rows)
    found = model.predict_levels(rows)
    assert [len(np.unique(level)) for level in found] == [8, 4, 2]
    one = GPOD(1, affinity="gaussian").fit(rows)
    assert (one.predict_levels(rows) == 0).all() and len(one.predict_levels(rows)) == 1
    for least in (1, 3):
        counts = [len(np.unique(level)) for level in random_tree(20, 3).levels("auto", least)]
        assert counts[0] == 20 and all(a >= max(least, 1.5) * b for a, b in pairwise(counts))


def test_levels_keep_their_numbers_when_clusters_go():
    """An update leaves gaps between numbers; groups have the smallest number of their clusters."""
    rng, centres = np.random.default_rng(0), [[0, 0], [20, 0], [0, 20], [40, 60], [60, 60]]
    sizes = np.array([60, 50, 40, 35, 30])
    rows = np.repeat(centres, sizes, axis=0) + rng.normal(size=(215, 2))
    model = GPOD("auto", affinity="gaussian").fit(rows)
    before = model.predict_levels(rows, (5, 2))
    left = np.repeat(np.arange(5), sizes) != 1
    for _ in range(6):
        model.update(rows[left], decay=0.4)
    assert model.cluster_numbers_.tolist() == [0, 2, 3, 4]
    fine, coarse = model.predict_levels(rows[left], (4, 2))
    assert (fine == before[0][left]).all() and (coarse == before[1][left]).all()
    tree = model.hierarchy()
    assert tree.labels(4).tolist() == [0, -1, 2, 3, 4]
    assert [line.split(":")[0][-1] for line in str(tree).splitlines()[2:]] == list("l002334")


@pytest.mark.parametrize(
    ("counts", "least", "said"),
    [((6, 4), 2, "4 groups x 2 > 6"), ((6, 2), 0, "min_children must be an integer")],
)
def test_too_many_children_are_refused(counts, least, said):
    with pytest.raises(ValueError, match=said):
        random_tree(6, 0).levels(counts, least)
