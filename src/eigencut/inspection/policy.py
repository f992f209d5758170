"""The thresholds that decide what this room tells users."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """Each field is a threshold; the comment says what it governs."""

    # Rows with a smaller margin count as ambiguous: two clusters fit them nearly alike.
    ambiguous_margin: float = 0.1
    # Limits that ``assess`` prints, and intervals of descriptions, hold with this probability.
    confidence: float = 0.95
    # A p-value up to this is said to speak for clusters.
    small_p: float = 0.05
    # The text on stability counts rows that keep their label in a smaller share of refits.
    shaky_agreement: float = 0.8
    # The text on label sets shows the sets of these coverages.
    shown_coverages: tuple[float, ...] = (0.8, 0.9, 0.95)
    # Refits on kept rows are refused if the weights of the fit make more copies of a row.
    most_copies: int = 1000
    # Of an array with more columns, those are described whose means differ most between clusters.
    most_columns: int = 300
    # A column of words with more categories, most of them of one row, names rows; it is left out.
    most_categories: int = 50
    # Of a larger table (rows times columns) only some rows are looked at,
    most_entries: int = 20_000_000
    # but not fewer than these.
    fewest_rows: int = 20_000
    # A typical row of a table with more columns is shown in those that distinguish its cluster.
    most_values: int = 100
    # The distance from the middle is told instead of the location if its effect is so much larger.
    spread_says_more: float = 0.1
    # The variance of an effect is measured on about so many rows.
    rows_of_variance: int = 2000
    # A word must occur in so many documents of a cluster,
    fewest_documents: int = 2
    # and so many words of a cluster are told.
    most_words: int = 8
    # A rule has at most so many conditions.
    most_conditions: int = 3
    # A rule may use so many columns, those that distinguish its cluster most,
    columns_of_rule: int = 20
    # and so many categories of a column, the most frequent ones.
    categories_of_rule: int = 20
    # So many rows of the cluster, and as many others, grow the tree of a rule.
    rows_of_rule: int = 4000
    # A rule is measured on held-out rows if cluster and others have at least so many rows each.
    fewest_held_out: int = 20
    # A condition must add so much to the F1 score of a rule to be worth reading.
    price_of_condition: float = 0.005
    # In a cluster of up to so many rows all distances are computed to find typical rows;
    exact_medoids: int = 1024
    # in a larger one each row is first compared with so many rows drawn at random,
    rows_compared: int = 512
    # and the best of these with all rows.
    finalists: int = 64


POLICY = Policy()
