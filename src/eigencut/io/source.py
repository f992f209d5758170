"""What a source of a table is: names of columns, and rows in blocks of bounded size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from eigencut._utils.progress import tell
from eigencut.exceptions import EmptyTableError
from eigencut.io.coding import Coding
from eigencut.io.table import Table

READ_ROWS = 1 << 16  # of a block, where a file has rows of equal size
_LISTED = 8  # columns of text named in an error


@dataclass(frozen=True)
class Block:
    """Some rows: their numbers, and the cells of the column that names them."""

    table: Table
    ids: list[str] | None
    n_read: int  # of what ``Source.size`` counts, so far


class Source(ABC):
    """A table that is read in blocks, once.

    Attributes
    ----------
    name : str
        For messages.
    names : tuple of str
        Of the columns; x1, x2, ... where the file has none.
    has_names : bool
        Whether they are from the file.
    unnamed : set of str
        Those that are not, though others are.
    groups : dict of str to tuple of str
        Names of several columns together, which options may give: those of lists in one.
    size : int or None
        Rows or bytes in all, if known.
    """

    name: str
    names: tuple[str, ...]
    has_names: bool
    unnamed: frozenset[str] = frozenset()
    groups: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    size: int | None

    @abstractmethod
    def blocks(
        self, columns: Sequence[str], id_column: str | None = None, coding: Coding | None = None
    ) -> Iterator[Block]:
        """The chosen columns, some rows at a time.

        Without a coding they must hold numbers; with one also words and dates, and kinds that it
        does not know are found out from the first rows, as many as are read at once.
        """

    def close(self) -> None:
        """Let go of the file, where that is not done after the last block."""
        return

    def share(self, block: Block) -> float | None:
        """How much of the table is read after this block, if it can be known."""
        return block.n_read / self.size if self.size else None

    def read(
        self, columns: Sequence[str], id_column: str | None = None, coding: Coding | None = None
    ) -> Block:
        """All rows at once."""
        blocks, n_rows = [], 0
        for block in self.blocks(columns, id_column, coding):
            blocks.append(block)
            n_rows += len(block.table.values)
            tell(self.share(block), f"{n_rows:,} rows")
        if not blocks:
            raise EmptyTableError(f"{self.name} has no rows.")
        values = np.concatenate([block.table.values for block in blocks])
        ids = [cell for block in blocks for cell in block.ids or []] if id_column else None
        table = Table(tuple(columns), values, coding=coding, lines=blocks[0].table.lines)
        return Block(table, ids, blocks[-1].n_read)


def text_columns(name: str, examples: dict[str, str]) -> ValueError:
    """The error for columns that do not hold numbers, each with an example of what it holds."""
    shown = [f"{column!r} ({example})" for column, example in list(examples.items())[:_LISTED]]
    columns = ",".join(examples)
    return ValueError(
        f"{name}: columns must hold numbers, but not so {', '.join(shown)}. "
        f"Correct the cells, fit without these columns (drop {columns!r}), or say that they are "
        "categorical."
    )
