"""What "auto" decides: the graph by rows and memory (``budget``), its variant, K (``automatic``).

``criteria`` score numbers of clusters by the ``spectrum`` of a graph. It imports risk, extension
and what is below them; ``select``, which compares what it is asked to, alone imports the estimator.
"""
