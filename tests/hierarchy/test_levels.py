"""Nested labels of several levels."""

import numpy as np
import pytest

from eigencut import GPOD, TableModel, load
from eigencut.cli import main

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
    assert main([*predict, "--levels", "3;2"]) == 2
    assert "like 20,5" in capsys.readouterr().err
