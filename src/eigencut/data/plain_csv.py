"""Lines of plain CSV as numbers and words, by pyarrow: eight times as fast as cell by cell.

Plain is what pyarrow cannot read in another way than ``eigencut.data.csv_source``: valid UTF-8
without quotes, lone carriage returns, NUL and very long lines. Whatever it refuses is left to that.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from eigencut.runtime.arrays import Array
from eigencut.runtime.threads import n_threads

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
MISSING = {"", "?", "na", "n/a", "nan", "null", "none", "."}  # in any case of letters

Different = tuple[list[str], Any]  # words, and places of the cells among them

_LEAST_BYTES = 1 << 20  # for fewer it does not pay to import pyarrow
_LINE_BYTES = 1 << 16  # longer ones have so many columns that pyarrow does not pay
_SPELLINGS = sorted({f(word) for word in MISSING for f in (str.lower, str.upper, str.title)})
_NULLS = [*_SPELLINGS, "NaN"]


def plain_cells(
    chunk: bytes,
    encoding: str,
    delimiter: str,
    decimal: str,
    n_columns: int,
    places: list[int],
    place_of_id: int | None,
    places_of_words: list[int],
) -> tuple[Array, list[str] | None, list[Different]] | None:
    """Numbers of some columns and the words of others; None where that is not for pyarrow."""
    if len(chunk) < _LEAST_BYTES or not _is_plain(chunk, encoding, delimiter):
        return None
    if place_of_id in places or place_of_id in places_of_words:
        return None
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return None
    types = {str(place): pa.float64() for place in places}
    if place_of_id is not None:
        types[str(place_of_id)] = pa.string()
    of_words = pa.dictionary(pa.int32(), pa.string())
    types |= {str(place): of_words for place in places_of_words}
    try:
        table = csv.read_csv(
            pa.BufferReader(chunk),
            csv.ReadOptions(
                use_threads=n_threads() > 1, column_names=[str(i) for i in range(n_columns)]
            ),
            csv.ParseOptions(delimiter=delimiter, quote_char=False),
            csv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=_NULLS,
                decimal_point=decimal,
            ),
        )
    except pa.ArrowException:
        return None
    columns = [table.column(str(place)) for place in places]
    values = np.column_stack([np.empty((table.num_rows, 0)), *(c.to_numpy() for c in columns)])
    n_missing = sum(column.null_count for column in columns)
    if np.isfinite(values).sum() + n_missing < values.size:  # spellings that Python may refuse
        return None
    words = [_different(table.column(str(place))) for place in places_of_words]
    ids = None if place_of_id is None else table.column(str(place_of_id)).to_pylist()
    return values, ids, words


def _different(column: Any) -> Different:
    whole = column.unify_dictionaries().combine_chunks()
    return whole.dictionary.to_pylist(), whole.indices.to_numpy()


def _is_plain(chunk: bytes, encoding: str, delimiter: str) -> bool:
    if encoding.lower() not in ("utf-8", "utf8") or delimiter == " " or not delimiter.isascii():
        return False
    if b'"' in chunk or b"\0" in chunk or chunk.startswith(BYTE_ORDER_MARK):
        return False
    if chunk.count(b"\r") != chunk.count(b"\r\n"):
        return False
    starts = range(0, len(chunk) - _LINE_BYTES, _LINE_BYTES)
    if not all(chunk.find(b"\n", start, start + _LINE_BYTES) >= 0 for start in starts):
        return False
    try:
        chunk.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
