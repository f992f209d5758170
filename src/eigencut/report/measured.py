"""What takes fits and pairs of rows: risk, stability and the spectrum, on few enough rows.

What cannot be had is left out, with a note that says why.
"""

from __future__ import annotations

import time
import warnings

import numpy as np
from sklearn.base import clone

from eigencut._utils.progress import advance, stage, without_progress
from eigencut._utils.threads import threads
from eigencut.auto.spectrum import Spectrum
from eigencut.cut import CUTS
from eigencut.exceptions import GraphWarning
from eigencut.extension.combined import CombinedFunctions
from eigencut.inspection.assessment import assess
from eigencut.inspection.stability import stability
from eigencut.inspection.summary import RiskSummary
from eigencut.plotting.asked_model import AskedModel
from eigencut.report.seen_rows import SeenRows
from eigencut.report.summary import QuickStability, SpectrumSummary

_HELD_OUT = 2000  # new rows whose pairs are looked at, at most
_REFITTED = 2000  # rows of a refit, at most
_SECONDS = 8.0  # after which no further refit is begun
_MORE = 6  # eigenvalues that are shown beyond those of the model


def risk_of(
    asked: AskedModel, new: SeenRows | None, random_state: int, notes: list[str]
) -> RiskSummary | None:
    """How far a model can be trusted; on new rows if there are any."""
    if asked.is_split:
        notes.append("Risk was not measured. Clusters were split, which have no cut in common.")
        return None
    rows = None
    if new is not None and not asked.is_pairwise:
        rows = new.sample(_HELD_OUT, random_state)
        if rows.shape[0] < new.n_rows:
            notes.append(
                f"Risk was measured on {rows.shape[0]} of {new.n_rows} new rows, drawn at random."
            )
    try:
        with stage("risk"):
            return assess(asked.gpod, rows)
    except ValueError as error:
        notes.append(f"Risk was not measured. {error}")
        return None


def stability_of(
    asked: AskedModel, seen: SeenRows | None, n_refits: int, random_state: int, notes: list[str]
) -> QuickStability | None:
    """Agreement of a few refits on some of the rows; no refit begins after 8 seconds."""
    reason = None
    if asked.is_split:
        reason = "Clusters were split."
    elif isinstance(asked.fitted.functions, CombinedFunctions):
        reason = "Labels or pairs were known at the fit, which refits would not know."
    elif seen is None:
        reason = "There are no rows to fit again on; pass X."
    if reason is not None or seen is None:
        notes.append(f"Stability was not measured. {reason}")
        return None
    rows = seen.sample(_REFITTED, random_state)
    start, agreement, done = time.perf_counter(), np.zeros(rows.shape[0]), 0
    labels = np.empty(0, dtype=np.intp)
    with stage("refits"):
        while done < n_refits and (not done or time.perf_counter() - start < _SECONDS):
            advance(done, n_refits, "refits")
            try:
                with without_progress():
                    found = stability(
                        asked.gpod, rows, n_refits=1, random_state=random_state + done
                    )
            except ValueError as error:
                notes.append(f"Stability was not measured. {error}")
                return None
            agreement, labels, done = agreement + found.per_row, found.labels, done + 1
    per_row = agreement / done
    return QuickStability(
        mean=float(per_row.mean()),
        per_cluster={int(k): float(per_row[labels == k].mean()) for k in np.unique(labels)},
        n_refits=done,
        n_rows=len(per_row),
    )


def spectrum_of(asked: AskedModel, seen: SeenRows | None, random_state: int) -> SpectrumSummary:
    """The eigenvalues of a model, and more of them on some of the rows."""
    gpod = asked.gpod
    values = tuple(map(float, gpod.eigenvalues_))
    nothing = SpectrumSummary(values, (), 0)
    if seen is None or asked.is_pairwise:
        return nothing
    rows = seen.sample(_REFITTED, random_state)
    if rows.shape[0] < 2:
        return nothing
    try:
        with stage("spectrum"), threads(gpod.n_jobs), warnings.catch_warnings():
            warnings.simplefilter("ignore", GraphWarning)
            n_pairs, cut = min(len(values) + _MORE, rows.shape[0] - 1), CUTS[gpod.cut]
            with without_progress():
                found = Spectrum.from_rows(rows, clone(gpod.affinity_), cut, n_pairs).pairs.values
    except ValueError:  # too few different rows for as many
        return nothing
    return SpectrumSummary(values, tuple(map(float, found)), int(rows.shape[0]))
