"""The abstract values: what a name may hold, what is on the heap, and how two states are joined.

The domain knows neither Python's syntax nor the order in which statements run.
"""
