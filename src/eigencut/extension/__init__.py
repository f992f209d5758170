"""Eigenfunctions at new rows, and their labels, in float32 where that cannot change them.

``single_precision`` bounds the error of averages, ``eigenfunctions`` that of their values, and
``labelling`` compares it with the lead of a label. It imports solvers, cuts, the discretization,
affinities and what is below them.
"""
