"""Summaries: sentences and numbers against counts made by other means; mistakes by name."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import eigencut
from eigencut import GPOD, Gaussian, Landmarks, Rows, TableModel, load, recluster, report
from eigencut.report.summary import POLICY, SeenRows, _on_risk, percent, summarize

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")

PLACES = np.array([[0.0, 0], [0, 3.2], [14, 0]])


def rows_of(n, seed):
    rng = np.random.default_rng(seed)
    return PLACES[rng.integers(0, 3, n)] + rng.normal(size=(n, 2))


BETWEEN = np.column_stack([np.linspace(-1.5, 1.5, 20), np.full(20, 1.6)])
X, X_NEW = rows_of(400, 0), np.vstack([rows_of(300, 1), BETWEEN, [[50.0, 50.0]] * 13])
MODEL = GPOD(3, affinity=Gaussian(1.0)).fit(X)
SUMMARY = summarize(MODEL, X, X_new=X_NEW, n_refits=0)
ALONE = summarize(MODEL, X, n_refits=0)


def torn(rows):
    """Unsure rows and the two clusters of each, from public methods alone."""
    proba, margins = MODEL.predict_proba(rows), MODEL.predict_margin(rows)
    inside = MODEL.score_samples(rows) >= MODEL.fitted_cut_.least_support
    found = (margins < 0.1) & inside
    return found, [tuple(sorted(np.argsort(-p)[:2])) for p in proba[found]]


def test_sizes_and_shares_are_those_of_predict():
    counts = np.bincount(MODEL.predict(X), minlength=3)
    assert [cluster.size for cluster in SUMMARY.clusters] == counts.tolist()
    assert np.allclose([cluster.share for cluster in SUMMARY.clusters], counts / 400)
    new = np.bincount(MODEL.predict(X_NEW), minlength=3)
    assert [cluster.n_new for cluster in SUMMARY.clusters] == new.tolist()
    shares = [f"{100 * n / 400:.0f} %" for n in counts]
    assert (
        SUMMARY.sentences[0] == f"3 clusters of 400 rows: {shares[0]}, {shares[1]} and {shares[2]}."
    )


def test_rows_outside_are_those_below_the_least_support():
    below = MODEL.score_samples(X_NEW) < MODEL.fitted_cut_.least_support
    assert 13 <= below.sum() < 30 and SUMMARY.new_outside == below.mean()
    said = next(text for text in SUMMARY.sentences if "are unlike" in text)
    assert said.startswith(f"{100 * below.mean():.2g} % of 333 new rows are unlike the training")


def test_shares_of_new_rows_are_compared_with_chance():
    """New rows of one cluster are said to be; a sample of all of them is not."""
    alike = summarize(MODEL, X, X_new=X[::2], n_refits=0)
    said = "Each cluster has about the same share of the new rows as of the 400 rows."
    assert said in alike.sentences
    some = X[MODEL.predict(X) == 1]
    other = summarize(MODEL, X, X_new=some, n_refits=0)
    share = f"{100 * len(some) / len(X):.0f} %"
    expected = f"100 % of the new rows are in cluster 1, but {share} of the 400 rows."
    assert expected in " ".join(other.sentences)
    assert not any("same share" in sentence for sentence in ALONE.sentences)


def test_one_row_has_a_summary():
    one = np.ones((1, 2))
    assert summarize(GPOD(1).fit(one), one).sentences[0] == "1 cluster of 1 row."


def test_new_rows_may_be_sparse():
    rows = sparse.csr_array(X * (X > 0))
    model = GPOD(3, affinity="neighbors").fit(rows)
    found = summarize(model, rows, X_new=rows[:60], n_refits=0)
    assert found.n_new == 60 and found.risk is not None


@pytest.mark.parametrize(("summary", "rows"), [(SUMMARY, X_NEW), (ALONE, X)])
def test_unsure_rows_are_counted_between_their_two_clusters(summary, rows):
    is_torn, pairs = torn(rows)
    labels = MODEL.predict(rows)
    assert len(pairs) > 2 and summary.unsure == is_torn.mean()
    for found in summary.pairs:
        n = pairs.count((found.first, found.second))
        both = np.isin(labels, [found.first, found.second]).sum()
        assert (found.n_unsure, found.n_rows, found.share) == (n, both, n / both)
    assert sum(found.n_unsure for found in summary.pairs) == len(pairs)
    for cluster in summary.clusters:
        assert cluster.unsure == is_torn[labels == cluster.cluster].mean()
    worst = summary.pairs[0]
    said = f"between cluster {worst.first} and cluster {worst.second} is unsure for "
    assert any(f"{said}{100 * worst.share:.2g} %" in sentence for sentence in summary.sentences)


def test_margins_profiles_and_risk_are_those_of_the_library():
    margins, labels = MODEL.predict_margin(X), MODEL.predict(X)
    described = MODEL.describe(X, n_columns=6, n_typical=2)
    risk = eigencut.inspection.assess(MODEL, X_NEW)
    assert SUMMARY.risk.cut_heldout.value == risk.cut_heldout.value
    for cluster, known in zip(SUMMARY.clusters, described.clusters, strict=True):
        assert np.isclose(cluster.margin, margins[labels == cluster.cluster].mean())
        assert (cluster.contrasts, cluster.rule) == (known.contrasts, known.rule)
        assert cluster.typical == known.typical
        assert cluster.cut_new == risk.cut_heldout.per_cluster[cluster.cluster]


def messy(n, seed):
    """Two clusters, with a gap in five numbers, a constant column and three rows twice."""
    rng = np.random.default_rng(seed)
    k = rng.integers(0, 2, n)
    frame = pd.DataFrame({"size": 9.0 * k + rng.normal(size=n), "site": "main"})
    frame["cost"] = np.exp(4.0 * k + rng.normal(size=n))
    frame["town"] = np.array(["Rome", "Oslo"])[k]
    frame.loc[:4, "size"] = np.nan
    return pd.concat([frame, frame[-3:]], ignore_index=True)


@pytest.mark.parametrize("affinity", ["auto", Landmarks(30)])
def test_data_quality_bars_and_changes_are_those_of_the_table(affinity):
    frame, new = messy(300, 0), messy(120, 1)
    new["cost"] *= 30
    new.loc[7, "town"] = "Bonn"
    model = TableModel(GPOD(2, affinity=affinity), missing="median").fit(frame)
    found = summarize(model, frame, X_new=new, n_refits=0, data="a.csv")
    quality = {one.column: one for one in found.quality.columns}
    assert quality["size"].missing == 5 / 303 and quality["size"].treatment.endswith("the median")
    assert quality["site"].n_values == 1 and quality["town"].treatment == "words"
    assert quality["cost"].treatment.startswith("logarithm")
    assert (found.quality.n_rows, found.quality.n_duplicates) == (303, 3)
    said = " ".join(found.sentences)
    assert "values are missing in 1 column (size 1.7 %); site is constant; 3 rows repeat" in said
    labels, bars = model.predict(frame), {one.column: one for one in found.bars}
    assert set(bars) == {"size", "cost", "town"}
    for k in range(2):
        own = frame[labels == k]
        words = dict(zip(bars["town"].bars, bars["town"].shares[k], strict=True))
        for word, share in own["town"].value_counts(normalize=True).items():
            assert words[word] == pytest.approx(share)
        assert sum(bars["size"].shares[k]) == pytest.approx(1)
    # The bars between two numbers hold what lies between them.
    low, high = (float(end) for end in bars["size"].ends)
    edges = np.linspace(low, high, len(bars["size"].bars) + 1)
    inside = frame["size"][(labels == 0) & frame["size"].notna()].clip(low, high)
    counted = np.histogram(inside, edges)[0] / len(inside)
    assert np.abs(np.cumsum(counted) - np.cumsum(bars["size"].shares[0])).max() < 0.02
    changes = {one.column: one for one in found.changes}
    assert found.changes[0].column == "cost" and changes["cost"].effect > 0.2
    assert changes["town"].new_words == {"Bonn": 1 / 123} and changes["size"].p_value > 0.01
    assert "New rows differ from those of the fit in cost." in said
    assert len(found.outliers) <= 5 and found.data == "a.csv"
    text = str(found)
    assert "Columns of new rows" in text and "a.csv" in text and found.date in text
    assert all(str(one)[:40] in text for one in (*found.changes, *found.outliers))
    assert "  - size: " in text and "missing, " in text


def test_quality_counts_rows_that_are_left_out():
    frame = messy(300, 0)
    model = TableModel(GPOD(2), missing="drop").fit(frame)
    quality = summarize(model, frame, n_refits=0).quality
    assert quality.columns[0].missing == 5 / 303
    assert quality.columns[0].treatment == "scaled; rows left out"


def test_many_words_share_a_bar_and_few_numbers_have_one_each():
    rng = np.random.default_rng(0)
    k = rng.integers(0, 2, 400)
    frame = pd.DataFrame({"x": 9.0 * k + rng.normal(size=400), "n": 3.0 * k + (k > 0)})
    frame["word"] = [f"w{j}" for j in 15 * k + rng.integers(0, 15, 400)]
    model = TableModel(GPOD(2), columns=["x", "n"]).fit(frame)
    bars = {one.column: one for one in summarize(model, frame, n_refits=0).bars}
    assert bars["n"].bars == ("0", "4") and bars["n"].ends is None
    words = TableModel(GPOD(2)).fit(frame)
    for one in summarize(words, frame, n_refits=0).bars:
        if one.column == "word":
            assert one.bars[-1] == "other" and len(one.bars) == 9
            assert all(sum(shares) == pytest.approx(1) for shares in one.shares.values())


def test_data_is_a_text():
    with pytest.raises(ValueError, match=r"data must be a text. Got 3"):
        summarize(MODEL, X, data=3)


def test_very_many_rows_are_looked_at_in_part_and_counted_in_full(monkeypatch):
    monkeypatch.setattr("eigencut.report.summary.POLICY", replace(POLICY, looked_at=100))
    found = summarize(MODEL, X, n_refits=0)
    assert found.n_rows == 400
    assert [cluster.size for cluster in found.clusters] == [c.size for c in ALONE.clusters]
    assert "Sizes are of all 400 rows; everything else is of 100 of them" in found.notes[0]
    labels = MODEL.predict(X)
    for cluster in found.clusters:
        for row in cluster.typical:  # by its place among all rows
            assert labels[row.row] == cluster.cluster
            assert np.allclose(list(row.values.values()), X[row.row])
    frame = pd.DataFrame(X, columns=["a", "b"])
    again = summarize(TableModel(MODEL, scale="none").fit(frame), frame, n_refits=0)
    assert "everything else is of 100 of them" in again.notes[0]


def test_stability_is_measured_and_can_be_left_out():
    assert ALONE.stability is None
    found = summarize(MODEL, X, n_refits=2)
    known = [
        eigencut.inspection.stability(MODEL, X, n_refits=1, random_state=i).mean for i in (0, 1)
    ]
    assert np.isclose(found.stability.mean, np.mean(known)) and found.stability.n_refits == 2
    assert any("of rows the same cluster" in s for s in found.sentences)
    assert all(cluster.stability is not None for cluster in found.clusters)


def test_refits_end_after_some_seconds(monkeypatch):
    monkeypatch.setattr("eigencut.report.summary.POLICY", replace(POLICY, seconds=0.0))
    assert summarize(MODEL, X, n_refits=50).stability.n_refits == 1


def test_it_is_plain_data_and_the_same_each_time():
    first = json.dumps(SUMMARY.to_dict())
    assert first == json.dumps(summarize(MODEL, X, X_new=X_NEW, n_refits=0).to_dict())
    found = json.loads(first)
    assert found["clusters"][0]["size"] == SUMMARY.clusters[0].size
    assert len(found["picture"]["x"]) == 733 and sum(found["picture"]["is_new"]) == 333


FRAME = pd.DataFrame({"km": X[:, 0], "t": X[:, 1], "town": np.where(X[:, 0] > 6, "Oslo", "Rome")})


def test_rows_that_a_model_has_kept_will_do(tmp_path):
    kept = summarize(MODEL, n_refits=0)
    assert [c.size for c in kept.clusters] == [c.size for c in ALONE.clusters]
    table = TableModel(GPOD(3, affinity=Gaussian(0.4))).fit(FRAME[["km", "t"]])
    assert summarize(table, n_refits=0).clusters[0].contrasts[0].column in ("km", "t")
    mixed = TableModel(GPOD(3, affinity=Gaussian(0.4))).fit(FRAME)
    found = summarize(mixed, n_refits=0)
    assert "words and dates among them. For profiles and rules, pass X" in found.notes[0]
    assert found.picture is not None and not found.clusters[0].contrasts
    landmarks = GPOD(3, affinity=Landmarks(50)).fit(X)
    landmarks.save(tmp_path / "m.eigencut", include_training_data=False)
    bare = summarize(load(tmp_path / "m.eigencut"))
    assert bare.picture is None and bare.stability is None and bare.risk is None
    assert np.isclose(sum(cluster.size for cluster in bare.clusters), 400)
    assert "The model has not kept its rows" in bare.notes[0]


def test_models_of_every_kind():
    one = summarize(GPOD(1, affinity=Gaussian(1.0)).fit(X), X)
    assert one.sentences[0] == "1 cluster of 400 rows." and not one.pairs
    split = summarize(recluster(MODEL, X, cluster=0, n_clusters=2), X, X_new=X_NEW)
    assert len(split.clusters) == 4 and split.risk is None
    assert sum(cluster.size for cluster in split.clusters) == 400
    W = np.exp(-((X[:, np.newaxis] - X) ** 2).sum(axis=2) / 2)
    pairwise = GPOD(3, affinity="precomputed").fit(W)
    found = summarize(pairwise, W, n_refits=0)
    assert found.picture is not None and "Clusters were not described" in found.notes[0]
    outliers = GPOD(3, affinity=Gaussian(1.0), outliers="label").fit(X)
    marked = summarize(outliers, X_NEW, n_refits=0)
    n = int((outliers.predict(X_NEW) == -1).sum())
    assert marked.n_unlabelled == n and f"; {n} rows are in no cluster." in marked.sentences[0]
    y = np.array([0, 0, 1])[MODEL.labels_]  # which no cut of the rows alone gives
    y[::2] = -1
    known = summarize(GPOD(3, affinity=Gaussian(1.0)).fit(X, known_labels=y), X)
    assert known.stability is None and any(
        "labels or pairs of the fit" in note for note in known.notes
    )


def test_rows_with_missing_values_are_in_no_cluster():
    frame = FRAME.copy()
    frame.loc[:4, "km"] = np.nan
    model = TableModel(GPOD(3, affinity=Gaussian(0.4)), missing="drop").fit(frame)
    found = summarize(model, frame, n_refits=0)
    assert (found.n_rows, found.n_unlabelled) == (400, 5)
    with pytest.raises(ValueError, match="X_new must have a row without missing values"):
        summarize(model, frame, X_new=frame[:5], n_refits=0)


def test_words_and_names():
    texts = [f"{'engine car' if x > 6 else 'moon orbit'} {i}" for i, x in enumerate(X[:, 0])]
    found = summarize(MODEL, X, documents=texts, names={0: "loyal"}, n_refits=0)
    assert found.clusters[0].name == "loyal" and found.clusters[1].name == "cluster 1"
    assert {word.word for cluster in found.clusters for word in cluster.words} >= {"car", "moon"}
    assert "loyal" in str(found)


def test_chosen_numbers_are_said():
    found = summarize(GPOD("auto").fit(X), X, n_refits=0)
    assert found.choice.chosen_clusters and "was chosen from the data" in " ".join(found.sentences)
    asked = summarize(GPOD(range(2, 5)).fit(X), X, n_refits=0)
    assert asked.choice.asked_clusters == "2-4"


WRONG = [
    (dict(model=3), ValueError, "model must be a GPOD, a TableModel or what recluster returns"),
    (dict(model=GPOD(3)), ValueError, "not fitted"),
    (dict(X=X[:, :1]), ValueError, "X has 1 features"),
    (dict(X=Rows.from_array(X)), TypeError, "X must be rows in memory. Got eigencut.Rows"),
    (dict(X_new=Rows.from_array(X)), TypeError, "X_new must be rows in memory"),
    (dict(X_new=X[:, :1]), ValueError, "X has 1 features"),
    (dict(documents=["a"]), ValueError, "documents must hold one text for each of the 400 rows"),
    (dict(names=["a"]), ValueError, "names must be a mapping from numbers of clusters to texts"),
    (dict(names={7: "a"}), ValueError, "names must be of clusters of the model, 0, 1, 2. Got a"),
    (dict(names={True: "a"}), ValueError, "names must be of clusters of the model"),
    (dict(names={0: " "}), ValueError, "names must be texts that are not empty"),
    (
        dict(names={0: "a", 1: "a"}),
        ValueError,
        "names must be different. Got 'a' for clusters 0 and",
    ),
    (dict(names={0: "cluster 2"}), ValueError, "Got 'cluster 2' for clusters 0 and 2; give one of"),
    (dict(names={0: 3}), ValueError, "Got 3 for cluster 0; leave it out"),
    (dict(title=3), ValueError, "title must be a text. Got 3"),
    (dict(n_refits=-1), ValueError, "n_refits must be an integer of at least 0. Got -1"),
    (dict(random_state=-1), ValueError, "random_state must be an integer of at least 0. Got -1"),
    (dict(random_state=True), ValueError, "random_state must be an integer"),
]


@pytest.mark.parametrize(("changes", "error", "said"), WRONG)
def test_mistakes_are_named(changes, error, said):
    given = dict(model=MODEL, X=X, n_refits=0) | changes
    model, rows = given.pop("model"), given.pop("X")
    with pytest.raises(error, match=said.replace(".", r"\.")):
        summarize(model, rows, **given)


def test_split_models_without_rows_ask_for_them(tmp_path):
    base = GPOD(3, affinity=Landmarks(50)).fit(X)
    with pytest.raises(ValueError, match="X must be given for a model with split clusters"):
        summarize(recluster(base, X, cluster=0))


def test_the_room_is_lazy():
    assert eigencut.report is report and SeenRows.__module__ == "eigencut.report.summary"


def test_warnings_of_the_fit_are_kept_and_said(tmp_path):
    odd = np.vstack([X, [[90.0, 90.0], [90.5, 90.0]]])
    with pytest.warns(eigencut.GraphWarning) as raised:
        model = GPOD(3, affinity=Gaussian(1.0)).fit(odd)
    messages = tuple(str(warning.message) for warning in raised)
    assert messages and model.warnings_ == messages
    model.save(tmp_path / "m.eigencut")
    found = summarize(load(tmp_path / "m.eigencut"), odd, n_refits=0)
    assert found.warnings == messages and messages[0].split(":")[0] in str(found).replace(
        "\n    ", " "
    )
    assert "raised at the fit; see the end." in found.sentences[-1]
    model.fit(X)  # silenced here, and nothing to say
    assert model.warnings_ == () == MODEL.warnings_


def test_the_graph_of_a_table_with_words_was_not_given():
    rng = np.random.default_rng(0)
    kind = rng.integers(2, size=300)
    x, town = rng.normal(size=300) + 6 * kind, rng.choice(["a", "b"], 300)
    frame = pd.DataFrame({"x": x, "town": town})
    summary = summarize(TableModel(GPOD(2)).fit(frame), frame)
    assert summary.choice.asked_graph == "auto"
    said = " ".join(summary.sentences)
    assert "so was the graph" not in said


def test_a_cut_near_zero_is_not_compared_by_its_standard_error():
    """That of the training rows is too small there: any difference would seem more than chance."""
    X = np.random.default_rng(0).normal(size=(200, 2)) + np.repeat([[0, 0], [3, 0]], 100, axis=0)
    model = GPOD(2, affinity=Gaussian(1.0)).fit(X[::2])
    summary = summarize(model, X[::2])
    risk = eigencut.inspection.assess(model, X[1::2])
    small = replace(risk.cut_training, value=0.01, standard_error=0.005)
    for own, is_compared in ((risk.cut_training, True), (small, False)):
        with_risk = replace(summary, risk=replace(risk, cut_training=own))
        text = " ".join(_on_risk(with_risk))
        assert ("separate on new rows" in text) == is_compared and "the cut costs" not in text


def test_sentences_begin_with_what_each_cluster_is():
    said = SUMMARY.sentences[1 : 1 + len(SUMMARY.clusters)]
    for sentence, cluster in zip(said, SUMMARY.clusters, strict=True):
        assert sentence.startswith(f"{cluster.name[:1].upper()}{cluster.name[1:]}: ")
        assert all(str(condition) in sentence for condition in cluster.rule.conditions)
        assert sentence.endswith("% of such rows belong to it).")


def test_shares_are_said_as_people_say_them():
    said = [percent(share) for share in (0, 0.0004, 0.021, 0.04, 0.456, 0.996, 1)]
    assert said == ["0 %", "below 0.1 %", "2.1 %", "4 %", "46 %", "99.6 %", "100 %"]
