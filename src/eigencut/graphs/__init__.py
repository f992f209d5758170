"""The weighted graph that is cut; affinities make it."""
