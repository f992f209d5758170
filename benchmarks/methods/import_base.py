"""What any estimator on scikit-learn and scipy pays at least."""

from benchmarks.methods._start import start_up

METHOD = start_up("import sklearn.base, scipy.sparse, scipy.linalg")
