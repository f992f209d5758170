"""Sparse matrices in .npz files: fitted, labelled, and refused by a sentence if they are none."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from eigencut import GPOD, TableModel, load
from eigencut.cli import main
from eigencut.io.readers import is_sparse_file, read_sparse

pytestmark = pytest.mark.filterwarnings("ignore::eigencut.GraphWarning")


@pytest.fixture(scope="module")
def X():
    """Three kinds of texts: rows of some words of their own, and few others."""
    rng = np.random.default_rng(0)
    own = rng.random((3, 400)) * (rng.random((3, 400)) < 0.06)
    rows = own[np.repeat([0, 1, 2], 60)] * (rng.random((180, 400)) < 0.7)
    return sparse.csr_array(rows + 0.2 * (rng.random((180, 400)) < 0.01))


@pytest.fixture(autouse=True)
def here(tmp_path, monkeypatch, X):
    monkeypatch.chdir(tmp_path)
    sparse.save_npz("x.npz", X)


def said(capsys, command, code=1):
    assert main(command.split()) == code
    return " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "dia"])
@pytest.mark.parametrize("packed", [True, False])
def test_rows_are_those_that_were_saved(X, form, packed):
    narrow = X.astype(np.float32)
    sparse.save_npz("y.npz", sparse.csr_matrix(narrow).asformat(form), compressed=packed)
    assert is_sparse_file("y.npz")
    found = read_sparse("y.npz")
    assert found.dtype == np.float64 and (found != narrow.astype(np.float64)).nnz == 0


@pytest.mark.parametrize("options", ["--metric cosine", "--landmarks 50", "--neighbors 9"])
def test_fit_and_predict(X, options):
    assert main(f"fit x.npz -k 3 {options} --labels fitted.csv -o m.eigencut".split()) == 0
    labels = pd.read_csv("fitted.csv")["cluster"]
    assert (labels == load("m.eigencut").predict(X)).mean() > 0.99
    assert all(labels[start : start + 60].nunique() == 1 for start in (0, 60, 120))
    assert (
        main(["predict", "m.eigencut", "x.npz", "--margin", "--proba", "--support", "-o", "p.csv"])
        == 0
    )
    found, model = pd.read_csv("p.csv"), load("m.eigencut")
    assert (found["cluster"] == model.predict(X)).all()
    assert np.allclose(found["margin"], model.predict_margin(X))
    assert np.allclose(found[["p0", "p1", "p2"]], model.predict_proba(X), atol=1e-3)
    np.save("dense.npy", X.toarray())
    assert main(["predict", "m.eigencut", "dense.npy", "-o", "q.csv"]) == 0
    assert (pd.read_csv("q.csv")["cluster"] == found["cluster"]).all()


def test_the_command_line_does_what_python_does(X, capsys):
    assert (
        main(
            [
                "fit",
                "x.npz",
                "-k",
                "3",
                "--metric",
                "cosine",
                "--json",
                "--quiet",
                "-o",
                "m.eigencut",
            ]
        )
        == 0
    )
    result = json.loads(capsys.readouterr().out)
    assert result["n_columns"] == 400 and result["columns"] == []
    expected = GPOD(3, metric="cosine", random_state=0).fit(X)
    assert (load("m.eigencut").labels_ == expected.labels_).all()


@pytest.mark.parametrize(
    "command, sentence",
    [
        ("fit x.npz --columns a -o m.eigencut", "--columns is for tables, and x.npz is a sparse"),
        ("fit x.npz --scale none -o m.eigencut", "--scale is for tables, and x.npz is a sparse"),
        ("fit x.npz --missing drop -o m.eigencut", "--missing is for tables"),
        ("fit x.npz --affinity gaussian -o m.eigencut", "A complete graph is for tables"),
        ("fit x.npz --sigma 2 -o m.eigencut", "use --neighbors or --landmarks"),
        ("predict m.eigencut x.npz --id a -o l.csv", "--id is for tables"),
    ],
)
def test_options_of_tables_are_refused(capsys, command, sentence):
    assert main(["fit", "x.npz", "-k", "3", "--quiet", "-o", "m.eigencut"]) == 0
    assert sentence in said(capsys, command, code=2)


def test_rows_are_named(X, capsys):
    rows = X.tolil()
    rows[40] = 0
    sparse.save_npz("y.npz", rows.tocsr())
    assert "Got zeros in row 41;" in said(capsys, "fit y.npz -k 3 --metric cosine -o m.eigencut")
    rows[40, 7] = np.inf
    sparse.save_npz("y.npz", rows.tocsr())
    assert "infinity in row 41, column x8; correct" in said(capsys, "fit y.npz -k 3 -o m.eigencut")


def test_other_models_and_commands_have_a_remedy(X, capsys):
    TableModel(GPOD(2)).fit(X.toarray()).save("t.eigencut")
    assert "use X.toarray()" in said(capsys, "predict t.eigencut x.npz -o l.csv")
    message = said(capsys, "select x.npz")
    assert "A sparse matrix (scipy.sparse.save_npz) is for eigencut fit and predict" in message
    sparse.save_npz("y.npz", X[:, :40])
    assert main(["fit", "x.npz", "-k", "3", "--quiet", "-o", "m.eigencut"]) == 0
    assert "X has 40 features, but GPOD is expecting 400" in said(
        capsys, "predict m.eigencut y.npz -o l.csv"
    )


CSR = dict(
    format=np.array(b"csr"),
    shape=np.array([3, 3]),
    data=np.array([1.0, 2.0]),
    indices=np.array([0, 1]),
    indptr=np.array([0, 1, 2, 2]),
)
OTHERS = {
    "columns beyond the shape": (dict(indices=np.array([0, 9])), "damaged file; save it anew"),
    "negative columns": (dict(indices=np.array([0, -1])), "damaged file; save it anew"),
    "rows that end before they begin": (dict(indptr=np.array([0, 2, 1, 2])), "damaged file"),
    "fewer rows": (dict(indptr=np.array([0, 2])), "damaged file"),
    "objects": (dict(data=np.array([1, None])), "damaged file; save it anew"),
    "words": (dict(data=np.array(["a", "b"])), "<U1 in its entries; use numbers"),
    "complex numbers": (dict(data=np.array([1j, 2])), "complex128 in its entries; use numbers"),
    "a table as data": (dict(data=np.eye(2)), "damaged file"),
    "another format": (dict(format=np.array(b"xyz")), "damaged file"),
    "a huge shape": (dict(shape=np.array([3, 2**40])), "the shape (3, 1099511627776)"),
    "no rows": (dict(shape=np.array([0, 3]), indptr=np.array([0])), "the shape (0, 3)"),
    "three dimensions": (dict(shape=np.array([3, 3, 3])), "damaged file"),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_sparse_matrix_is_refused(name, capsys):
    changed, sentence = OTHERS[name]
    np.savez("y.npz", **CSR | changed)
    message = said(capsys, "fit y.npz -k 2 -o m.eigencut")
    assert "must hold a sparse matrix of numbers, as scipy.sparse.save_npz writes" in message
    assert sentence in message


def test_a_header_cannot_ask_for_memory(capsys):
    np.savez("y.npz", **CSR)
    with zipfile.ZipFile("y.npz") as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    members["data.npy"] = members["data.npy"].replace(b"(2,), ", b"(2222222222222,), ")
    with zipfile.ZipFile("y.npz", "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    assert "Got" in said(capsys, "fit y.npz -k 2 -o m.eigencut")


def test_a_file_that_was_changed_anywhere_gives_a_sentence(capsys):
    content, other = Path("x.npz").read_bytes(), Path("y.npz")
    rng = np.random.default_rng(0)
    for at in rng.choice(len(content), 60, replace=False):
        changed = bytearray(content)
        changed[at] ^= 1 << rng.integers(8)
        other.write_bytes(changed)
        try:
            found = read_sparse("y.npz") if is_sparse_file("y.npz") else None
        except ValueError as error:
            assert "must hold a sparse matrix" in str(error)
        else:
            assert found is None or np.isfinite(found.data).all()
    other.write_bytes(content[: len(content) // 2])
    assert "archive of arrays" in said(capsys, "fit y.npz -k 2 -o m.eigencut")


@pytest.mark.parametrize("seed", range(3))
def test_a_header_that_is_no_python_gives_a_sentence(seed, capsys):
    np.save("a.npy", np.eye(3))
    content, rng = bytearray(Path("a.npy").read_bytes()), np.random.default_rng(seed)
    for closing in (b"}", b")"):
        content[content.index(closing)] = rng.integers(97, 122)
    Path("a.npy").write_bytes(content)
    assert "a.npy must be an array of numbers. It is damaged" in said(
        capsys, "fit a.npy -k 2 -o m.eigencut"
    )
