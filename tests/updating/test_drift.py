"""Drift: p-values that hold when nothing has changed, and are small when something has."""

import json
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.stats import chi2_contingency, fisher_exact
from sklearn.datasets import make_moons

from eigencut import GPOD, Gaussian, Landmarks, Neighbors, Rows, TableModel, recluster
from eigencut.affinities import Affinity
from eigencut.inspection import assess
from eigencut.inspection.leaving import leaving_share
from eigencut.io.sample import seeded_by
from eigencut.updating.drift import ClusterFacts, FactTotals, _p_of_shares, _p_outside

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")

CENTRES = np.array([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]])


def rows(n, seed, centres=CENTRES, shares=None):
    rng = np.random.default_rng(seed)
    return centres[rng.choice(len(centres), n, p=shares)] + rng.normal(size=(n, 2))


MODELS = {
    "rows": (Neighbors(8), 300, 120),
    "landmarks": (Landmarks(20), 1000, 300),
}


@pytest.mark.parametrize("name", MODELS)
def test_p_values_hold_if_nothing_has_changed(name):
    """Each is below alpha no more often than alpha, but for what so few repetitions tell."""
    affinity, n, m = MODELS[name]
    found = []
    for seed in range(40):
        model = GPOD(3, affinity=affinity, n_init=2).fit(rows(n, 2 * seed))
        drift = model.drift(rows(m, 2 * seed + 1), random_state=seed)
        found.append((drift.without_support.p_value, drift.cut_value.p_value, drift.p_shares))
        assert drift.new_cluster is None
    found = np.array(found)
    assert ((found > 0) & (found <= 1)).all()
    # Of 40 at alpha = 0.25, more than 17 would be seen once in 200 times.
    assert ((found <= 0.25).sum(axis=0) <= 17).all()
    assert ((found <= 0.02).sum(axis=0) <= 4).all()
    # Those of the shares are spread over the whole range, and not all large.
    assert (found[:, 2] <= 0.5).sum() >= 10


@pytest.mark.parametrize("name", MODELS)
def test_what_has_changed_is_found_and_nothing_changes(name):
    affinity, n, m = MODELS[name]
    model = GPOD(3, affinity=affinity).fit(rows(n, 0))
    state = dict(model.__dict__)
    known = model.predict(CENTRES)
    shifted = model.drift(rows(m, 1, shares=[0.8, 0.1, 0.1]))
    assert shifted.has_drifted and shifted.p_shares < 1e-6
    assert shifted.shares[int(known[0])][1] > 0.7
    nearer = model.drift(rows(m, 2, 0.6 * CENTRES))
    assert nearer.cut_value.p_value < 0.01 and nearer.cut_value.now > nearer.cut_value.before
    far = np.vstack([rows(m, 3), rows(40, 4, np.array([[14.0, 14.0]]))])
    new = model.drift(far)
    assert new.without_support.p_value < 1e-3 and new.new_cluster is not None
    assert np.abs(new.new_cluster.centre - 14).max() < 0.5
    assert (new.new_cluster.rows >= m).mean() > 0.95 and new.new_cluster.n_rows > 20
    assert model.__dict__ == state


def requests(n, seed):
    """A log of requests: a word, and two numbers with long tails."""
    rng = np.random.default_rng(seed)
    path = rng.integers(0, 3, n)
    middle = np.array([[5.0, 6.0], [3.0, 9.0], [1.0, 12.0]])[path]
    values = np.exp(middle + 0.4 * rng.normal(size=(n, 2)))
    words = np.array(["/api", "/home", "/static"])[path]
    return pd.DataFrame({"path": words, "latency": values[:, 0], "bytes": values[:, 1]})


