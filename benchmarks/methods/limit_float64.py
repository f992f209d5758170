"""The hardware limit in float64; see benchmarks/limit."""

from benchmarks.methods._limit import limit

METHOD = limit("float64")
