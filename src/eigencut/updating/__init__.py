"""Models that go on living: updates that keep the numbers of clusters, drift, aligned numbers.

It imports from fitted cuts, selection and everything below; the estimator stands above it.
"""