def test_drift_names_columns_words_and_rows():
    model = TableModel(GPOD(3)).fit(requests(900, 0))
    new = requests(300, 1)
    same = model.drift(new)
    assert {one.column for one in same.columns} == {"path", "latency", "bytes"}
    assert min(one.p_value for one in same.columns) > 0.01 and "  column" not in str(same)
    new.loc[270:, "path"] = "/evil"
    new.loc[270:, "latency"] *= 1e4
    found = model.drift(new)
    changes = {one.column: one for one in found.columns}
    assert changes["path"].p_value < 1e-6 and changes["path"].new_words == {"/evil": 0.1}
    assert changes["latency"].effect > 0 and changes["bytes"].p_value > 0.05
    assert found.columns[0].column == "path"
    assert all(one.row >= 270 and one.values["path"] == "/evil" for one in found.outside)
    assert "/evil 10.0%" in str(found) and "latency" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["columns"][0]["new_words"] == {"/evil": 0.1}


def test_rows_that_are_left_out_do_not_shift_the_numbers_of_others():
    model = TableModel(GPOD(3), missing="drop").fit(requests(900, 0))
    new = requests(300, 1)
    new.loc[:9, "latency"] = np.nan
    new.loc[50, "bytes"] = 1e30
    found = model.drift(new).outside
    assert found[0].row == 50 and set(found[0].values) == {"bytes"}


def test_p_values_of_columns_hold_if_nothing_has_changed():
    """The smallest is adjusted: below 0.25 no more often than that."""
    smallest = [
        min(
            one.p_value
            for one in GPOD(2, affinity=Neighbors(8), n_init=1)
            .fit(np.random.default_rng(2 * seed).normal(size=(150, 6)))
            .drift(np.random.default_rng(2 * seed + 1).normal(size=(80, 6)))
            .columns
        )
        for seed in range(40)
    ]
    assert 2 <= (np.array(smallest) <= 0.25).sum() <= 17


def test_lengths_of_rows_do_not_drift_where_directions_count():
    model = GPOD(3, metric="cosine").fit(rows(300, 0) + 9)
    assert model.drift(3 * (rows(100, 1) + 9)).p_value > 0.01


def test_columns_need_rows_that_were_kept():
    found = GPOD(3, affinity=Landmarks(20)).fit(rows(1000, 0)).drift(rows(300, 1))
    assert found.columns == () and "columns          not compared" in str(found)
    weighted = GPOD(3).fit(rows(300, 0), sample_weight=np.full(300, 0.5))
    assert weighted.drift(rows(100, 1)).columns == ()


def test_outliers_are_explained_by_the_columns_that_their_cluster_lacks():
    model = TableModel(GPOD(3)).fit(requests(900, 0))
    new = requests(200, 1)
    new.index = [f"id{i}" for i in range(len(new))]
    new.iloc[7, 0], new.iloc[9, 2] = "/evil", 1e12
    new.iloc[11, 1] *= 1e6
    found = model.explain_outliers(new)
    assert found.n_rows == 200 and found.n_outliers == len(found.rows)
    by_row = {one.row: one for one in found.rows}
    assert by_row[9].values == {"bytes": 1e12} and by_row[9].place == "row id9"
    assert by_row[7].values == {"path": "/evil"} and by_row[7].usual == {"path": 0.0}
    assert list(by_row[11].values) == ["latency"]
    for one in found.rows:
        assert one.support < model.gpod.fitted_cut_.least_support
        old = requests(900, 0)[model.labels_ == one.cluster]
        for name in set(one.values) - {"path"}:
            low, high = old[name].quantile([0.05, 0.95])
            assert one.usual[name] == pytest.approx((low, high), rel=1e-6)
            assert not low <= one.values[name] <= high
    assert "row id9, nearest to cluster" in str(found) and "never in the cluster" in str(found)
    marked = TableModel(GPOD(3, outliers="label")).fit(requests(900, 0))
    assert {one.cluster for one in marked.explain_outliers(new).rows} <= {0, 1, 2}


