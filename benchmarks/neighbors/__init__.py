"""Which graph of nearest neighbours: symmetric or mutual, how many, with which weights."""
