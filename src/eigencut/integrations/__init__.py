"""Partner packages: Dask and Spark. The only room that knows them.

It imports the estimator and what is below it, and a partner only when it is used.
"""
