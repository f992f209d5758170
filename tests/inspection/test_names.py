"""Names of clusters: given by a function, kept in files, by updates and by splits."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD, Landmarks, TableModel, load, plotting, recluster
from eigencut.cli import main
from eigencut.report import summarize

X, _ = make_blobs([70, 50, 30], centers=[[0, 0], [20, 0], [0, 20]], random_state=0)
NAMES = {0: "centre", 1: "east", 2: "north"}
KINDS = {
    "gpod": lambda: GPOD(3, affinity="gaussian"),
    "landmarks": lambda: GPOD(3, affinity=Landmarks(40)),
    "table": lambda: TableModel(GPOD(3, affinity="gaussian"), scale="none"),
}

mpl = pytest.importorskip("matplotlib")
mpl.use("Agg")
from matplotlib import pyplot  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


def namer(cluster):
    x, y = cluster.typical[0].values.values()
    return "east" if x > 10 else "north" if y > 10 else "centre"


@pytest.fixture(params=KINDS)
def model(request):
    found = KINDS[request.param]().fit(X)
    return found.set_names(found.describe(X).name(namer))


def names_of(model, rows=X):
    return [model.class_names_[k] for k in model.predict(rows)]


TRUE = names_of(KINDS["gpod"]().fit(X).set_names(NAMES))


def test_names_live_in_files(model, tmp_path):
    assert names_of(model) == TRUE
    assert model.names_of_clusters() == NAMES
    model.save(tmp_path / "model.eigencut")
    assert load(tmp_path / "model.eigencut").class_names_ == model.class_names_


def test_names_survive_updates_and_splits(model, tmp_path):
    more, _ = make_blobs([20, 90, 30], centers=[[0, 0], [20, 0], [0, 20]], random_state=1)
    model.update(more)
    assert names_of(model) == TRUE
    finer = recluster(model, X, cluster=list(model.class_names_).index("centre"))
    same = np.array(TRUE) != "centre"
    assert [finer.class_names_[k] for k in finer.predict(X[same])] == list(np.array(TRUE)[same])
    new = int(finer.cluster_numbers_[-1])
    assert new not in finer.names_of_clusters()
    finer.set_names({new: "outskirts"})
    assert finer.class_names_[new] == "outskirts" and "outskirts" not in model.class_names_
    finer.save(tmp_path / "finer.eigencut")
    assert load(tmp_path / "finer.eigencut").names_of_clusters() == finer.names_of_clusters()


def test_a_fit_forgets_names(model):
    assert len(model.fit(X).class_names_) == 0


def test_names_appear_where_clusters_do(model, tmp_path, capsys):
    described = model.describe(X)
    assert [one.name for one in described.clusters] == model.class_names_
    assert "(east): 50 rows" in str(described)
    assert "east" in str(summarize(model, X, n_refits=0))
    assert summarize(model, X, names={0: "middle"}, n_refits=0).names[0] == "middle"
    displays = [
        plotting.ClusterDisplay.from_estimator(model, X),
        plotting.MarginDisplay.from_estimator(model, X),
        plotting.HierarchyDisplay.from_estimator(model),
        plotting.SplitDisplay.from_estimator(model),
        plotting.DriftDisplay.from_estimator(model, X),
        plotting.CutValueDisplay.from_estimator(model, X),
        plotting.EmbeddingDisplay.from_estimator(model, X),
    ]
    for display in displays:
        display.figure_.canvas.draw()
        legend = display.ax_.get_legend()
        shown = [*display.ax_.get_yticklabels(), *(legend.get_texts() if legend else ())]
        assert any("north" in text.get_text() for text in shown), display
        pyplot.close(display.figure_)
    np.savetxt(tmp_path / "rows.csv", X, delimiter=",", header="x1,x2", comments="")
    model.save(tmp_path / "model.eigencut")
    assert main(["predict", str(tmp_path / "model.eigencut"), str(tmp_path / "rows.csv")]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "cluster,cluster_name"
    assert [line.split(",")[1] for line in lines[1:]] == TRUE


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["a"], "names must be a mapping"),
        ({3: "a"}, "names must be of clusters of the model, 0, 1, 2"),
        ({0: " "}, "names must be texts that are not empty"),
        ({0: 5}, "names must be texts that are not empty"),
        ({0: "a", 1: "a"}, "names must be different"),
        ({0: "east"}, "names must be different"),
    ],
)
def test_wrong_names_are_refused(names, said):
    model = KINDS["gpod"]().fit(X).set_names({1: "east"})
    with pytest.raises(ValueError, match=said):
        model.set_names(names)
    assert model.names_of_clusters() == {1: "east"}


def test_what_is_no_namer_is_refused():
    with pytest.raises(ValueError, match=r"namer must be a function of a cluster\. Got 'a'"):
        KINDS["gpod"]().fit(X).describe(X).name("a")
