"""Every threshold of what "auto" decides."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Policy:
    """The numbers that decide for the user; the comment on each says what it governs.

    Scores are those of ``conductance_of``: larger is clearer.
    """

    # Graphs of neighbours are cut up to this many different rows, landmarks beyond.
    most_rows_for_neighbors: int = 500_000
    # Rows times squared clusters above this take a graph of neighbours more than half a minute.
    much_work: float = 3e8
    # Rows times squared clusters above this are left to landmarks, however few rows a cluster has.
    too_much_work: float = 3e9
    # Landmarks show a cluster surely if it has this many rows.
    rows_per_cluster_for_landmarks: int = 150
    # Where clusters are very many, a landmark stands for at least this many rows.
    rows_per_landmark: int = 40
    # Where clusters are very many, each has at least this many landmarks.
    least_landmarks_per_cluster: int = 3
    # Each cluster has this many landmarks where rows allow it.
    landmarks_per_cluster: int = 5
    # There are at least this many landmarks where clusters are few.
    landmarks: int = 1000
    # A fit that needs at most this many bytes is not compared with the memory that is available.
    trifling_bytes: float = 1e8

    # Of more different rows than this a sample is drawn by random keys instead of sorting them.
    sorted_rows: int = 100_000
    # A graph has at least this many neighbours of each row.
    least_neighbors: int = 5
    # A graph has at most this many neighbours of each row, unless distances hardly differ.
    most_neighbors: int = 15
    # A graph has at most this many neighbours of each row where distances hardly differ.
    wide_neighbors: int = 100
    # Distances hardly differ where rows spread in at least this many dimensions around a row.
    many_dimensions: float = 9.0
    # The dimension around rows is measured at about this many of them.
    rows_for_dimension: int = 500
    # The mutual graph of neighbours has this density contrast.
    mutual_contrast: float = 1.5
    # The symmetric graph of neighbours has this density contrast.
    symmetric_contrast: float = 1.0
    # From this score on no other graph is looked at.
    clear_enough: float = 0.0
    # The same where distances hardly differ, since few neighbours may show topics, not clusters.
    clear_in_many_dimensions: float = 1.0
    # A graph of many neighbours must beat the same graph of few by this score.
    wider_better: float = 0.4
    # From this score on a graph of many neighbours is nearly clear, and a smaller lead will do.
    nearly_clear: float = -0.5
    # A nearly clear graph of many neighbours must beat the same graph of few by this score.
    wider_slightly_better: float = 0.25
    # A graph must beat one that is preferred to it by this score.
    much_better: float = 0.5
    # The same where distances hardly differ, since few mutual neighbours are often wrong there.
    better_in_many_dimensions: float = 0.25
    # A graph with a cluster below this share of an average one is not believed.
    least_share_of_cluster: float = 0.1
    # The graph is decided on all rows up to this many.
    whole_rows: int = 30_000
    # Of more rows it is decided on this many,
    some_rows: int = 2000
    # or on this many for each cluster.
    some_rows_per_cluster: int = 50
    # A graph in more than K pieces has at most this score.
    score_in_pieces: float = -2.0
    # An eigenvalue up to this one is that of a further piece.
    no_cut: float = 1e-12
    # From this many rows on landmarks are a last resort where all graphs have tiny clusters.
    rows_for_landmarks: int = 1000
    # The graph of many neighbours that known labels may prefer has at most this many.
    labelled_neighbors: int = 50

    # Fewer different rows than this are not treated as mixed.
    least_mixed_rows: int = 200
    # Mixed rows are first seen by this many landmarks,
    mixed_landmarks: int = 100
    # or by this many for each cluster.
    mixed_landmarks_per_cluster: int = 4
    # The landmarks of mixed rows are halved down to at least this many,
    least_mixed_landmarks: int = 25
    # and to at least this many for each cluster.
    least_mixed_landmarks_per_cluster: int = 3
    # They are halved while eigenvalue K + 1 is below this: the graph is nearly in more pieces.
    nearly_in_pieces: float = 0.001

    # K, and the landmarks of many mixed rows, are decided on at most this many rows.
    choice_rows: int = 4000
    # So many eigenpairs are computed first to find K, and twice as many while K may be larger.
    first_pairs: int = 16
    # Further clusters may follow where the last eigenvalue is below this,
    small_eigenvalue: float = 0.02
    # and below this many times pairs over rows, which is half of what rows in a plane have.
    small_eigenvalue_of_sheet: float = 2.0
    # At most one cluster in this many rows is looked for,
    rows_per_cluster: int = 10
    # but this many clusters are always looked for.
    least_looked_for: int = 10
    # The clusters of this many numbers K with the largest eigengaps are looked at.
    n_gaps: int = 8
    # The rotation for each of these K is found on this many rows.
    discretized_rows: int = 1000
    # Clusters of fewer than 2 * most_neighbors rows are believed from this score on.
    clear_of_few: float = 1.0
    # This is taken off the score where they are not believed.
    taken_off_few: float = 1.0
    # An update changes K if another has a score larger by this.
    better_number: float = 0.25
    # The other criteria of ``select`` compare numbers of clusters from 2 to this one.
    most_compared: int = 10

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
    clear: float = 0.45
    # Whether rows are one cluster is tested on at most this many of them,
    tested_rows: int = 1000
    # and on at most this many principal components.
    tested_columns: int = 30
    # So many samples of each null are cut: p = 0.05 if none has as small a cut.
    null_samples: int = 19
    # After this many samples the cut may be seen to be far below them.
    first_null_samples: int = 4
    # The cut is far below if a normal cut value is above it with this probability.
    far_probability: float = 0.995

    # A cluster of fewer rows than this, and than the next share, is an outlier.
    least_rows: int = 10
    # A cluster below this share of the rows, and with fewer than least_rows, is an outlier.
    least_share: float = 0.03
    # A number K that makes such clusters has this score.
    no_cluster: float = -9.0
    # An eigenvector is that of the fewest rows that hold this share of it.
    share_of_vector: float = 0.9
    # POD has this many starts for each number of clusters.
    starts: int = 6
    # A rough discretization ends when the objective grows by less than this share.
    rough_growth: float = 1e-3
    # Eigenvalues below this are as good as zero to the eigengap and to the risk.
    gap_floor: float = 1e-4
    # A clustering counts as stable from this agreement on.
    stable: float = 0.95
    # So many pairs of halves, or null samples, are drawn by "stability" and "risk".
    repeats: int = 8


POLICY = Policy()
