"""What the studies share: options, a JSON file of results, and the page that is made of it."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks import RESULTS, STUDIES
from benchmarks.harness.options import parser, positive
from benchmarks.harness.page import update_page, write_text
from eigencut import GraphWarning

Results = dict[str, Any]


@dataclass(frozen=True)
class Study:
    """``python -m benchmarks.<name>`` makes ``results/<name>.json`` and the page ``<name>.md``."""

    name: str
    repeated: str  # what there are many of: "seeds", "sets"
    how_many: int
    measure: Callable[[int, bool], Results]  # of how many, and whether quick
    tables: Callable[[Results], dict[str, str]]
    draw: Callable[[Path], None] | None = None
    page_name: str | None = None  # where it is not that of the study

    @property
    def stored(self) -> Path:
        return RESULTS / f"{self.name}.json"

    @property
    def page(self) -> Path:
        return STUDIES / f"{self.page_name or self.name}.md"

    def run(self, description: str | None) -> None:
        """Measure, print, and, unless quick, publish."""
        options = parser(
            description,
            f"benchmarks.{self.name}",
            quick="a first look; the page is left alone",
            out=f"where the JSON goes (benchmarks/results/{self.stored.name}; nowhere if --quick)",
        )
        options.add_argument(
            f"--{self.repeated}",
            dest="many",
            type=positive,
            default=self.how_many,
            metavar="N",
            help=f"how many {self.repeated} ({self.how_many})",
        )
        asked = options.parse_args()
        warnings.simplefilter("ignore", GraphWarning)
        start = time.perf_counter()
        results = self.measure(asked.many, asked.quick)
        tables = self.tables(results)
        print(*tables.values(), sep="\n\n")
        if asked.out or not asked.quick:
            write_text(asked.out or self.stored, json.dumps(results, indent=1) + "\n")
        if not asked.quick:
            update_page(self.page, tables)
            if self.draw:
                self.draw(STUDIES / "images")
        print(f"{time.perf_counter() - start:.0f} s")
