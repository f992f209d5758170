"""Questions about a GPOD, asked of a model of a table: its rows are prepared first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np

from eigencut._utils.validation import refuse_split_model
from eigencut.io.refused_rows import naming_refused_rows

Question = TypeVar("Question", bound=Callable[..., Any])


def takes_tables(question: Question) -> Question:
    """The same function, which also takes a fitted ``TableModel`` and rows of its table.

    Rows with missing values are left out, and so are their weights, if the model leaves them out.
    """
    named = signature(question)
    of_model, *others = named.parameters
    rows_name = next((name for name in others[:1] if name.startswith("X")), None)

    @wraps(question)
    def ask(*given: Any, **options: Any) -> Any:
        model: Any = given[0] if given else options.get(of_model)
        refuse_split_model(model)
        asked = named.bind(*given, **options).arguments
        rows = None if rows_name is None else asked.get(rows_name)
        if not hasattr(model, "preparation_"):
            with naming_refused_rows(rows, getattr(model, "feature_names_in_", None)):
                return question(*given, **options)
        asked[of_model] = model.model_
        if rows_name is not None and rows is not None:
            prepared, complete = model.prepare(rows)
            asked[rows_name] = prepared
            weight = asked.get("sample_weight")
            if weight is not None and len(np.atleast_1d(weight)) == len(complete):
                asked["sample_weight"] = np.asarray(weight)[complete]
            with model.naming_rows(rows, prepared, complete):
                return question(**asked)
        return question(**asked)

    return cast(Question, ask)
