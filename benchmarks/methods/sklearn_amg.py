"""scikit-learn with algebraic multigrid, on nearest neighbours: AMG wants a sparse graph."""

from benchmarks.methods._sklearn import spectral_clustering

METHOD = spectral_clustering(
    "amg, 10 neighbours", "amg", needs="pyamg", affinity="nearest_neighbors"
)
