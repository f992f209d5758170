"""Every threshold of what "auto" decides."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """The numbers that decide for the user; the comment on each says what it governs.

    Scores of numbers of clusters are those of ``conductance``: larger is clearer.
    """

    # ---- The graphs of the default, by numbers of neighbours.
    # Mutual graphs that are cut, the first one first; in many dimensions only this.
    cut_scales: tuple[int, ...] = (15, 10)
    # Mutual graphs that cuts are judged on,
    scales: tuple[int, ...] = (10, 15, 22)
    # and symmetric ones of more neighbours that replace them in more dimensions.
    wide_scales: tuple[int, ...] = (22, 50)
    # Symmetric graphs that known labels may prefer.
    labelled_neighbors: tuple[int, ...] = (15, 50)

    # ---- The thresholds that decide which cut the default takes.
    # Cuts are judged on graphs of many neighbours from this local dimension on.
    wide_dimensions: float = 2.2
    # From this one on the rows are cut at one scale, and information decides on K.
    many_dimensions: float = 3.5
    # A first cut is taken without looking further if no cluster's cut is above this.
    clear: float = 0.005
    # A component of at least this many rows may be a cluster.
    least_cluster: int = 5
    # Gaps are wide if they are this many times as long as the longest edge inside a cluster.
    wide_gap: float = 2.0
    # and this many times if the number of clusters is not given, for then more gaps are looked at.
    sure_gap: float = 3.0
    # Two ways of cutting show the same clusters from this ARI on.
    same: float = 0.9
    # Columns have different units if distances see fewer of them than one and this share.
    seen_columns: float = 0.125
    # Many clusters are round if rows may go to the nearest mean and are cut more by this share.
    round_cost: float = 0.1

    # Where rows with the same words make pieces, at least this many landmarks are looked at too.
    wide_landmarks: int = 100

    # ---- What is affordable: rows that decide, and rows that are cut.
    # Relaxed cuts are looked at up to this number of rows times squared clusters.
    relaxed_work: float = 1e7
    # The graph is decided on all rows up to this many; a sample of more is drawn without sorting.
    whole_rows: int = 30_000
    # With more rows it is decided on this many,
    some_rows: int = 10_000
    # or on this many for each cluster.
    some_rows_per_cluster: int = 50
    # Landmarks stand for all rows from this ARI with the cut of these rows on.
    faithful: float = 0.97
    # Rotations for many numbers K, units of columns and tests of one cluster see this many rows.
    few_rows: int = 1000
    # Graphs of neighbours are cut up to this many different rows, landmarks beyond.
    most_rows_for_neighbors: int = 500_000
    # A discrete cut is found on at most this many rows, or on some rows for each cluster.
    most_ranked_rows: int = 200_000
    # Each cluster has this many landmarks where rows allow it,
    landmarks_per_cluster: int = 5
    # and there are at least this many.
    landmarks: int = 1000
    # A fit that needs at most this many bytes is not compared with the memory that is available.
    trifling_bytes: float = 1e8

    # ---- The number of clusters.
    # The graph on which K is looked for has at least this many neighbours of each row,
    least_neighbors: int = 5
    # and at most this many.
    most_neighbors: int = 15
    # K is decided on at most this many rows.
    choice_rows: int = 4000
    # So many eigenpairs are computed first to find K, and twice as many while K may be larger.
    first_pairs: int = 16
    # Further clusters may follow where the last eigenvalue is below this.
    small_eigenvalue: float = 0.02
    # At most one cluster in this many rows is looked for,
    rows_per_cluster: int = 10
    # but this many clusters are always looked for.
    least_looked_for: int = 10
    # The clusters of this many numbers K with the largest eigengaps are looked at.
    n_gaps: int = 8
    # The largest number of clusters with this score on a graph of neighbours is taken.
    believed: float = 1.25
    # This is taken off the score if clusters have fewer than 2 * most_neighbors rows.
    taken_off_few: float = 1.0
    # A cluster of fewer rows than this is not split further.
    split_rows: int = 120
    # An update changes K if another number scores better by this. Where information decides, a
    # cluster is split further if the score is above this.
    better_number: float = 0.25
    # Where information decides, clusters keep this many nats of a step for each unit of log K.
    cluster_cost: float = 0.25
    # This many clusters are merged down to 2 first to find K, twice as many if K may be larger.
    first_merged: int = 64

    # From this score on few rows are surely several clusters.
    sure: float = 2.0
    # From this score on many rows are surely several clusters.
    sure_of_many: float = 0.6
    # The score that is sure falls from this many rows on,
    sure_rows: int = 200
    # with this power of their number.
    sure_power: float = 0.75
    # A number of clusters stands out from this share of the score that is sure,
    clear_share: float = 0.55
    # and from this score on.
    clear_number: float = 0.45
    # Whether rows are one cluster is tested on at most this many principal components.
    tested_columns: int = 30
    # So many samples of each null are cut: p = 0.05 if none has as small a cut.
    null_samples: int = 19

    # If rows are few, a cluster of ``least_cluster`` rows may be as small as this share of them.
    least_share: float = 0.03
    # A number K that makes smaller clusters has this score.
    no_cluster: float = -9.0
    # A rough discretization ends when the objective grows by less than this share.
    rough_growth: float = 1e-3

    def wide_landmarks_for(self, n_clusters: int) -> int:
        """Return how many landmarks are looked at where rows have words."""
        return max(4 * n_clusters, self.wide_landmarks)


POLICY = Policy()
