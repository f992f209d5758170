"""What users do wrong, and the exact sentence that each mistake gets. Never a traceback."""

import gzip
import lzma
from contextlib import chdir
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.sparse import csr_array, save_npz

from eigencut import GPOD
from eigencut.cli import main

COLUMNS = "abc"
FIT = "-k 2 -o new.eigencut"


def table(n=40, columns=COLUMNS, delimiter=","):
    """Two groups of rows, as lines of text."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(n, len(columns))) + 6 * (np.arange(n) % 2)[:, np.newaxis]
    lines = [delimiter.join(columns)]
    return lines + [delimiter.join(f"{value:.3f}" for value in row) for row in rows]


def changed(line, text):
    """The table with one of its lines replaced; line 1 is the header."""
    lines = table()
    lines[line - 1] = text
    return lines


def parquet(path, **columns):
    pq.write_table(pa.table(columns), path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("mistakes")
    texts = {
        "good.csv": table(),
        "header_only.csv": table()[:1],
        "one_row.csv": table()[:2],
        "ragged.csv": changed(7, "1.0,2.0"),
        "long_row.csv": changed(9, "1,2,3,4,5"),
        "text.csv": changed(5, "1.0,tall,3.0"),
        "towns.csv": ["town,a,day", "Rome,1,2020-01-01", "Oslo,2,2020-01-02"],
        "names.csv": [
            f"{'name' if i == 0 else f'row {i - 1}'},{line}" for i, line in enumerate(table())
        ],
        "comma.csv": ["a;b", "1,5;2,5", "2,5;3"],
        "nan.csv": changed(5, "1.0,NA,3.0"),
        "question.csv": changed(3, "1.0,2.0,?"),
        "inf.csv": changed(4, "1.0,inf,3.0"),
        "huge.csv": changed(4, "1.0,1e400,3.0"),
        "large.csv": changed(4, "1.0,1e300,3.0"),
        "empty_column.csv": ["a,b"] + [f"{i}," for i in range(9)],
        "all_missing.csv": ["a,b"] + [f"{i},?" for i in range(4)] + [f"?,{i}" for i in range(4)],
        "twice.csv": ["a,b,a", "1,2,3", "4,5,6"],
        "same.csv": ["a,b"] + ["1,2"] * 10,
        "other.csv": table(columns="xyz"),
        "fewer.csv": table(columns="ab"),
        "no_header.csv": table()[1:],
        "quote.csv": ["a,b", '1,"2', "3,4"],
        "return.csv": ["a,b", "1,2", "3\r,4"],
        "thousands.csv": ["a;b", "1,000;1,000,000", "2,500;5"],
        "points.csv": ["a;b", "1.000,5;2.5", "3;4"],
        "a.json": ['[{"a": 1, "b": 2},', ' {"a": 3, "b": 4}]'],
        "page.csv": ["<!DOCTYPE html>", "<html><body>1,2</body></html>"],
        "empty.csv": [],
        "blank.csv": ["", "  ", ""],
    }
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines))
    good = (folder / "good.csv").read_bytes()
    (folder / "latin.csv").write_bytes("a,größe\n1,2\n".encode("latin-1"))
    (folder / "mixed.csv").write_bytes(good + "Zürich,1,2\n".encode("latin-1"))
    (folder / "utf16.csv").write_bytes("a,b\n1,2\n".encode("utf-16"))
    (folder / "binary.csv").write_bytes(b"a,b\n1,\0\0\0\n")
    with (folder / "one_line.csv").open("wb") as file:
        file.writelines([b"1," * (1 << 19)] * 65)
    (folder / "a.json.gz").write_bytes(gzip.compress(b' [\n  {"a": 1, "b": 2}]'))
    (folder / "a.csv.xz").write_bytes(lzma.compress(good))
    (folder / "sheet.csv").write_bytes(b"PK\x03\x04 rest of a spreadsheet")
    (folder / "cut.csv.gz").write_bytes(gzip.compress(good)[:-40])
    (folder / "cut.parquet").write_bytes(b"PAR1 and no more")
    (folder / "cut.npy").write_bytes(b"\x93NUMPY\x01\x00 and no more")
    parquet(folder / "lists.parquet", a=[1.0, 2.0], b=[["u"], ["v"]])
    save_npz(folder / "sparse.npz", csr_array(np.eye(3)))
    parquet(folder / "text.parquet", a=[1.0, 2.0], town=["Rome", "Oslo"])
    np.save(folder / "objects.npy", np.array([[1, None]]), allow_pickle=True)
    np.save(folder / "line.npy", np.arange(5.0))
    np.save(folder / "words.npy", np.array([["a", "b"]]))
    (folder / "folder").mkdir()
    with chdir(folder):
        assert main(["fit", "good.csv", "-k", "2", "-o", "model.eigencut"]) == 0
    rows = np.random.default_rng(0).normal(size=(12, 2))
    model = folder / "model.eigencut"
    (folder / "model").hardlink_to(model)
    (folder / "cut.eigencut").write_bytes(model.read_bytes()[:-7])
    flipped = bytearray(model.read_bytes())
    flipped[-1] ^= 1
    (folder / "flipped.eigencut").write_bytes(flipped)
    newer = bytearray(model.read_bytes())
    newer[8] = 3
    (folder / "newer.eigencut").write_bytes(newer)
    weights = np.exp(-((rows[:, np.newaxis] - rows) ** 2).sum(2) / 2)
    GPOD(2, affinity="precomputed").fit(weights).save(folder / "weights.eigencut")
    paper = GPOD(2, cut="ratiocut", extension="paper", affinity="gaussian").fit(rows)
    paper.save(folder / "paper.eigencut")
    return folder


P = "predict model.eigencut"
DATA = {  # exit code 1
    "no such file": (f"fit nothing.csv {FIT}", "nothing.csv: no such file or directory."),
    "a folder": (f"fit folder {FIT}", "folder: is a directory."),
    "empty file": (f"fit empty.csv {FIT}", "empty.csv is empty."),
    "blank lines": (f"fit blank.csv {FIT}", "blank.csv has no rows."),
    "header only": (f"fit header_only.csv {FIT}", "header_only.csv has no rows."),
    "one row": (
        f"fit one_row.csv {FIT}",
        "n_clusters must be at most the number of different rows, 1. Got 2; lower it or add data.",
    ),
    "K too large": (
        "fit good.csv -k 50 -o new.eigencut",
        "n_clusters must be at most the number of different rows, 40. Got 50; lower it or add "
        "data.",
    ),
    "identical rows": (
        f"fit same.csv {FIT}",
        "n_clusters must be at most the number of different rows, 1. Got 2; lower it or add data.",
    ),
    "memory limit too small": (
        f"fit good.csv --memory-limit 5MB {FIT}",
        "memory_limit must be at least 13 MB to fit Neighbors(n_neighbors=40) "
        "on 40 rows. Got '5MB'; raise it, or fit on fewer rows. "
        "On the command line: fit --landmarks 1000 reads in blocks.",
    ),
    "a ragged line": (
        f"fit ragged.csv {FIT}",
        "ragged.csv: line 7 has 2 cells, but line 1 has 3. Correct it, or name the delimiter.",
    ),
    "a line too long": (
        f"fit long_row.csv {FIT}",
        "long_row.csv: line 9 has 5 cells, but line 1 has 3. Correct it, or name the delimiter.",
    ),
    "an open quote": (
        f"fit quote.csv {FIT}",
        "quote.csv: a quoted cell begins in line 2 and does not end. Add or remove a quote.",
    ),
    "a carriage return in a cell": (
        f"fit return.csv {FIT}",
        "return.csv: line 3 has 1 cells, but line 1 has 2. Correct it, or name the delimiter.",
    ),
    "text in a column": (
        f"fit text.csv {FIT}",
        "text.csv: Column 'b' must hold numbers. Got 'tall' in line 5; correct it, drop the "
        "column, or say that it is categorical.",
    ),
    "more clusters than rows of words": (
        "fit towns.csv -k 3 -o new.eigencut",
        "n_clusters must be at most the number of different rows, 2. Got 3; lower it or add data.",
    ),
    "decimal commas": (
        f"fit comma.csv --delimiter ; {FIT}",
        "comma.csv: Column 'a' must hold numbers. Got '1,5' in line 2: a decimal comma, read "
        "with decimal ','; correct it, drop the column, or say that it is categorical.",
    ),
    "thousands": (
        f"fit thousands.csv {FIT}",
        "thousands.csv: Column 'a' must hold numbers. Got '1,000' in line 2: a thousands "
        "separator, or decimal ','; correct it, drop the column, or say that it is categorical.",
    ),
    "thousands with points": (
        f"fit points.csv --decimal , {FIT}",
        "points.csv: Column 'a' must hold numbers. Got '1.000,5' in line 2: a thousands "
        "separator, write numbers without; correct it, drop the column, or say that it is "
        "categorical.",
    ),
    "JSON": (
        f"fit a.json {FIT}",
        "a.json is not a table: it is JSON; save the table as CSV, or one object to a line.",
    ),
    "packed JSON": (
        f"fit a.json.gz {FIT}",
        "a.json.gz is not a table: it is JSON; save the table as CSV, or one object to a line.",
    ),
    "packed with xz": (
        f"fit a.csv.xz {FIT}",
        "a.csv.xz is not a table: it is packed; unpack it, or use gzip.",
    ),
    "a web page": (
        f"fit page.csv {FIT}",
        "page.csv is not a table: it is XML or a web page; save the table as CSV.",
    ),
    "endless line": (
        f"fit one_line.csv {FIT}",
        "one_line.csv is not a table: line 1 is longer than 64 MiB.",
    ),
    "delimiter and decimal": (
        f"fit good.csv --delimiter , --decimal , {FIT}",
        "delimiter must not be the decimal mark. Got ',' for both; leave the delimiter out to have "
        "it found out.",
    ),
    "lists of words in Parquet": (
        f"fit lists.parquet {FIT}",
        "lists.parquet: cells must hold a number, a word, a date, or a list of numbers. Got "
        "'b' (list<element: string>). Fit without these columns (drop 'b'), or write one value to "
        "a cell.",
    ),
    "sparse matrix": (
        "select sparse.npz",
        "sparse.npz is not a table: it is an archive of arrays (.npz). Save one array of numbers "
        "with numpy.save. A sparse matrix (scipy.sparse.save_npz) is for Python: "
        "GPOD(...).fit(scipy.sparse.load_npz('sparse.npz')).",
    ),
    "no dates in Parquet": (
        f"fit text.parquet --date town {FIT}",
        "text.parquet: Column 'town' must hold dates. Got 'Rome' in row 0; correct it, drop the "
        "column, or say that it is categorical.",
    ),
    "many words": (
        f"fit names.csv {FIT}",
        "Column 'name' must hold numbers, or at most 13 different words in 40 rows. Got 40 "
        "('row 0'); drop it, or say that it is categorical.",
    ),
    "columns that were not split": (
        f"fit good.csv --delimiter ; {FIT}",
        "Column 'a,b,c' must hold numbers, or at most 13 different words in 40 rows. Got 40 "
        "('0.126,-0.132,0.640'); read the table with delimiter ',', drop it, or say that "
        "it is categorical.",
    ),
    "no date": (
        f"fit towns.csv --date town {FIT}",
        "towns.csv: Column 'town' must hold dates. Got 'Rome' in line 2; correct it, drop the "
        "column, or say that it is categorical.",
    ),
    "a word outside of the order": (
        f"fit towns.csv --ordered town=Rome<Bonn {FIT}",
        "Column 'town' must hold Rome < Bonn. Got 'Oslo' in line 3; correct it, or give an order "
        "with it.",
    ),
    "a kind for an unknown column": (
        f"fit towns.csv --categorical city {FIT}",
        "towns.csv has no column 'city', which --categorical names. It has 'town', 'a', 'day'.",
    ),
    "an order for an unknown column": (
        f"fit towns.csv --ordered city=a<b {FIT}",
        "towns.csv has no column 'city', which --ordered names. It has 'town', 'a', 'day'.",
    ),
    "a date of an unknown column": (
        f"fit towns.csv --date month {FIT}",
        "towns.csv has no column 'month', which --date names. It has 'town', 'a', 'day'.",
    ),
    "a kind for a column that is left out": (
        f"fit towns.csv --drop town --categorical town {FIT}",
        "--categorical names 'town', which --columns or --drop leaves out.",
    ),
    "two kinds for a column": (
        f"fit towns.csv --categorical day --date day {FIT}",
        "Two options say what 'day' holds; name it once.",
    ),
    "words in a column that has to hold numbers": (
        f"fit towns.csv --numeric town {FIT}",
        "towns.csv: Column 'town' must hold numbers. Got 'Rome' in line 2; correct it, drop "
        "the column, or say that it is categorical.",
    ),
    "missing value": (
        f"fit nan.csv {FIT}",
        "The table must have no missing values (NaN). Got some in 'b', first in line 5; fit with "
        "missing 'drop', 'mean' or 'median' (on the command line: --missing median).",
    ),
    "question mark": (
        f"fit question.csv {FIT}",
        "The table must have no missing values (NaN). Got some in 'c', first in line 3; fit with "
        "missing 'drop', 'mean' or 'median' (on the command line: --missing median).",
    ),
    "a column without values": (
        f"fit empty_column.csv --missing median {FIT}",
        "Columns must have some values to fill missing ones by their median. Got none in 'b'; "
        "drop them.",
    ),
    "no complete row": (
        f"fit all_missing.csv --missing drop {FIT}",
        "The table must have rows without missing values. Got none; fit with missing 'mean' "
        "or 'median'.",
    ),
    "infinity": (
        f"fit inf.csv {FIT}",
        "The table must hold finite numbers. Got infinity in 'b', line 4; correct or drop it.",
    ),
    "beyond float64": (
        f"fit huge.csv {FIT}",
        "The table must hold finite numbers. Got infinity in 'b', line 4; correct or drop it.",
    ),
    "squares beyond float64": (
        f"fit large.csv {FIT}",
        "Columns must hold numbers whose squares are finite for scale='auto'. Got larger ones "
        "in 'b'; divide them, or use scale 'none'.",
    ),
    "same name twice": (
        f"fit twice.csv {FIT}",
        "twice.csv: Columns must have different names. Got 'a' more than once; rename them.",
    ),
    "unknown column": (
        f"fit good.csv --columns a,z {FIT}",
        "good.csv has no column 'z', which --columns names. It has 'a', 'b', 'c'.",
    ),
    "unknown dropped column": (
        f"fit good.csv --drop z {FIT}",
        "good.csv has no column 'z', which --drop names. It has 'a', 'b', 'c'.",
    ),
    "unknown id": (
        f"fit good.csv --id name {FIT}",
        "good.csv has no column 'name', which --id names. It has 'a', 'b', 'c'.",
    ),
    "two ids": (
        f"fit good.csv --id a,b {FIT}",
        "good.csv has no column 'a,b', which --id names. It has 'a', 'b', 'c'.",
    ),
    "a column twice": (
        f"fit good.csv --columns a,a {FIT}",
        "Columns must have different names. Got 'a' more than once; rename them.",
    ),
    "candidates beyond the rows": (
        "select good.csv -k 100-900",
        "n_clusters must hold a candidate of at least 2 and below the number of different rows, "
        "40. Got '100-900'; add data, or give smaller candidates.",
    ),
    "a folder to be": ("fit good.csv -k 2 -o new/", "new/: is a directory."),
    "a tour in a file": (
        "demo --out good.csv",
        "good.csv: file exists.",
    ),
    "nothing left": (
        f"fit good.csv --drop a,b,c {FIT}",
        "good.csv: no columns are left; choose some with --columns.",
    ),
    "Latin 1": (
        f"fit latin.csv {FIT}",
        "latin.csv: line 1 is not utf-8 (byte 0xf6); name its encoding, e.g. latin-1.",
    ),
    "mixed encodings": (
        f"fit mixed.csv {FIT}",
        "mixed.csv: line 42 is not utf-8 (byte 0xfc); name its encoding, e.g. latin-1.",
    ),
    "UTF-16": (
        f"fit utf16.csv {FIT}",
        "utf16.csv is not a table: it is UTF-16; save it as UTF-8.",
    ),
    "bytes": (f"fit binary.csv {FIT}", "binary.csv is not a table: line 2 is not text."),
    "spreadsheet": (
        f"fit sheet.csv {FIT}",
        "sheet.csv is not a table: it is a spreadsheet or an archive; save it as CSV.",
    ),
    "model as table": (
        f"fit model.eigencut {FIT}",
        "model.eigencut is not a table: it is a model; a table is expected.",
    ),
    "damaged gzip": (
        f"fit cut.csv.gz {FIT}",
        "cut.csv.gz is damaged: Truncated compressed stream.",
    ),
    "damaged Parquet": (
        f"fit cut.parquet {FIT}",
        "cut.parquet is a damaged Parquet file; write it again.",
    ),
    "damaged NPY": (
        f"fit cut.npy {FIT}",
        "cut.npy must be an array of numbers. It is damaged, or holds Python objects; save it "
        "again with numpy.save.",
    ),
    "objects in NPY": (
        f"fit objects.npy {FIT}",
        "objects.npy must be an array of numbers. It is damaged, or holds Python objects; save it "
        "again with numpy.save.",
    ),
    "one dimension": (
        f"fit line.npy {FIT}",
        "line.npy must be a two-dimensional array of numbers. Got shape (5,) of float64; save it "
        "as such.",
    ),
    "words in NPY": (
        f"fit words.npy {FIT}",
        "words.npy must be a two-dimensional array of numbers. Got shape (1, 2) of <U1; save it "
        "as such.",
    ),
    "no folder for the output": (
        "fit good.csv -k 2 -o no/new.eigencut",
        "no/new.eigencut: no such file or directory.",
    ),
    "output in a file": (
        "fit good.csv -k 2 -o good.csv/new.eigencut",
        "good.csv/new.eigencut: not a directory.",
    ),
    "output a folder": ("fit good.csv -k 2 -o folder", "folder: is a directory."),
    "no such model": (
        "predict nothing.eigencut good.csv",
        "nothing.eigencut: no such file or directory.",
    ),
    "table as model": (
        "predict good.csv model.eigencut",
        "good.csv cannot be loaded: it is not a model saved by eigencut.",
    ),
    "model cut off": (
        "predict cut.eigencut good.csv",
        "cut.eigencut cannot be loaded: it is cut off: the array state.labels ends at byte {size}, "
        "the file at {cut}.",
    ),
    "model damaged": (
        "predict flipped.eigencut good.csv",
        "flipped.eigencut cannot be loaded: the array state.labels is damaged (its SHA-256 "
        "differs).",
    ),
    "newer model": (
        "info newer.eigencut",
        "newer.eigencut cannot be loaded: it has format 3, and this eigencut reads format 2. "
        "Upgrade eigencut, or save the model with the version that you have here.",
    ),
    "model of affinities": (
        "predict weights.eigencut good.csv",
        "weights.eigencut is a model of precomputed affinities, which tables do not have. Load it "
        "in Python with eigencut.load.",
    ),
    "other columns": (
        f"{P} other.csv",
        "other.csv must have the columns that the model was fitted on. It lacks 'a', 'b', 'c', "
        "and has 'x', 'y', 'z'.",
    ),
    "fewer columns": (
        f"{P} fewer.csv",
        "fewer.csv must have the columns that the model was fitted on. It lacks 'c', and has 'a', "
        "'b'.",
    ),
    "no header": (
        f"{P} no_header.csv",
        "no_header.csv must have the columns that the model was fitted on. It lacks 'a', 'b', "
        "'c', and has 'x1', 'x2', 'x3'.",
    ),
    "text to predict": (
        f"{P} text.csv -o labels.csv",
        "text.csv: Column 'b' must hold numbers. Got 'tall' in line 5; correct it, drop the "
        "column, or say that it is categorical.",
    ),
    "missing value to predict": (
        f"{P} nan.csv -o labels.csv",
        "The table must have no missing values (NaN). Got some in 'b', first in line 5; fit with "
        "missing 'drop', 'mean' or 'median' (on the command line: --missing median).",
    ),
    "nothing to predict": (f"{P} header_only.csv", "header_only.csv has no rows."),
    "unknown id to predict": (
        f"{P} good.csv --id z",
        "good.csv has no column 'z', which --id names. It has 'a', 'b', 'c'.",
    ),
    "too few rows to select": (
        "select one_row.csv",
        "X must have at least 3 different rows for the number of clusters to be chosen. Got 1; add "
        "data, or give n_clusters as a number.",
    ),
    "not for ONNX": (
        "export paper.eigencut -o model.onnx",
        "extension must be 'consistent' for a model to be exported. Got 'paper'; fit with "
        "extension='consistent'.",
    ),
}
SIGMA = "sigma must be a positive number or one of 'auto', 'median', 'neighbors', 'local'."
K = "Invalid value for '-k' / '--clusters': must be"
USAGE = {
    "an order of one word": (
        f"fit good.csv --ordered a=small {FIT}",
        "Invalid value for '--ordered': must be a column and its words, like size=small<large. "
        "Got 'a=small'.",
    ),  # exit code 2
    "a mistyped command": ("fti good.csv", "No such command 'fti'. Did you mean 'fit'?"),
    "K zero": (
        "fit good.csv -k 0 -o new.eigencut",
        "n_clusters must be an integer of at least 1. Got 0; use a number, 'auto', or candidates "
        "such as range(2, 11) or '2-10'.",
    ),
    "K a word": (
        "fit good.csv -k three -o new.eigencut",
        "n_clusters must be an integer of at least 1. Got 'three'; use a number, 'auto', or "
        "candidates such as range(2, 11) or '2-10'.",
    ),
    "K negative": (
        "fit good.csv -k -3 -o new.eigencut",
        "n_clusters must be an integer of at least 1. Got -3; use a number, 'auto', or candidates "
        "such as range(2, 11) or '2-10'.",
    ),
    "K candidates": (
        "select good.csv -k two-ten",
        f"{K} numbers of at least 2, like 2-10 or 2,4,8. Got 'two-ten'.",
    ),
    "K candidates downwards": (
        "select good.csv -k 5-2",
        f"{K} numbers of at least 2, like 2-10 or 2,4,8. Got '5-2'.",
    ),
    "one cluster as a candidate": (
        "select good.csv -k 1,2",
        f"{K} numbers of at least 2, like 2-10 or 2,4,8. Got '1,2'.",
    ),
    "endless candidates": (
        "select good.csv -k 2-1000000000000",
        f"{K} at most 1000 numbers. Got '2-1000000000000'.",
    ),
    "sigma negative": (
        f"fit good.csv --sigma -1 {FIT}",
        f"{SIGMA} Got -1.0; use sigma='auto' if unsure.",
    ),
    "sigma a word": (
        f"fit good.csv --sigma wide {FIT}",
        f"{SIGMA} Got 'wide'; use sigma='auto' if unsure.",
    ),
    "sigma not a number": (
        f"fit good.csv --sigma nan {FIT}",
        f"{SIGMA} Got nan; use sigma='auto' if unsure.",
    ),
    "memory limit not a size": (
        f"fit good.csv --memory-limit much {FIT}",
        "memory_limit must be a positive number of bytes, or a text such as '4GB'. Got 'much'; "
        "use None for what the machine has.",
    ),
    "alarm": (
        "drift model.eigencut good.csv --alarm 2",
        "Invalid value for '--alarm': must be a number strictly between 0 and 1. Got '2'; use "
        "0.05.",
    ),
    "unknown encoding": (
        f"fit good.csv --encoding klingon {FIT}",
        "Invalid value for '--encoding': encoding must be one in which a line ends as in ASCII. "
        "Got 'klingon'; use utf-8 or latin-1, or convert the file to UTF-8.",
    ),
    "long delimiter": (
        f"fit good.csv --delimiter ,, {FIT}",
        "Invalid value for '--delimiter': delimiter must be one character that numbers "
        "and words do not contain. Got ',,'; use ','.",
    ),
    "a quote as delimiter": (
        f'fit good.csv --delimiter " {FIT}',
        "Invalid value for '--delimiter': delimiter must be one character that numbers "
        "and words do not contain. Got '\"'; use ','.",
    ),
    "another decimal": (
        f"fit good.csv --decimal x {FIT}",
        "Invalid value for '--decimal': 'x' is not one of '.', ','.",
    ),
    "one landmark": (
        f"fit good.csv --landmarks 1 {FIT}",
        "Invalid value for '--landmarks': 1 is not in the range x>=2.",
    ),
    "names in NPY": (
        f"{P} good.csv --id a -o x.npy",
        "-o x.npy holds clusters alone; for --id, --margin, --proba, --support and --levels use "
        ".csv or .parquet.",
    ),
    "margins in NPY": (
        f"{P} good.csv --margin -o x.npy",
        "-o x.npy holds clusters alone; for --id, --margin, --proba, --support and --levels use "
        ".csv or .parquet.",
    ),
    "seed too large": (
        f"fit good.csv --seed 4294967296 {FIT}",
        "Invalid value for '--seed': 4294967296 is not in the range 0<=x<=4294967295.",
    ),
    "too many threads": (
        f"fit good.csv --jobs 100000 {FIT}",
        "Invalid value for '--jobs': 100000 is not in the range 1<=x<=1024.",
    ),
    "onto the input": (
        "fit good.csv -k 2 --labels good.csv -o new.eigencut",
        "--labels good.csv is the input; name another file.",
    ),
    "onto the input, by another name": (
        "fit good.csv -k 2 --labels folder/../good.csv -o new.eigencut",
        "--labels folder/../good.csv is the input; name another file.",
    ),
    "the model and labels in one file": (
        "fit good.csv -k 2 -o new --labels folder/../new",
        "--labels folder/../new is what -o writes; name two files.",
    ),
    "labels of an unknown kind": (
        f"fit good.csv --labels x.xlsx {FIT}",
        "--labels x.xlsx: .xlsx cannot be written; let the name end in .csv or .txt or .csv.gz or "
        ".txt.gz or .parquet or .npy.",
    ),
    "predicted labels of an unknown kind": (
        f"{P} good.csv -o x.tsv",
        "-o x.tsv: .tsv cannot be written; let the name end in .csv or .txt or .csv.gz or "
        ".txt.gz or .parquet or .npy.",
    ),
    "a model by the name of a table": (
        "fit good.csv -k 2 -o clusters.csv",
        "-o clusters.csv: this is where the model goes; name it e.g. clusters.eigencut.",
    ),
    "a model to standard output": (
        "fit good.csv -k 2 -o -",
        "-o -: a model is a file; name it, or /dev/stdout.",
    ),
    "a graph by another name": (
        "export model.eigencut -o new.eigencut",
        "-o new.eigencut: .eigencut cannot be written; let the name end in .onnx.",
    ),
    "JSON and labels": (
        f"{P} good.csv --json",
        "--json needs -o FILE: standard output has both otherwise.",
    ),
    "JSON and labels of the fit": (
        f"fit good.csv {FIT} --labels - --json",
        "--json needs --labels FILE: standard output has both otherwise.",
    ),
    "no command": ("", None),
    "unknown command": (
        "xyzzy m t",
        "No such command 'xyzzy'.",
    ),
    "no table": ("fit -o new.eigencut", "Missing argument 'TABLE'."),
    "no output": ("fit good.csv -k 2", "Missing option '-o' / '--output'."),
    "unknown option": ("fit good.csv --clustrs 3", "No such option '--clustrs'."),
    "unknown scale": (
        f"fit good.csv --scale log {FIT}",
        "Invalid value for '--scale': 'log' is not one of 'auto', 'standard', 'robust', "
        "'minmax', 'none'.",
    ),
    "onto the model": (
        f"{P} good.csv -o model",
        "-o model is the input; name another file.",
    ),
    "sets of no table": (
        "assess model.eigencut --sets",
        "--sets needs a TABLE of rows that the model was not fitted on.",
    ),
    "no threads": (
        f"fit good.csv --jobs 0 {FIT}",
        "Invalid value for '--jobs': 0 is not in the range 1<=x<=1024.",
    ),
}


def listing(folder):
    return {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}


@pytest.mark.parametrize(("line", "message"), DATA.values(), ids=DATA.keys())
def test_a_problem_with_data_or_model(folder, monkeypatch, capfd, line, message):
    monkeypatch.chdir(folder)
    before = listing(folder)
    is_empty = message.endswith((".csv is empty.", ".csv has no rows."))
    assert main(line.split()) == (2 if is_empty else 1)
    size = (folder / "model.eigencut").stat().st_size
    said = capfd.readouterr()
    assert said.err == f"eigencut: {message.format(size=size, cut=size - 7)}\n"
    assert said.out == ""
    assert listing(folder) == before, "a file was touched"


@pytest.mark.parametrize(("line", "message"), USAGE.values(), ids=USAGE.keys())
def test_wrong_usage(folder, monkeypatch, capfd, line, message):
    monkeypatch.chdir(folder)
    before = listing(folder)
    assert main(line.split()) == 2
    said = capfd.readouterr()
    if message is not None:
        assert said.err.splitlines()[-1].partition(" (Did you mean")[0] == f"Error: {message}"
    assert "Traceback" not in said.err and listing(folder) == before


@pytest.mark.parametrize(
    "line",
    [
        "fit |-o|new",
        "fit good.csv -o |",
        "fit good.csv -o new --labels |",
        "predict |good.csv",
        "predict model.eigencut good.csv -o |",
        "select |",
        "assess |",
        "assess model.eigencut |",
        "info |",
        "export model.eigencut -o |",
        "demo --out |",
    ],
)
def test_no_name_at_all(folder, monkeypatch, capfd, line):
    """As from a variable of a script that is not set."""
    monkeypatch.chdir(folder)
    before = listing(folder)
    words, *more = line.split("|")
    assert main([*words.split(), *([""] if more[0] == "" else ["", *more])]) == 2
    assert "must be the name of a file. Got ''." in capfd.readouterr().err
    assert listing(folder) == before


def test_columns_without_names_are_not_silent(folder, tmp_path, monkeypatch, capfd):
    """pandas writes the numbers of rows as such a column, unless it is told not to."""
    monkeypatch.chdir(tmp_path)
    lines = (folder / "good.csv").read_text().splitlines()
    (tmp_path / "t.csv").write_text("\n".join(f"{i or ''},{line}" for i, line in enumerate(lines)))
    assert main(["fit", "t.csv", *FIT.split()]) == 0
    said = capfd.readouterr().err
    assert said == (
        "eigencut: Note: t.csv has columns without a name, which count as data: 'x1'. If they only "
        "number the rows, leave them out: --drop x1.\n"
    )
    assert main(["fit", "t.csv", "--drop", "x1", *FIT.split()]) == 0
    assert capfd.readouterr().err == ""


def test_the_tables_are_long_enough():
    assert len(DATA) + len(USAGE) >= 40


@pytest.mark.parametrize("seed", range(3))
def test_a_header_that_is_no_python_gives_a_sentence(seed, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    np.save("a.npy", np.eye(3))
    content, rng = bytearray(Path("a.npy").read_bytes()), np.random.default_rng(seed)
    for closing in (b"}", b")"):
        content[content.index(closing)] = rng.integers(97, 122)
    Path("a.npy").write_bytes(content)
    assert main(["fit", "a.npy", "-k", "2", "-o", "m.eigencut"]) == 1
    assert "a.npy must be an array of numbers. It is damaged" in capsys.readouterr().err
