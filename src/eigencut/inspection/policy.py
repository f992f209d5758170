"""The thresholds behind the results of ``eigencut.inspection``."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """Thresholds, each with a comment on what it decides."""

    ambiguous_margin: float = 0.1  # Rows with a smaller margin count as ambiguous.
    confidence: float = 0.95  # of limits that ``assess`` prints, and of intervals of descriptions
    small_p: float = 0.05  # A p-value up to this speaks for more than one cluster.
    shaky_agreement: float = 0.8  # ``Stability`` counts rows that keep their label in fewer refits.
    shown_coverages: tuple[float, ...] = (0.8, 0.9, 0.95)  # in the text on label sets
    most_copies: int = 1000  # of a row, on average, by its weight; refits with more are refused
    # Descriptions
    most_columns: int = 300  # of an array, those whose means differ most between clusters
    most_categories: int = 50  # A column with more, if most occur once, only names rows.
    most_entries: int = 20_000_000  # From a larger table (rows times columns), rows are sampled,
    fewest_rows: int = 20_000  # but at least this many.
    most_values: int = 100  # With more columns, typical rows show only distinguishing ones.
    spread_says_more: float = 0.1  # by which the effect of distances from the median must win
    rows_of_variance: int = 2000  # sampled for the variance of an effect
    fewest_documents: int = 2  # of a cluster with a word, for it to be listed
    most_words: int = 8  # of a cluster
    # Rules
    most_conditions: int = 3
    columns_of_rule: int = 20  # at most, those that distinguish the cluster
    categories_of_rule: int = 20  # of a column, the most frequent ones
    rows_of_rule: int = 4000  # from the cluster, and from the others, to grow the tree
    fewest_held_out: int = 20  # With fewer rows on a side, rules are measured on all rows.
    price_of_condition: float = 0.005  # what a condition must add to the F1 score
    # Typical rows
    exact_medoids: int = 1024  # In a cluster of up to this many rows, all distances are computed;
    rows_compared: int = 512  # in a larger one, rows are compared with this many random ones,
    finalists: int = 64  # and the best of these with all rows.


POLICY = Policy()
