"""The hardware limit in float32; see benchmarks/limit."""

from benchmarks.methods._limit import limit

METHOD = limit("float32")
