"""What gives models ``describe``: they say which rows belong where, the rest is done here."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from eigencut.describe.notebook import NotebookMixin

if TYPE_CHECKING:
    from eigencut.describe.description import Description, Labelled


class DescribingMixin(NotebookMixin):
    """Gives a model ``describe``, and what notebooks show of it."""

    @abstractmethod
    def _labelled(self, X: Any) -> Labelled:
        """Labels and margins of rows, and what distances between them are taken of."""

    def _described_columns(self, X: Any) -> Sequence[str] | None:
        """Names of the columns of X that a description is about; None if they have none."""
        if hasattr(X, "columns"):
            return [str(name) for name in X.columns]
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else [str(name) for name in names]

    def describe(
        self,
        X: Any,
        *,
        columns: Any = None,
        documents: Sequence[str] | None = None,
        n_typical: int = 3,
        n_columns: int = 5,
        n_words: int = 8,
        confidence: float = 0.95,
    ) -> Description:
        """Say what each cluster is, on the rows of X: ``print(model.describe(X))``.

        Sizes, typical rows, the columns that distinguish a cluster, a rule of at most three
        conditions, and the words of documents. Everything is in the units of X. See
        ``docs/describe.md``.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows as ``predict`` takes them: those of the fit, or others.
        columns : data frame or array of shape (n_samples, any), optional
            Describe the clusters by these columns, which may hold words, instead of those of X.
            Default: the columns of X; none of them where they have no names and there are
            ``documents``, as for embeddings, or where X holds affinities.
        documents : sequence of str, optional
            The text of each row, for the words of clusters.
        n_typical, n_columns, n_words : int
            How many typical rows, distinguishing columns and words there are for each cluster, at
            most.
        confidence : float, default=0.95
            Of all intervals. They hold given the clusters: they say how well a number is known on
            rows that the model was not fitted on, not that the clusters are real (see
            ``eigencut.risk.significance``).

        Returns
        -------
        Description

        Examples
        --------
        >>> import pandas as pd
        >>> from eigencut import GPOD
        >>> frame = pd.DataFrame({"km": [1.0, 2, 3, 91, 90, 92, 93], "t": [1, 2, 1, 2, 1, 2, 1]})
        >>> model = GPOD(2).fit(frame)
        >>> model.describe(frame).clusters[0].rule.conditions
        (Condition(column='km', relation='>', value=50.0),)
        """
        from eigencut.describe.description import Asked, describe_rows

        asked = Asked(n_typical, n_columns, n_words, confidence)
        rows = self._labelled(X)
        table, names = columns, None
        if columns is None:
            table, names = X, self._described_columns(X)
            if rows.points is None or (documents is not None and names is None):
                table = None
        if table is None and documents is None:
            raise ValueError(
                "columns must be given for a model of affinities, which have none. Got None; pass "
                "a table of as many rows as X that describes them, or documents."
            )
        return describe_rows(rows, table, names, documents, asked)
