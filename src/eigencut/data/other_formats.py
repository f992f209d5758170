"""Files that are taken for tables of text, told by how they begin, and what to do with them."""

from __future__ import annotations

import re

_ARCHIVE_HEAD = 64  # bytes, within which the name of the first file of an archive stands
_AS_CSV = "save the table as CSV"
_UNPACK = "unpack it, or pack it with gzip"
_BEGINNINGS = {
    rb"EIGENCUT": "it is a model; a table is expected",
    rb"PK\x03\x04": "it is a spreadsheet or an archive; save it as CSV",
    rb"\xd0\xcf\x11\xe0": "it is an old spreadsheet; save it as CSV",
    rb"SQLite f": "it is a database; export a table as CSV",
    rb"%PDF": "it is a PDF; export the table as CSV",
    rb"\xff\xfe|\xfe\xff": "it is UTF-16; save it as UTF-8",
    rb"BZh\d": f"it is packed with bzip2; {_UNPACK}",
    rb"\xfd7zXZ": f"it is packed with xz; {_UNPACK}",
    rb"\x28\xb5\x2f\xfd": f"it is packed with zstd; {_UNPACK}",
    rb"\x89HDF": f"it is HDF5; {_AS_CSV} or NPY",
    rb"ARROW1|FEA1": f"it is Feather; {_AS_CSV} or Parquet",
    rb"\x80[\x02-\x05]": f"it is a pickle, which could run code; {_AS_CSV} or NPY",
    rb"\s*(\{\s*[\"}]|\[\s*[\[{\"\]\d-])": f"it is JSON; {_AS_CSV}",
    rb"(?i)\s*<(\?xml|!doctype|html)": f"it is XML or a web page; {_AS_CSV}",
    rb"(?i)\s*(%[^\n]*\n\s*)*@relation\s": f"it is ARFF; {_AS_CSV}",
}


def refuse_other_formats(name: str, start: bytes) -> None:
    """Say what a file is that begins like this, if it is surely no CSV.

    Examples
    --------
    >>> refuse_other_formats("a.csv", b"<DATE>,<PRICE>")
    >>> refuse_other_formats("a.json", b'[{"a": 1}]')
    Traceback (most recent call last):
    ValueError: a.json is not a table: it is JSON; save the table as CSV.
    """
    text = start.removeprefix(b"\xef\xbb\xbf")
    if text.startswith(b"PK\x03\x04") and b".npy" in text[:_ARCHIVE_HEAD]:
        raise ValueError(
            f"{name} is not a table: it is an archive of arrays (.npz). Save one array of numbers "
            "with numpy.save. A sparse matrix (scipy.sparse.save_npz) is for eigencut fit and "
            f"predict, and in Python for GPOD(...).fit(scipy.sparse.load_npz({name!r}))."
        )
    for beginning, reason in _BEGINNINGS.items():
        if re.match(beginning, text):
            raise ValueError(f"{name} is not a table: {reason}.")
