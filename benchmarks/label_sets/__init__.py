"""Whether label sets hold what they promise: coverage and size on generated and real rows."""
