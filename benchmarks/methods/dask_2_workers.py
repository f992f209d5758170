"""eigencut.integrations.dask on two worker processes."""

from benchmarks.methods._dask import on_workers

METHOD = on_workers(2)
