"""A batch on the machines of a Dask cluster, or in lanes of this machine."""
