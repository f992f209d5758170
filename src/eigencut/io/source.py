"""What a source of a table is: names of columns, and rows in blocks of bounded size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np

from eigencut._utils.progress import tell
from eigencut.exceptions import EmptyTableError
from eigencut.io.column_kinds import NUMERIC
from eigencut.io.table import Coding, Notation, Table


@dataclass(frozen=True)
class Block:
    """Some rows: their numbers, and the cells of the column that names them."""

    table: Table
    ids: list[str] | None
    n_read: int  # of what ``Source.size`` counts, so far


class Source(ABC):
    """A table that is read in blocks, once.

    ``names`` are those of the columns, x1, x2, ... where the file has none (``has_names``);
    ``unnamed`` are those that it has not, though others are there. ``groups`` are names of several
    columns together, which options may give: those of lists in one. ``size`` is the number of rows
    or bytes, if known, and ``n_read`` how many of them were read.
    """

    name: str
    names: tuple[str, ...]
    has_names: bool
    unnamed: frozenset[str] = frozenset()
    groups: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    size: int | None = None
    n_read: int = 0
    notation = Notation()

    @abstractmethod
    def batches(self, columns: Sequence[str]) -> Iterator[Any]:
        """Yield columns by name, or an array with these columns, some rows at a time."""

    def place(self, row: int) -> str:
        """Return where a row is, by its number from 1 on."""
        return f"row {row}"

    def close(self) -> None:
        """Let go of the file, where that is not done after the last block."""
        return

    def share(self, block: Block) -> float | None:
        """Return how much of the table is read after this block, if it can be known."""
        return block.n_read / self.size if self.size else None

    def blocks(
        self, columns: Sequence[str], id_column: str | None = None, coding: Coding | None = None
    ) -> Iterator[Block]:
        """Yield the chosen columns, some rows at a time.

        Without a coding they must hold numbers; with one also words and dates, and kinds that it
        does not know are found out from the first rows, as many as are read at once.
        """
        coding = Coding(dict.fromkeys(columns, NUMERIC)) if coding is None else coding
        read = [*columns, *([] if id_column in (None, *columns) else [id_column])]
        done = 0
        for batch in self.batches([name for name in read if name is not None]):
            ids = None
            if id_column is not None:
                at = id_column if isinstance(batch, dict) else (slice(None), read.index(id_column))
                ids = ["" if cell is None else str(cell) for cell in batch[at].tolist()]
            if isinstance(batch, np.ndarray):
                batch = batch[:, : len(columns)]
            with self.named_errors():
                table = Table.of(batch, columns, coding, done + 1, self.place, self.notation)
            done += len(table.values)
            yield Block(table, ids, self.n_read)

    def read(
        self, columns: Sequence[str], id_column: str | None = None, coding: Coding | None = None
    ) -> Block:
        """Return all rows at once."""
        blocks, n_rows = [], 0
        for block in self.blocks(columns, id_column, coding):
            blocks.append(block)
            n_rows += len(block.table.values)
            tell(self.share(block), f"{n_rows:,} rows")
        if not blocks:
            raise EmptyTableError(f"{self.name} has no rows.")
        values = np.concatenate([block.table.values for block in blocks])
        ids = [cell for block in blocks for cell in block.ids or []] if id_column else None
        return Block(replace(blocks[0].table, values=values), ids, blocks[-1].n_read)

    @contextmanager
    def named_errors(self) -> Iterator[None]:
        """Let errors about columns begin with the name of the file."""
        try:
            yield
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from error