def test_outliers_of_landmarks_cosine_sparse_and_split_models_are_found():
    X, new = rows(1000, 0), rows(200, 1)
    new[5] = 30, 2
    for affinity in (Landmarks(40), "auto"):
        found = GPOD(3, affinity=affinity).fit(X).explain_outliers(new)
        assert found.rows[0].row == 5 and found.rows[0].values["x1"] == 30
        assert len(GPOD(3, affinity=affinity).fit(X).explain_outliers(X[:0:-1]).rows) < 30
    split = recluster(GPOD(2).fit(X), X, cluster=0)
    first = split.explain_outliers(new).rows[0]
    assert first.row == 5 and first.cluster == split.predict(new[5:6])[0]
    sparse = GPOD(3, affinity=Neighbors(8)).fit(csr_array(X)).explain_outliers(csr_array(new))
    assert sparse.rows[0].row == 5 and sparse.rows[0].values == {}
    assert "no single column is unusual" in str(sparse) and "<pre>" in sparse._repr_html_()
    cosine = GPOD(3, metric="cosine").fit(X + 9).explain_outliers([[-4.0, 5.0], [9.0, 9.0]])
    assert cosine.rows[0].row == 0 and np.abs([*cosine.rows[0].values.values()]).max() <= 1


def test_columns_and_outliers_are_in_units_where_the_default_scales_columns():
    units = np.array([1.0, 4096.0, 1.0, 1.0])
    X, new = (np.tile(rows(n, seed), 2) * units for n, seed in ((300, 0), (150, 1)))
    model = GPOD(3).fit(X)
    assert model.column_scales_ is not None
    new[4, 1], new[-15:] = 1e6, np.array([40.0, 40.0, 40.0, 40.0]) * units + rows(15, 2).sum()
    row = next(one for one in model.explain_outliers(new).rows if one.row == 4)
    assert row.values == {"x2": 1e6} and row.usual["x2"][1] > 1000
    found = model.drift(new)
    medians = {one.column: one.before for one in found.columns}
    assert medians["x2"] == pytest.approx(np.median(X[:, 1]), rel=1e-9)
    assert found.new_cluster is not None and found.new_cluster.centre[1] > 1e5


def test_many_outliers_are_listed_in_part():
    found = GPOD(3).fit(rows(300, 0)).explain_outliers(100 + rows(60, 1))
    assert found.n_outliers == 60 and "and 40 more" in str(found)
    assert GPOD(3).fit(rows(300, 0)).explain_outliers(rows(300, 0)[:2]).rows == ()


def test_odd_rows_everywhere_are_no_cluster():
    model = GPOD(3, affinity=Neighbors(8)).fit(rows(800, 0))
    angle = np.linspace(0, 2 * np.pi, 30)
    ring = 25 * np.column_stack([np.cos(angle), np.sin(angle)])
    found = model.drift(np.vstack([rows(300, 1), ring]))
    assert found.without_support.p_value < 1e-3 and found.new_cluster is None


def test_sums_are_what_the_rows_add_up_to():
    """Totals of a landmark model, from its sums alone, against all of its rows one by one."""
    X = rows(800, 0, 0.5 * CENTRES)
    for contrast in (0.0, 1.0):
        for cut in ("ncut", "ratiocut"):
            affinity = Landmarks(30, density_contrast=contrast)
            fitted = GPOD(3, cut=cut, affinity=affinity).fit(X).fitted_cut_
            totals, one_by_one = (
                FactTotals.from_sums(fitted),
                ClusterFacts.from_rows(fitted, X).totals,
            )
            assert np.allclose(totals.belongs, one_by_one.belongs)
            assert np.allclose(totals.leaves, one_by_one.leaves, atol=1e-6)
            assert np.allclose(totals.mass, one_by_one.mass)


def test_cut_values_are_those_of_brute_force():
    """What leaves each cluster, from the weights between new and training rows."""
    X, new = rows(150, 0, 0.5 * CENTRES), rows(60, 1, 0.5 * CENTRES)
    for cut in ("ncut", "ratiocut"):
        model = GPOD(3, cut=cut, affinity=Gaussian(1.0)).fit(X)
        W = np.exp(-((new[:, np.newaxis] - X) ** 2).sum(axis=2) / 2) / len(X)
        labels, of_training = model.predict(new), model.labels_
        expected = 0.0
        for k in set(labels):
            W_k = W[labels == k]
            mass = W_k.sum() if cut == "ncut" else (labels == k).sum()
            expected += W_k[:, of_training != k].sum() / mass
        found = ClusterFacts.from_rows(model.fitted_cut_, new).totals
        assert np.isclose(found.cut_value(found.mass > 0), expected)


