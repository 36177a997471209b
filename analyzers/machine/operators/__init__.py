"""Torch's operators below Python: from a row of the table to results.

This room knows dtypes and memory formats, but no Python calls, modules or optimizers.
"""
