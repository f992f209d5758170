"""Reports as files."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from eigencut.io.atomic import check_replaceable, replacing
from eigencut.report.page import page
from eigencut.report.summary import ModelSummary, summarize

# How a summary is shown, by the end of the name of its file.
FORMS: dict[str, Callable[[ModelSummary], str]] = {
    ".html": page,
    ".json": lambda summary: json.dumps(summary.to_dict(), ensure_ascii=True, indent=1) + "\n",
    ".txt": lambda summary: f"{summary}\n",
}


def write(
    model: Any, X: Any = None, path: str | os.PathLike[str] = "report.html", **how: Any
) -> ModelSummary:
    """Write a report on a fitted model to one file: a page, a text or JSON.

    The page needs nothing else: no network, no other file. What was there is replaced when all is
    written.

    Parameters
    ----------
    model : fitted GPOD, TableModel or Reclustered
    X : array-like of shape (n_samples, n_features), optional
        The rows of the fit, or others like them; see ``summarize``.
    path : path, default="report.html"
        Ends in .html, .json or .txt.
    **how
        Further arguments of ``summarize``: ``X_new``, ``documents``, ``names``, ``title``,
        ``stability``, ``n_refits``, ``random_state``.

    Returns
    -------
    ModelSummary
        What was written.

    Examples
    --------
    >>> import tempfile
    >>> from sklearn.datasets import make_moons
    >>> from eigencut import GPOD
    >>> X, _ = make_moons(200, noise=0.05, random_state=0)
    >>> model = GPOD(2).fit(X)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     summary = write(model, X, Path(folder) / "moons.html", stability=False)
    >>> summary.sentences[0]
    '2 clusters of 200 rows: 50 % and 50 %.'
    """
    if isinstance(X, str | os.PathLike):
        raise ValueError(
            f"X must be rows, and path comes after it. Got {os.fspath(X)!r}; use write(model, X, "
            "path), or write(model, path=...) without rows."
        )
    form_of(path)  # before any work
    check_replaceable(path)
    summary = summarize(model, X, **how)
    save_summary(summary, path)
    return summary


def save_summary(summary: ModelSummary, path: str | os.PathLike[str]) -> None:
    """Write a summary in the form that the name of the file says."""
    content = form_of(path)(summary).encode("utf-8", "backslashreplace")
    with replacing(path) as file:
        file.write(content)


def form_of(path: str | os.PathLike[str]) -> Callable[[ModelSummary], str]:
    """How a summary is shown in a file of this name, or an error."""
    ending = Path(path).suffix.lower() if isinstance(path, (str, os.PathLike)) else None
    if ending not in FORMS:
        raise ValueError(
            f"path must end in .html, .json or .txt. Got {str(path)!r}; name it e.g. report.html."
        )
    return FORMS[ending]
