"""The thresholds that decide what this room tells users."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """Each field is a threshold; the comment says what it governs."""

    ambiguous_margin: float = 0.1  # Rows with a smaller margin count as ambiguous.
    confidence: float = 0.95  # of limits that ``assess`` prints, and of intervals of descriptions
    small_p: float = 0.05  # A p-value up to this is said to speak for clusters.
    shaky_agreement: float = 0.8  # Rows that keep their label in fewer refits are counted as shaky.
    shown_coverages: tuple[float, ...] = (0.8, 0.9, 0.95)  # in the text on label sets
    most_copies: int = 1000  # of a kept row, by weights of the fit; with more, refits are refused
    # Descriptions
    most_columns: int = 300  # of an array: those whose means differ most between clusters
    most_categories: int = 50  # A column with more, most of them of one row, names rows.
    most_entries: int = 20_000_000  # Of a larger table (rows times columns) some rows are taken,
    fewest_rows: int = 20_000  # but not fewer than these.
    most_values: int = 100  # Typical rows with more show columns that distinguish the cluster.
    spread_says_more: float = 0.1  # by which a distance from the middle has to have more effect
    rows_of_variance: int = 2000  # by which the variance of an effect is measured
    fewest_documents: int = 2  # of a cluster in which a word occurs
    most_words: int = 8  # of a cluster
    # Rules
    most_conditions: int = 3
    columns_of_rule: int = 20  # those that distinguish the cluster most
    categories_of_rule: int = 20  # of a column, the most frequent ones
    rows_of_rule: int = 4000  # of the cluster, and as many others, that grow the tree
    fewest_held_out: int = 20  # rows of the cluster and of others to measure a rule on other rows
    price_of_condition: float = 0.005  # what it must add to the F1 score to be worth reading
    # Typical rows
    exact_medoids: int = 1024  # In a cluster of up to so many rows all distances are computed;
    rows_compared: int = 512  # in a larger one rows are compared with so many drawn at random,
    finalists: int = 64  # and the best of these with all rows.


POLICY = Policy()
