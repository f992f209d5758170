"""How a model came about: what was asked, what was chosen, settings and versions."""

from __future__ import annotations

import platform
from importlib.metadata import version
from typing import Any

import numpy as np

from eigencut._utils.validation import numbers_in_words
from eigencut._version import __version__
from eigencut.gpod import GPOD
from eigencut.plotting.asked_model import AskedModel
from eigencut.report.summary import ChoiceSummary, ComparedGraph
from eigencut.tables.table_model import TableModel

_LIBRARIES = ("numpy", "scipy", "scikit-learn")
_LEFT_OUT = ("n_jobs", "verbose", "memory_limit")  # settings that change no label


def choice_of(gpod: GPOD, n_clusters: int) -> ChoiceSummary:
    """How the number of clusters and the graph were found."""
    asked: Any = gpod.n_clusters
    is_number = isinstance(asked, (int, np.integer))
    words = asked if isinstance(asked, str) or is_number else numbers_in_words(asked)
    return ChoiceSummary(
        asked_clusters=str(words),
        n_clusters=n_clusters,
        chosen_clusters=not is_number,
        asked_graph=gpod.affinity if isinstance(gpod.affinity, str) else repr(gpod.affinity),
        graph=repr(gpod.affinity_),
        compared=tuple(ComparedGraph(one.affinity, float(one.score)) for one in gpod.choice_),
    )


def settings_of(asked: AskedModel) -> dict[str, Any]:
    """Parameters as plain values, of the preparation of tables too."""
    base, given = asked.base, asked.gpod.get_params(deep=False)
    if isinstance(base, TableModel):
        given |= {"scale": base.scale, "missing": base.missing, "columns": base.columns_}
    return {name: _plain(value) for name, value in given.items() if name not in _LEFT_OUT}


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return repr(value)


def versions() -> dict[str, str]:
    """Of what the report is made with."""
    found = {"eigencut": __version__, "Python": platform.python_version()}
    return found | {name: version(name) for name in _LIBRARIES}
