"""Arguments of the wrong kind get a sentence that names them, and not an error of Python."""

import re

import pandas as pd
import pytest
from sklearn.datasets import make_blobs

from eigencut import GPOD, TableModel, inspection, report

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
    "save to a folder": (lambda folder: MODEL.save(folder), "path must name a file. Got '"),
    "save to a slash": (lambda folder: MODEL.save(f"{folder}/no/"), "no/', a folder; add the name"),
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
