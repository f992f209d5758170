"""From a cut of the training rows to any row.

- ``eigenfunctions``: eigenvectors at new rows, in three forms; averages in float32 with a bound
- ``labelling``: labels, margins and probabilities from eigenfunctions; numbers of clusters
- ``sizes``: prices under which clusters keep to limits of their sizes
"""
