"""scikit-learn with LOBPCG, on the same graph."""

from benchmarks.methods._sklearn import spectral_clustering

METHOD = spectral_clustering("lobpcg", "lobpcg")
