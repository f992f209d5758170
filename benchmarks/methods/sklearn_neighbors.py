"""scikit-learn on nearest neighbours, with its default solver."""

from benchmarks.methods._sklearn import spectral_clustering

METHOD = spectral_clustering("default, 10 neighbours", "arpack", affinity="nearest_neighbors")
