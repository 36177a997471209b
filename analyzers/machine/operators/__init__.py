"""Torch's operators below Python: from a row of the table to results.

It knows dtypes and memory formats, but neither how Python calls functions, nor modules or optimizers.
"""
