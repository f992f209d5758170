"""Numbers of clusters of one model as another has them, whatever kind of model it is."""

from copy import copy

import numpy as np
import pandas as pd
import pytest

from eigencut import GPOD, Landmarks, Neighbors, TableModel, align_labels, load, recluster
from eigencut.extension.labelling import ClusterNumbers
from eigencut.io.table import Table
from eigencut.tables.preparation import learn_preparation, restored_table

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.exceptions.GraphWarning")

CENTRES = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 9.0]])
SHARES = np.array([0.5, 0.3, 0.2])


def frame(n, seed, shares=SHARES, words=False):
    rng = np.random.default_rng(seed)
    kind = rng.choice(3, n, p=shares)
    X = CENTRES[kind] + rng.normal(size=(n, 2))
    table = pd.DataFrame({"income": 100 * X[:, 0] + 5000, "age": X[:, 1] + 40})
    if words:
        table["town"] = np.array(["Oslo", "Rome", "Bern"])[kind]
        table["size"] = np.array(["small", "large", "medium"])[kind]
        table["member"] = kind == 1
    return table


def other_numbers(model):
    """The same model with its clusters in another order."""
    other = copy(model)
    other.model_ = copy(model.model_)
    other.model_._renumber(np.array([2, 0, 1]), ClusterNumbers.of_fit(3))
    other.labels_ = other.predict(frame(300, 1))
    return other


@pytest.mark.parametrize("affinity", [Landmarks(25), Neighbors(8)], ids=["landmarks", "rows"])
@pytest.mark.parametrize("scales", [("standard", "standard"), ("minmax", "standard")])
def test_tables_are_compared_by_the_names_of_their_columns(affinity, scales):
    one, two = frame(300, 0), frame(300, 1, shares=SHARES[::-1])[["age", "income"]]
    reference = TableModel(GPOD(3, affinity=affinity), scale=scales[0]).fit(one)
    model = TableModel(GPOD(3, affinity=affinity), scale=scales[1]).fit(two)
    assert model.columns_ == ["age", "income"]
    found = align_labels(model, reference)
    assert (found.predict(two) == reference.predict(two)).mean() > 0.98
    assert (model.predict(two) == reference.predict(two)).mean() < 0.6  # it was not so before
    assert (found.labels_ == found.predict(two)).all() and isinstance(found, TableModel)
    assert (model.labels_ == model.predict(two)).all()  # it stays as it is
    given = align_labels(model, reference, two)
    assert (given.predict(two) == found.predict(two)).all()


def test_any_renumbering_of_tables_is_undone(tmp_path):
    model = TableModel(GPOD(3, affinity=Neighbors(8))).fit(frame(300, 1))
    other = other_numbers(model)
    assert (other.labels_ != model.labels_).any()
    again = align_labels(other, model)
    assert (again.labels_ == model.labels_).all()
    again.save(tmp_path / "model")
    assert (load(tmp_path / "model").predict(frame(90, 2)) == model.predict(frame(90, 2))).all()


def test_words_and_orders_are_compared_too():
    kinds = {"size": ["small", "medium", "large"]}
    one, two = (frame(400, s, words=True, shares=p) for s, p in ((0, SHARES), (1, SHARES[::-1])))
    for affinity in (Neighbors(8), Landmarks(30)):
        reference = TableModel(GPOD(3, affinity=affinity), columns=kinds).fit(one)
        model = TableModel(GPOD(3, affinity=affinity), columns=kinds).fit(two[two.columns[::-1]])
        found = align_labels(model, reference)
        assert (found.predict(two) == reference.predict(two)).mean() > 0.98
    plain = TableModel(GPOD(3, affinity=Neighbors(8))).fit(two)
    with pytest.raises(ValueError, match=r"Got 'size', which is categorical in the model and ord"):
        align_labels(plain, reference)
    assert (align_labels(plain, reference, two).labels_ == reference.predict(two)).mean() > 0.98


def test_a_restored_table_is_prepared_to_the_same_rows():
    table = Table.from_data(frame(200, 0, words=True))
    preparation = learn_preparation(table, "minmax", "refuse")
    rows, _ = preparation.apply(table)
    again, _ = preparation.apply(restored_table(preparation, rows))
    np.testing.assert_allclose(again, rows, atol=1e-12)


def test_incomplete_rows_are_left_out():
    X = frame(300, 0)
    X.loc[::7, "age"] = np.nan
    reference = TableModel(GPOD(3, affinity=Neighbors(8)), missing="drop").fit(X)
    model = TableModel(GPOD(3, affinity=Neighbors(8)), missing="median").fit(X[::-1])
    found = align_labels(model, reference, X)
    complete = X["age"].notna().to_numpy()
    agree = found.predict(X)[complete] == reference.predict(X)[complete]
    assert agree.mean() > 0.98
    dropping = align_labels(reference, model)
    assert (dropping.labels_[~complete] == -1).all()
    assert (dropping.labels_[complete] == model.predict(X)[complete]).mean() > 0.98


def test_names_of_classes_are_the_reference_s():
    X = frame(300, 0)
    kind = np.where(X["age"] > 44, 0, np.where(X["income"] > 5400, 1, 2))
    known = np.where(np.arange(300) < 40, np.array(["a", "b", "c"])[kind], None)
    reference = TableModel(GPOD(3, affinity=Neighbors(8))).fit(X, known_labels=known)
    model = TableModel(GPOD(3, affinity=Neighbors(8))).fit(X)
    found = align_labels(model, reference)
    assert found.class_names_ == reference.class_names_ == ["a", "b", "c"]
    assert (found.labels_ == reference.labels_).mean() > 0.98
    with pytest.raises(ValueError, match="Got a, b, c, and the reference has none"):
        align_labels(reference, model)


def test_other_columns_are_refused_by_name():
    X = frame(60, 0)
    swapped, more = X[["age", "income"]], X.assign(rent=X["age"] * 2)
    options = {"affinity": Neighbors(5)}

    def gpod(table):
        return GPOD(2, **options).fit(table)

    def of_table(table):
        return TableModel(GPOD(2, **options)).fit(table)

    for model, reference, said in (
        (gpod(X), gpod(swapped), "'income', 'age' and a GPOD of 'age', 'income'; fit both"),
        (
            gpod(X.to_numpy()),
            gpod(more.to_numpy()),
            "a GPOD of 'x1', 'x2' and a GPOD of 'x1', 'x2', 'x3'",
        ),
        (of_table(X), of_table(more), "'income', 'age' and a TableModel of 'income', 'age', 'rent"),
        (gpod(X), of_table(X), "must be of one kind. Got a GPOD of 'income', 'age' and a TableM"),
        (
            recluster(gpod(X), X, cluster=0),
            gpod(X),
            "a GPOD or a TableModel. Got Rec",
        ),
    ):
        with pytest.raises((TypeError, ValueError), match=said):
            align_labels(model, reference)
    align_labels(gpod(X), gpod(X.to_numpy()))  # columns without names are known by place
