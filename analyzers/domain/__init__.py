"""The abstract values: what a name may hold, what lies on the heap, and how two states become one.

The domain knows neither Python's syntax nor the order in which statements run.
"""
