"""scikit-learn with algebraic multigrid, on a graph of nearest neighbours: AMG wants a sparse one."""

from benchmarks.methods._sklearn import spectral_clustering

METHOD = spectral_clustering(
    "amg, 10 neighbours", "amg", needs="pyamg", affinity="nearest_neighbors"
)
