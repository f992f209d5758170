"""The few loops that are worth C, each also in numpy."""