def test_tests_are_those_of_scipy():
    rng = np.random.RandomState(0)
    before, now = np.array([40.0, 30, 30]), np.array([20.0, 40, 40])
    expected = chi2_contingency([before, now], correction=False).pvalue
    assert np.isclose(_p_of_shares(before, now, rng), expected)
    assert _p_of_shares(np.array([5.0]), np.array([9.0]), rng) == 1.0
    few = _p_of_shares(np.array([8.0, 1, 1]), np.array([1.0, 2, 3]), rng)
    assert abs(few - 0.06) < 0.03  # of all tables with these sums, by 9999 of them

    def totals(n, outside):
        return FactTotals(n, outside, np.ones(1), np.ones(1), np.ones(1))

    expected = fisher_exact([[9, 41], [3, 97]], alternative="greater").pvalue
    assert np.isclose(_p_outside(totals(100, 3), totals(50, 9)), expected)


def test_duplicates_and_weights_are_counted():
    X = rows(300, 0).round()
    model = GPOD(3, affinity=Neighbors(8)).fit(X)
    assert model.drift(rows(100, 1).round()).n_compared == 60
    weighted = GPOD(3, affinity=Neighbors(8)).fit(X, sample_weight=np.full(len(X), 0.3))
    assert weighted.drift(rows(100, 1).round()).p_value > 0.01


def test_it_reads_well_and_is_json():
    import json

    model = GPOD(3, affinity=Landmarks(20)).fit(rows(1000, 0))
    found = model.drift(rows(200, 1))
    text = str(found)
    assert (
        text.startswith("No sign of drift") and "200 rows, compared with 1000 training rows" in text
    )
    assert "left-out rows" not in text and text.count("  training rows  ") == 5
    assert "new cluster      none stands out" in text
    plain = json.loads(json.dumps(found.to_dict()))
    assert plain["has_drifted"] is False and set(plain["shares"]) == {"0", "1", "2"}
    drift = GPOD(3).fit(rows(300, 0)).drift(rows(200, 1))
    assert "compared with 60 left-out rows" in str(drift) and "for all clusters" in str(drift)
    assert str(drift).count("  left-out rows ") == 2 and str(drift).count("  training rows  ") == 3
    frame = drift.to_frame()
    counts = {"share": 3, "column": rows(1, 0).shape[1], "without support": 1, "cut value": 1}
    assert frame["measure"].value_counts().to_dict() == counts
    assert frame.query("measure == 'share'")["now"].sum() == pytest.approx(1)


def test_few_rows_of_a_landmark_are_warned_of():
    model = GPOD(3, affinity=Landmarks(100)).fit(rows(400, 0))
    with pytest.warns(UserWarning, match="Fit with fewer landmarks"):
        found = model.drift(rows(100, 1) + 50)
    assert found.p_value < 1e-6 and not found.p_values_hold and not found.has_drifted
    assert "Too few rows for each landmark" in str(found)
    assert found.to_dict()["p_values_hold"] is False


@pytest.mark.parametrize("affinity", ["auto", Landmarks(20)], ids=["rows", "landmarks"])
def test_one_row_is_compared_and_none_is_refused(affinity):
    model = GPOD(3, affinity=affinity).fit(rows(500, 0))
    p_values = [model.drift(rows(1, seed)).p_value for seed in range(100, 140)]
    assert np.mean(np.array(p_values) <= 0.05) <= 0.1
    assert "1 row, compared" in str(model.drift(rows(1, 0)))
    table = TableModel(GPOD(3, affinity=affinity)).fit(rows(500, 0))
    for one in (model, table):
        for nothing in (rows(0, 0), pd.DataFrame(rows(0, 0))):
            with pytest.raises(ValueError, match=r"at least one row to compare. Got none"):
                one.drift(nothing)
            with pytest.raises(ValueError, match=r"at least one row to update by. Got none"):
                one.update(nothing)
        with pytest.raises(TypeError, match=r"in memory to compare. Got a stream.*few thousand"):
            one.drift(Rows.from_array(rows(30, 0)))


