"""Arrays in numpy's own format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from tokenize import TokenError
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.io.coding import Coding
from eigencut.io.column_kinds import places, plain_names
from eigencut.io.source import READ_ROWS, Block, Source
from eigencut.io.table import Table, coded_column


class NpySource(Source):
    """A two-dimensional array of numbers, mapped into memory; nothing in the file is executed."""

    has_names = False

    def __init__(self, path: str) -> None:
        self.name = path
        array = self._mapped()
        if array.ndim != 2 or array.dtype.kind not in "fiub":
            raise ValueError(
                f"{path} must be a two-dimensional array of numbers. "
                f"Got shape {array.shape} of {array.dtype}."
            )
        self.names = plain_names(array.shape[1])
        self.size = len(array)

    def _mapped(self) -> NDArray[Any]:
        try:
            found: NDArray[Any] = np.load(self.name, mmap_mode="r", allow_pickle=False)
        except (EOFError, SyntaxError, TokenError, ValueError) as error:  # of its header, too
            raise ValueError(
                f"{self.name} must be an array of numbers. It is damaged, or holds Python objects; "
                "save it anew with numpy.save."
            ) from error
        return found

    def blocks(
        self, columns: Sequence[str], id_column: str | None = None, coding: Coding | None = None
    ) -> Iterator[Block]:
        chosen = places(columns, self.names)
        for start in range(0, self.size or 0, READ_ROWS):
            # A map of its own for each block: pages that were read count as memory until unmapped.
            piece = self._mapped()[start : start + READ_ROWS]
            ids = None
            if id_column is not None:
                ids = [str(cell) for cell in piece[:, self.names.index(id_column)]]
            values = np.array(piece[:, chosen], dtype=np.float64)
            if coding is not None:
                pairs = zip(columns, piece[:, chosen].T, strict=True)
                values = np.column_stack([coded_column(coding, *pair, start + 1) for pair in pairs])
            table = Table(tuple(columns), values, start + 1, coding=coding)
            yield Block(table, ids, start + len(piece))
