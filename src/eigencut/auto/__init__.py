"""What "auto" decides.

- ``choose``: the number of clusters and the cut, in order; ``units``: the scale of columns
- ``graph``: candidate cuts, and the yardstick J that judges them; ``gaps``: clusters far apart
- ``n_clusters``: how many clusters there are; ``spectrum``: one eigendecomposition for every K
- ``budget``: what memory allows; ``policy``: every threshold
- ``select``: numbers of clusters and affinities compared for the user (it alone imports GPOD)
"""
