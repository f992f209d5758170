"""What "auto" decides: criteria, candidates, the spectrum of a graph, memory; and ``select``.

It imports risk, extension and what is below them; ``select`` alone imports the estimator.
"""
