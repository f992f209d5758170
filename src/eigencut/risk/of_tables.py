"""Questions about a GPOD, asked of a model of a table: its rows are prepared first."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from inspect import signature
from typing import Any, TypeVar, cast

import numpy as np

from eigencut.runtime.validation import refuse_split_model

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
        if not hasattr(model, "preparation_"):
            return question(*given, **options)
        asked = named.bind(*given, **options).arguments
        asked[of_model] = model.model_
        if rows_name is not None and asked.get(rows_name) is not None:
            asked[rows_name], complete = model.prepare(asked[rows_name])
            weight = asked.get("sample_weight")
            if weight is not None and len(np.atleast_1d(weight)) == len(complete):
                asked["sample_weight"] = np.asarray(weight)[complete]
        return question(**asked)

    return cast(Question, ask)