def test_every_affinity_says_what_it_keeps():
    from eigencut import Kernel, Precomputed

    kinds = {Gaussian: "rows", Kernel: "rows", Neighbors: "rows", Landmarks: "sums"}
    assert {kind: kind.keeps for kind in kinds} == kinds
    assert Precomputed.keeps is Affinity.keeps is None


def test_a_new_cluster_of_a_table_with_words_is_shown_by_a_row():
    rng = np.random.default_rng(0)

    def table(place, word, n=150):
        return pd.DataFrame({"a": place + rng.normal(size=n), "b": rng.normal(size=n), "c": word})

    model = TableModel(GPOD(2)).fit(pd.concat([table(0, "x"), table(30, "y")]))
    found = model.drift(pd.concat([table(0, "x"), table(-60, "x")]))
    assert found.new_cluster.centre is None and found.new_cluster.rows.min() >= 150
    cells = found.new_cluster.cells
    assert abs(cells["a"] + 60) < 2 and cells["c"] == "x"
    assert f"such as a {cells['a']:.4g}, b {cells['b']:.4g}, c x" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["new_cluster"]["cells"] == cells


def test_p_values_hold_with_the_default_seed():
    """Rows are kept sorted: a seed alone would hold out the same ranks again and again."""
    found = []
    for seed in range(150):
        model = GPOD(3, affinity=Gaussian(1.0), n_init=1).fit(rows(150, 2 * seed))
        drift = model.drift(rows(60, 2 * seed + 1))
        found.append((drift.without_support.p_value, drift.cut_value.p_value, drift.p_shares))
    # Of 150 the standard error at 0.25 is 0.035, and at 0.05 it is 0.018.
    assert (np.mean(np.array(found) <= 0.25, axis=0) <= 0.25 + 2.5 * 0.035).all()
    assert (np.mean(np.array(found) <= 0.05, axis=0) <= 0.05 + 2.5 * 0.018).all()
    assert np.mean(np.array(found)[:, 2] <= 0.5) >= 0.35


def test_the_draw_depends_on_rows_and_seed_and_not_on_their_order():
    X = rows(50, 0)
    numbers = [
        seeded_by(some, seed).randint(1 << 30)
        for some, seed in [(X, None), (X[::-1], 0), (X + 1e-9, 0), (X, 1)]
    ]
    assert numbers[0] == numbers[1]
    assert len(set(numbers)) == 3
    given = np.random.RandomState(0)
    assert seeded_by(X, given) is given


@pytest.mark.parametrize("affinity", [Gaussian(1.0), Neighbors(8), Landmarks(20)], ids=repr)
def test_counts_cost_no_memory(affinity):
    """Rows that stand for billions of others are not written out one by one."""
    X, many = rows(60, 0), np.full(60, 2.0**33)
    model = GPOD(3, affinity=affinity).fit(X, sample_weight=many)
    tracemalloc.start()
    model.drift(X), assess(model, X, sample_weight=many)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e8
    assert leaving_share(model, X, sample_weight=many) is None


def test_new_rows_whose_distances_overflow():
    X = pd.DataFrame(rows(60, 0), columns=["a", "b"]).assign(c=["x", "y"] * 30)
    model = TableModel(GPOD(3)).fit(X.assign(a=X.a * 1e-160))
    assert model.drift(X).has_drifted


def test_shares_are_those_of_the_model_whatever_a_refit_finds():
    """Three clusters of two moons: a refit on fewer rows cuts the moons elsewhere."""
    X, _ = make_moons(600, noise=0.07, random_state=0)
    for limit in (None, 150):
        model = GPOD(3, min_cluster_size=limit).fit(X)
        drift = model.drift(X)
        sizes = np.bincount(model.labels_) / 600
        np.testing.assert_allclose(list(drift.shares.values()), np.c_[sizes, sizes])
        new, _ = make_moons(600, noise=0.07, random_state=9)
        left = new[model.predict(new) != 2]
        assert model.drift(left).shares[2][1] == 0
