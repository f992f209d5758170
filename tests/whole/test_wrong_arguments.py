"""Arguments of the wrong kind get a sentence that names them, and not an error of Python."""

import re

import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD, Neighbors, TableModel, compare, consensus, inspection, report

X = make_blobs(120, centers=3, n_features=3, random_state=0)[0]
MODEL = GPOD(3).fit(X)

CALLS = {
    "assess a number": (
        lambda folder: inspection.assess(3),
        "model must be a GPOD, a TableModel or what recluster returns. Got int; pass a fitted one",
    ),
    "stability of a class": (lambda folder: inspection.stability(GPOD), "model must be a GPOD"),
    "label sets of a number": (lambda folder: inspection.label_sets(3, X), "model must be a GPOD"),
    "significance": (
        lambda folder: inspection.assess(MODEL, X, significance=3),
        "significance must be what eigencut.inspection.significance returns. Got 3; compute",
    ),
    "stability": (
        lambda folder: inspection.assess(MODEL, X, stability="x"),
        "stability must be what eigencut.inspection.stability returns. Got 'x'; compute",
    ),
    "stability array": (
        lambda folder: inspection.assess(MODEL, X, stability=X),
        "stability must be what eigencut.inspection.stability returns. Got ndarray; compute",
    ),
    "calibration": (
        lambda folder: MODEL.predict_set(X, calibration=None),
        "calibration must be label sets, or have at least 20 rows. Got 0; hold out more rows.",
    ),
    "calibration of a table": (
        lambda folder: TableModel(GPOD(3)).fit(X).predict_set(X, calibration=None),
        "calibration must be label sets, or have at least 20 rows. Got 0; hold out more rows.",
    ),
    "no held-out rows": (
        lambda folder: inspection.label_sets(MODEL, None),
        "X_heldout must have at least n_batches=20 rows. Got 0; hold out more rows",
    ),
    "report": (
        lambda folder: report.write(MODEL, X, folder / "a.html", foo=1),
        "how must be arguments of summarize. Got foo; use X_new, documents, names, title, data,",
    ),
    "kernel": (
        lambda folder: GPOD(3, affinity=lambda a: a).fit(X),
        "function must be callable as k(A, B). Got <function",
    ),
    "few rows of calibration": (
        lambda folder: MODEL.predict_set(X, calibration=X[:3]),
        "calibration must be label sets, or have at least 20 rows. Got 3; hold out more rows.",
    ),
    "levels": (
        lambda folder: MODEL.predict_levels(X, [7]),
        "counts must be numbers of groups, each below the one before it, 3 at most. Got [7]; leave",
    ),
    "levels of words": (lambda folder: MODEL.predict_levels(X, ["a"]), "Got ['a']; leave it out"),
    "few rows of significance": (
        lambda folder: inspection.significance(MODEL, X, max_rows=1),
        "max_rows must be an integer of at least 3. Got 1; use the default of 2000.",
    ),
    "drift of rows of their own": (
        lambda folder: GPOD(12, affinity="gaussian").fit(X[:12]).drift(X),
        "model must keep at least 12 different rows, one per cluster, when some are held out. Got",
    ),
    "nothing to compare": (
        lambda folder: compare(X, {}),
        "methods must be a dict with a name for each. Got an empty one; use e.g. {'a': GPOD(3)}.",
    ),
    "few rows to compare": (
        lambda folder: compare(X[:1], {"a": [0]}),
        "X must be 20 rows or more, all finite. Got shape (1, 3); pass others.",
    ),
    "class of an affinity": (
        lambda folder: GPOD(3, affinity=Neighbors).fit(X),
        "Neighbors'>; write affinity=Neighbors().",
    ),
    "seed of a consensus": (
        lambda folder: consensus([MODEL.labels_, MODEL.labels_], 3, random_state="a"),
        "random_state must be a non-negative integer, a numpy RandomState or None. Got 'a'; use",
    ),
    "save to a folder": (lambda folder: MODEL.save(folder), "path must name a file. Got '"),
    "save to a slash": (lambda folder: MODEL.save(f"{folder}/no/"), "no/', a folder; add a name"),
    "save to None": (lambda folder: MODEL.save(None), "path must name a file. Got None; use e.g."),
}


@pytest.mark.parametrize(("call", "message"), CALLS.values(), ids=CALLS)
def test_a_wrong_argument_gets_a_sentence(tmp_path, call, message):
    with pytest.raises((OSError, TypeError, ValueError), match=re.escape(message)):
        call(tmp_path)


def test_a_function_in_c_may_have_no_signature():
    class NoSignature:
        @property
        def __signature__(self):
            raise ValueError("no signature found")

        def __call__(self, A, B):
            return 1.0 + (A @ B.T) ** 2

    assert len(GPOD(2, affinity=NoSignature()).fit(X).labels_) == len(X)


@pytest.mark.filterwarnings("error:X:UserWarning")
def test_the_library_keeps_to_the_names_of_columns(tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = GPOD(3).fit(frame)
    inspection.assess(model, frame)
    model.predict_set(frame, calibration=inspection.label_sets(model, frame))
    for rows in (frame, None):
        summary = report.write(model, rows, tmp_path / "a.html", X_new=frame, n_refits=1)
        assert {one.column for one in summary.clusters[0].contrasts} <= {"a", "b", "c"}
        assert not any("not measured" in note for note in summary.notes)
