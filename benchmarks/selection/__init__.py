"""How to choose K and sigma, what margins are worth: benchmarks/studies/selection.md."""

JOBS = 1  # threads: seconds are of one core
