"""How to choose K and sigma, what margins are worth: the study behind docs/selection.md."""

JOBS = 1  # threads: seconds are of one core
