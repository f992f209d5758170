"""What "auto" decides: ``choose`` takes K and the graph, ``n_clusters`` finds K by a ``spectrum``.

``budget`` says what memory allows, ``policy`` has every threshold, and ``select``, which alone
imports the estimator, compares what it is given.
"""
