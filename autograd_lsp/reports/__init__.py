"""Reports on many files: produced here or on a cluster, cached, and reused.

    report.py         what is said of one file
    make.py           files in, reports out
    cluster.py        the same by the workers of a dask cluster
    cache.py          the findings of earlier checks
    fingerprints.py   what tells a finding again when lines have moved
    surroundings.py   the environment of the programs, as it is configured, and its torch
    levels.py         which findings fail a check

A report carries the texts it points into, so that whoever prints it needs neither the disk nor the analyzer.
"""
