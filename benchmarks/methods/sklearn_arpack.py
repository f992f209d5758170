"""scikit-learn's default solver, on the same graph."""

from benchmarks.methods._sklearn import spectral_clustering

METHOD = spectral_clustering("arpack", "arpack")
