"""Rows that a user gives to a display: checked, prepared, and not too many of them shown."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from eigencut.plotting.asked_model import AskedModel
from eigencut.plotting.sampling import MOST_SHOWN, Shown, shown_rows

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class TakenRows:
    """Rows as the model inside wants them.

    Attributes
    ----------
    prepared : array of shape (n_complete, n_columns)
    complete : array of bool of shape (n_rows,)
        Which of the rows that were given these are.
    shown : Shown
        Which of the complete rows are shown.
    """

    prepared: Any
    complete: Mask
    shown: Shown

    @classmethod
    def of(cls, asked: AskedModel, X: Any, most: int = MOST_SHOWN) -> TakenRows:
        """Rows that a user gives, checked by the model; so many of them are shown at most."""
        prepared, complete = asked.prepared(X)
        if not prepared.shape[0]:
            raise ValueError(
                f"X must have a row without missing values to show. Got {len(complete)} rows, none "
                "of them complete; fill in what is missing."
            )
        return cls(prepared, complete, shown_rows(prepared.shape[0], most))

    @property
    def shown_rows(self) -> Any:
        """Those that are shown."""
        return self.prepared[self.shown.rows]
