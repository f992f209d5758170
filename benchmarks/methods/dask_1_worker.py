"""eigencut.integrations.dask on one worker process: what more workers are measured against."""

from benchmarks.methods._dask import on_workers

METHOD = on_workers(1)
